/* tests/fuzz/fuzz_config.c: any bytes as the config.json of two model folders whose other files are good: a translation
 * model's and a language model's.
 * For libFuzzer: tests/fuzz/run.sh.
 * Not a unit test: it asserts only what holds for every input. */
#define _GNU_SOURCE
#include "fuzz/fuzz.h"

#include "io/model_core.h"
#include "options.h"
#include "rapt/decode.h"

static struct {
    char path[32];
    rapt_task task;
} folders[] = {{"/tmp/rapt-fuzz-XXXXXX", RAPT_TASK_TRANSLATION}, {"/tmp/rapt-fuzz-XXXXXX", RAPT_TASK_LANGUAGE_MODEL}};
enum { FOLDERS = sizeof folders / sizeof *folders };

static char path[96];

static const char *in_folder(size_t i, const char *name)
{
    snprintf(path, sizeof path, "%s/%s", folders[i].path, name);
    return path;
}

static void remove_folders(void)
{
    static const char *const files[] = {"config.json", "model.safetensors", "source.tokenizer.json",
                                        "target.tokenizer.json", "tokenizer.json"};
    for (size_t i = 0; i < FOLDERS; i++) {
        for (size_t j = 0; j < sizeof files / sizeof *files; j++)
            unlink(in_folder(i, files[j]));
        rmdir(folders[i].path);
    }
}

static rapt_tokenizer *vocabulary(const char *line)
{
    return rapt_tokenizer_train_words(&line, 1, &TRAIN_WORDS(.lowercase = true), NULL);
}

/* Models of few parameters; as a fuzzed configuration can be a good one, running them must be quick too. */
static void make_translation(rapt_model *m, rapt_error *err)
{
    rapt_transformer_config c = {.source_vocab = 7, .target_vocab = 6, .layers = 1, .max_positions = 8,
                                 .embedding_std = 1, .block = {.d_model = 4, .heads = 2, .ffn = 6, .bias = true}};
    m->translation.source = vocabulary("a b c");
    m->translation.target = vocabulary("d e");
    m->translation.max_len = 6;
    m->translation.net = rapt_transformer_new(&c, 1, err);
    m->params = m->translation.net ? m->translation.net->params : NULL;
}

static void make_language_model(rapt_model *m, rapt_error *err)
{
    rapt_lm_config c = {.vocab = 5, .layers = 1, .context = 8, .positions = RAPT_POSITIONS_ROTARY,
                        .block = {.d_model = 4, .heads = 2, .kv_heads = 1, .ffn = 6, .norm_place = RAPT_NORM_PLACE_PRE,
                                  .ffn_kind = RAPT_FFN_GELU, .bias = true, .init = RAPT_WEIGHT_INIT_PYTORCH}};
    m->language.tokenizer = rapt_tokenizer_train_characters("abcdef", 6, err);
    m->language.net = rapt_lm_new(&c, 1, err);
    m->params = m->language.net ? m->language.net->params : NULL;
}

static void make_folder(size_t i)
{
    rapt_error err = {0};
    rapt_model *m = calloc(1, sizeof *m);
    require(m && mkdtemp(folders[i].path));
    m->task = folders[i].task;
    if (m->task == RAPT_TASK_TRANSLATION)
        make_translation(m, &err);
    else
        make_language_model(m, &err);
    require(m->params && rapt_model_save_config(m, folders[i].path, &err) == RAPT_OK);
    require(rapt_params_save(m->params, in_folder(i, "model.safetensors"), &err) == RAPT_OK);
    rapt_model_free(m);
}

static void make_folders(void)
{
    for (size_t i = 0; i < FOLDERS; i++)
        make_folder(i);
    atexit(remove_folders);
}

static void translate(rapt_model *m)
{
    static const char *const lines[] = {"a b", "", "c x c x c x c x c x"};
    rapt_error err = {0};
    rapt_translation out[3];
    rapt_translate_options o = {TRANSLATE_DEFAULTS, .beam = 2, .compute.threads = 1};
    rapt_code code = rapt_translate(m, lines, 3, &o, out, &err);
    require_outcome(code == RAPT_OK, &err);
    if (!code)
        rapt_translations_free(out, 3);
}

/* A model that was accepted computes. */
static void predict(const rapt_model *m)
{
    static const int32_t ids[] = {0, 1, 2};
    rapt_error err = {0};
    const rapt_lm_config *c = &m->language.net->config;
    rapt_tape *t = rapt_tape_new(&(rapt_compute){.threads = 1}, &err);
    require(t && c->vocab <= rapt_tokenizer_size(m->language.tokenizer));
    rapt_tape_begin(t, (rapt_pass){0});
    const rapt_tensor *logits = rapt_lm_forward(t, m->language.net, (rapt_tokens){ids, 1, c->context < 3 ? c->context : 3});
    require_outcome(rapt_tape_error(t)->code == RAPT_OK, rapt_tape_error(t));
    require(logits->shape[2] == c->vocab);
    rapt_tape_free(t);
}

static void load(size_t i, const uint8_t *input, size_t size)
{
    rapt_error err = {0};
    FILE *file = fopen(in_folder(i, "config.json"), "wb");
    require(file && fwrite(input, 1, size, file) == size && fclose(file) == 0);
    rapt_model *m = rapt_model_load(folders[i].path, NULL, &err);
    require_outcome(m != NULL, &err);
    if (m)
        require(m->task == folders[i].task && m->params);
    if (m && m->translation.net)
        translate(m);
    if (m && m->language.net)
        predict(m);
    rapt_model_free(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
    if (!*path)
        make_folders();
    for (size_t i = 0; i < FOLDERS; i++)
        load(i, input, size);
    return 0;
}
