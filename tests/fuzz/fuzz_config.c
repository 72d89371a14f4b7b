/* tests/fuzz/fuzz_config.c: any bytes as the config.json of a model folder whose other files are good.
 * For libFuzzer: tests/fuzz/run.sh.
 * Not a unit test: it asserts only what holds for every input. */
#define _GNU_SOURCE
#include "fuzz/fuzz.h"

#include "rapt/decode.h"

static char folder[] = "/tmp/rapt-fuzz-XXXXXX";
static char config_path[64];

static void remove_folder(void)
{
    static const char *const files[] = {"config.json", "model.safetensors", "source.tokenizer.json",
                                        "target.tokenizer.json"};
    char path[96];
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        unlink(path);
    }
    rmdir(folder);
}

static rapt_tokenizer *vocabulary(const char *line)
{
    return rapt_tokenizer_train_words(&line, 1, &(rapt_words_options){.lowercase = true}, NULL);
}

/* A model of few parameters; as a fuzzed configuration can be a good one, translating must be quick too. */
static void make_folder(void)
{
    char path[96];
    rapt_error err = {0};
    rapt_model m = {.source = vocabulary("a b c"), .target = vocabulary("d e"), .max_len = 6};
    rapt_transformer_config c = {.source_vocab = 7, .target_vocab = 6, .layers = 1, .max_positions = 8,
                                 .embedding_std = 1, .block = {.d_model = 4, .heads = 2, .ffn = 6, .bias = true}};
    m.net = rapt_transformer_new(&c, 1, &err);
    require(m.net && mkdtemp(folder));
    atexit(remove_folder);
    snprintf(path, sizeof path, "%s/model.safetensors", folder);
    snprintf(config_path, sizeof config_path, "%s/config.json", folder);
    require(rapt_model_save_config(&m, folder, &err) == RAPT_OK);
    require(rapt_params_save(m.net->params, path, &err) == RAPT_OK);
    rapt_transformer_free(m.net);
    rapt_tokenizer_free(m.source);
    rapt_tokenizer_free(m.target);
}

static void translate(rapt_model *m)
{
    static const char *const lines[] = {"a b", "", "c x c x c x c x c x"};
    rapt_error err = {0};
    rapt_translation out[3];
    rapt_translate_options o = {.beam = 2, .threads = 1};
    rapt_code code = rapt_translate(m, lines, 3, &o, out, &err);
    require_outcome(code == RAPT_OK, &err);
    if (!code)
        rapt_translations_free(out, 3);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
    rapt_error err = {0};
    if (!*config_path)
        make_folder();
    FILE *file = fopen(config_path, "wb");
    require(file && fwrite(input, 1, size, file) == size && fclose(file) == 0);
    rapt_model *m = rapt_model_load(folder, &err);
    require_outcome(m != NULL, &err);
    if (m)
        translate(m);
    rapt_model_free(m);
    return 0;
}
