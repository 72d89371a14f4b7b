/* tests/io/test_adapter.c: folders of low-rank adapters that PEFT wrote: what a model computes with them, against what PEFT
 * computes; and what is refused. For src/io/adapter. tests/golden/adapters is made by tools/make_hub_adapters.py.
 * labels: raced-late */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "distance.h"
#include "folder.h"
#include "io/model_core.h"
#include "io/safetensors.h"
#include "loading.h"
#include "options.h"
#include "rapt/generate.h"
#include "rapt/tape.h"

#define GOLDEN RAPT_SOURCE_DIR "/tests/golden/"

/* An adapter and its model. */
static const char *const NAMES[][2] = {{"qwen2", "qwen2"}, {"gpt2", "gpt2"}, {"gpt_neox", "gpt_neox"}, {"phi3", "phi3"},
                                       {"patterns", "qwen2"}, {"dora", "qwen2"}, {"dora_joint", "gpt2"}, {"saved", "llama3"},
                                       {"tied", "qwen2"}};
enum { COUNT = sizeof NAMES / sizeof *NAMES, PLAIN = 4, PROMPT = 8, GREEDY = 16 };

typedef struct adapter_paths {
    char base[1024], adapter[1024], expected[1024];
} adapter_paths;

static adapter_paths paths_of(const char *const names[2])
{
    adapter_paths p;
    const char *name = names[0];
    snprintf(p.base, sizeof p.base, GOLDEN "hub/%s", names[1]);
    snprintf(p.adapter, sizeof p.adapter, GOLDEN "adapters/%s", name);
    snprintf(p.expected, sizeof p.expected, GOLDEN "adapters/%s/expected.safetensors", name);
    return p;
}

static safetensors *expected_of(const adapter_paths *p)
{
    safetensors *expected;
    assert_int_equal(safetensors_open(p->expected, &expected, NULL), RAPT_OK);
    return expected;
}

static rapt_model *adapted(const adapter_paths *p, bool inference)
{
    rapt_error err = {0};
    rapt_load_options o = rapt_load_options_default();
    o.adapter = p->adapter;
    o.inference = inference;
    rapt_model *m = rapt_model_load(p->base, &o, &err);
    assert_string_equal(err.message, "");
    assert_non_null(m);
    return m;
}

/* The distance of rapt's logits from PyTorch's in float64 is at most twice the distance of PyTorch's in float32. */
static void logits_are_those_of_peft(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        const adapter_paths p = paths_of(NAMES[i]);
        safetensors *expected = expected_of(&p);
        rapt_model *m = adapted(&p, false);
        const safetensors_entry *ids = safetensors_find(expected, "ids"), *logits = safetensors_find(expected, "logits");
        const double error = *(const double *)safetensors_find(expected, "error")->data;
        rapt_tape *t = rapt_tape_new(&(rapt_compute){.threads = 2}, NULL);
        rapt_tape_begin(t, (rapt_pass){0});
        const rapt_tensor *y = rapt_lm_forward(t, m->language.net,
                                               (rapt_tokens){.ids = ids->data, .batch = 1, .time = ids->shape[0]});
        const size_t count = logits->shape[0] * logits->shape[1];
        const rapt_real *last = y->data + rapt_tensor_size(y) - count;
        double worst = 0;
        for (size_t k = 0; k < count; k++)
            worst = fmax(worst, fabs((double)last[k] - ((const double *)logits->data)[k]));
        distance_show(NAMES[i][0], "logits with an adapter", worst, error);
        if (!(worst <= 2 * error))
            fail_msg("%s: %g from the logits in float64, PyTorch's in float32 %g", NAMES[i][0], worst, error);
        rapt_tape_free(t);
        rapt_model_free(m);
        safetensors_close(expected);
    }
}

/* Matrices that are packed from the files have the adapter, too. */
static void generated_tokens_are_those_of_peft(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        rapt_error err = {0};
        const adapter_paths p = paths_of(NAMES[i]);
        safetensors *expected = expected_of(&p);
        const int32_t *greedy = safetensors_find(expected, "greedy")->data;
        rapt_model *m = adapted(&p, true);
        m->language.end_of_text_count = 0;
        const rapt_generate_options o = {GENERATE_DEFAULTS, .max_tokens = GREEDY, .sample.greedy = true};
        rapt_generator *g = rapt_generator_new(m, &o, &err);
        assert_non_null(g);
        const int32_t *ids = safetensors_find(expected, "ids")->data;
        rapt_generated result;
        assert_int_equal(rapt_generator_begin_tokens(g, ids, PROMPT, &err), RAPT_OK);
        assert_int_equal(rapt_generator_run(g, 0, &result, &err), RAPT_OK);
        assert_memory_equal(result.tokens, greedy, GREEDY * sizeof *greedy);
        rapt_generated_free(&result);
        rapt_generator_free(g);
        rapt_model_free(m);
        safetensors_close(expected);
    }
}

/* ---- what is merged ------------------------------------------------------------------------------------------------ */

static safetensors *tensors_of(const char *folder, const char *adapter, const char *name)
{
    rapt_error err = {0};
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder_path, name);
    rapt_model *m = load_adapted(folder, adapter, &err);
    assert_string_equal(err.message, "");
    const rapt_export_options o = {.size = sizeof o, .to = RAPT_EXPORT_HF};
    if (rapt_model_export(m, path, &o, &err) != RAPT_OK)
        fail_msg("%s: %s", folder, err.message);
    rapt_model_free(m);
    safetensors *file;
    strcat(path, "/model.safetensors");
    assert_int_equal(safetensors_open(path, &file, &err), RAPT_OK);
    return file;
}

/* One of the two matrices of "MODULE.weight"; NULL: the tensor has none. */
static const safetensors_entry *matrix_of(const safetensors *adapter, const safetensors_entry *w, const char *which)
{
    char name[512];
    const char *end = strrchr(w->name, '.');
    snprintf(name, sizeof name, "base_model.model.%.*s.lora_%s.weight", (int)(end - w->name), w->name, which);
    return w->ndim == 2 ? safetensors_find(adapter, name) : NULL;
}

/* W + scale B A where W is [out, in], and its transpose where it is GPT-2's [in, out]. */
static void check_merged(const safetensors_entry *w, const safetensors_entry *merged, const safetensors_entry *a,
                         const safetensors_entry *b, double scale, bool transposed)
{
    const float *was = w->data, *is = merged->data, *down = a ? a->data : NULL, *up = b ? b->data : NULL;
    const size_t columns = w->ndim == 2 ? w->shape[1] : 1, rank = a ? a->shape[0] : 0, in = a ? a->shape[1] : 0;
    assert_int_equal(merged->bytes, w->bytes);
    for (size_t i = 0; i < w->bytes / 4; i++) {
        const size_t o = transposed ? i % columns : i / columns, k = transposed ? i / columns : i % columns;
        double sum = 0;
        for (size_t r = 0; r < rank; r++)
            sum += (double)up[o * rank + r] * (double)down[r * in + k];
        const double wanted = (double)was[i] + scale * sum;
        if (!(fabs((double)is[i] - wanted) <= 1e-7 * fabs(wanted)))
            fail_msg("%s: element %zu is %g, not %g", w->name, i, (double)is[i], wanted);
    }
}

static void merged_folders_are_sums(void **state)
{
    static const double scales[PLAIN] = {5.0 / 3, 6.0 / 2, 2.0 / 2, 3.0 / 4}; /* lora_alpha / r of tools/make_hub_adapters.py */
    (void)state;
    for (size_t i = 0; i < PLAIN; i++) {
        const adapter_paths p = paths_of(NAMES[i]);
        char path[2048], was[64], is[64];
        snprintf(path, sizeof path, "%s/adapter_model.safetensors", p.adapter);
        snprintf(was, sizeof was, "%s.was", NAMES[i][0]);
        snprintf(is, sizeof is, "%s.is", NAMES[i][0]);
        safetensors *adapter, *before = tensors_of(p.base, NULL, was), *after = tensors_of(p.base, p.adapter, is);
        assert_int_equal(safetensors_open(path, &adapter, NULL), RAPT_OK);
        assert_int_equal(safetensors_count(before), safetensors_count(after));
        size_t found = 0;
        for (size_t k = 0; k < safetensors_count(before); k++) {
            const safetensors_entry *w = safetensors_at(before, k), *a = matrix_of(adapter, w, "A");
            found += a != NULL;
            check_merged(w, safetensors_find(after, w->name), a, matrix_of(adapter, w, "B"), scales[i],
                         strcmp(NAMES[i][0], "gpt2") == 0);
        }
        assert_int_equal(2 * found, safetensors_count(adapter));
        safetensors_close(before);
        safetensors_close(after);
        safetensors_close(adapter);
    }
}

/* ---- what is refused ---------------------------------------------------------------------------------------------- */

/* The test's own folder: the adapter of qwen2 with "key" of adapter_config.json set to a value, or without it where that is
 * "". */
static void set_key(const char *key, const char *value)
{
    json_t *config = json_load_file(GOLDEN "adapters/qwen2/adapter_config.json", 0, NULL);
    if (*value)
        json_object_set_new(config, key, json_loads(value, JSON_DECODE_ANY, NULL));
    else
        json_object_del(config, key);
    assert_int_equal(json_dump_file(config, folder_in("adapter_config.json"), 0), 0);
    json_decref(config);
}

static const char *folder_with(const char *key, const char *value)
{
    set_key(key, value);
    unlink(folder_in("adapter_model.safetensors"));
    assert_int_equal(symlink(GOLDEN "adapters/qwen2/adapter_model.safetensors", folder_in("adapter_model.safetensors")), 0);
    return folder_path;
}

static void is_refused(const char *base, const char *adapter, rapt_code code, const char *says)
{
    rapt_error err = {0};
    assert_null(load_adapted(base, adapter, &err));
    if (err.code != code || !strstr(err.message, says))
        fail_msg("\"%s\" (%d) does not say \"%s\" (%d)", err.message, (int)err.code, says, (int)code);
}

static void keys_that_change_the_result_are_refused(void **state)
{
    static const struct {
        const char *key, *value;
        rapt_code code;
    } cases[] = {{"peft_type", "\"IA3\"", RAPT_ERR_VALUE}, {"peft_type", "", RAPT_ERR_VALUE},
                 {"bias", "\"all\"", RAPT_ERR_VALUE}, {"use_dora", "1", RAPT_ERR_FORMAT},
                 {"use_rslora", "2", RAPT_ERR_FORMAT}, {"task_type", "\"SEQ_CLS\"", RAPT_ERR_VALUE},
                 {"modules_to_save", "\"lm_head\"", RAPT_ERR_FORMAT}, {"modules_to_save", "[1]", RAPT_ERR_FORMAT},
                 {"rank_pattern", "{\"q_proj\": 0}", RAPT_ERR_VALUE}, {"rank_pattern", "{\"q_proj\": 2.5}", RAPT_ERR_VALUE},
                 {"rank_pattern", "{\"q_proj\": 65537}", RAPT_ERR_VALUE}, {"rank_pattern", "[4]", RAPT_ERR_FORMAT},
                 {"rank_pattern", "{\"(?:q)_proj\": 4}", RAPT_ERR_VALUE}, {"rank_pattern", "{\"\": 4}", RAPT_ERR_VALUE},
                 {"alpha_pattern", "{\"q_proj\": \"4\"}", RAPT_ERR_VALUE}, {"layer_replication", "[[0, 1]]", RAPT_ERR_VALUE},
                 {"init_lora_weights", "\"pissa\"", RAPT_ERR_VALUE}, {"of_tomorrow", "1", RAPT_ERR_VALUE},
                 {"lora_bias", "true", RAPT_ERR_VALUE}, {"r", "0", RAPT_ERR_FORMAT}, {"r", "2.5", RAPT_ERR_FORMAT},
                 {"r", "", RAPT_ERR_FORMAT}, {"lora_alpha", "\"8\"", RAPT_ERR_FORMAT}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char says[64];
        snprintf(says, sizeof says, "adapter_config.json: \"%s\"", cases[i].key);
        is_refused(GOLDEN "hub/qwen2", folder_with(cases[i].key, cases[i].value), cases[i].code, says);
    }
}

/* The adapter of qwen2 has no magnitudes. */
static void magnitudes_must_be_there(void **state)
{
    (void)state;
    is_refused(GOLDEN "hub/qwen2", folder_with("use_dora", "true"), RAPT_ERR_FORMAT, "lora_magnitude_vector\" is missing");
}

static bool same_parameters(const rapt_model *one, const rapt_model *other)
{
    bool same = rapt_params_count(one->params) == rapt_params_count(other->params);
    for (size_t i = 0; same && i < rapt_params_count(one->params); i++) {
        const rapt_tensor *a = &rapt_params_at(one->params, i)->value, *b = &rapt_params_at(other->params, i)->value;
        same = memcmp(a->data, b->data, rapt_tensor_size(a) * sizeof *a->data) == 0;
    }
    return same;
}

/* adapter_model.bin, which PEFT wrote of the same adapter, is read if there is no adapter_model.safetensors. */
static void torch_s_file_gives_the_same_model(void **state)
{
    const char *config = GOLDEN "adapters/patterns/adapter_config.json", *torch = GOLDEN "adapters/patterns/adapter_model.bin";
    (void)state;
    unlink(folder_in("adapter_model.safetensors"));
    unlink(folder_in("adapter_config.json"));
    assert_int_equal(symlink(config, folder_in("adapter_config.json")), 0);
    is_refused(GOLDEN "hub/qwen2", folder_path, RAPT_ERR_NOT_FOUND, "adapter_model.safetensors");
    assert_int_equal(symlink(torch, folder_in("adapter_model.bin")), 0);
    rapt_model *one = load_adapted(GOLDEN "hub/qwen2", GOLDEN "adapters/patterns", NULL);
    rapt_model *other = load_adapted(GOLDEN "hub/qwen2", folder_path, NULL);
    assert_true(one && other && same_parameters(one, other));
    rapt_model_free(one);
    rapt_model_free(other);
    unlink(folder_in("adapter_model.bin"));
    unlink(folder_in("adapter_config.json"));
}

/* Tensors of the rank "r" where a pattern gives the module another one. */
static void a_rank_must_be_the_pattern_s(void **state)
{
    (void)state;
    is_refused(GOLDEN "hub/qwen2", folder_with("rank_pattern", "{\"q_proj\": 4}"), RAPT_ERR_FORMAT, "with \"r\" 4 it is");
}

static void keys_without_effect_are_not(void **state)
{
    rapt_error err = {0};
    (void)state;
    rapt_model *m = load_adapted(GOLDEN "hub/qwen2", folder_with("of_tomorrow", "null"), &err);
    assert_string_equal(err.message, "");
    rapt_model_free(m);
}

/* One tensor of the file takes the place of all, under another name, of another shape, or with other values. */
static const char *folder_with_tensor(const char *name, const char *other, size_t rows, size_t columns, float value)
{
    enum { MOST = 4096 };
    static float a[MOST], b[MOST];
    for (size_t i = 0; i < MOST; i++)
        a[i] = b[i] = value;
    folder_with("revision", "null");
    unlink(folder_in("adapter_model.safetensors"));
    safetensors_entry entries[] = {
        {.name = name, .dtype = SAFETENSORS_F32, .ndim = 2, .shape = {rows, columns}, .data = a, .bytes = 4 * rows * columns},
        {.name = other, .dtype = SAFETENSORS_F32, .ndim = 2, .shape = {30, 3}, .data = b, .bytes = 4 * 30 * 3}};
    const char *const metadata[] = {"format", "pt", NULL};
    assert_int_equal(safetensors_write(folder_in("adapter_model.safetensors"), entries, *other ? 2 : 1, metadata, NULL), RAPT_OK);
    return folder_path;
}

#define HEAD "base_model.model.transformer."
#define BLOCK HEAD "h.0."
#define FC BLOCK "mlp.c_fc."
#define MODULE "base_model.model.model.layers.0.self_attn.q_proj."

static void tensors_that_do_not_fit_are_refused(void **state)
{
    const char *base = GOLDEN "hub/qwen2";
    (void)state;
    is_refused(base, folder_with_tensor(MODULE "lora_A.weight", "", 3, 30, 1), RAPT_ERR_FORMAT, "lora_B.weight\" is missing");
    is_refused(base, folder_with_tensor(MODULE "lora_A.weight", MODULE "lora_B.weight", 4, 30, 1), RAPT_ERR_FORMAT,
               "has the shape [4, 30]");
    is_refused(base, folder_with_tensor(MODULE "lora_A.weight", MODULE "lora_B.weight", 3, 29, 1), RAPT_ERR_FORMAT,
               "is for a matrix [30, 29]");
    is_refused(base, folder_with_tensor(MODULE "lora_A.weight", MODULE "lora_B.weight", 3, 30, NAN), RAPT_ERR_NOT_FINITE,
               "lora_A.weight");
    is_refused(base, folder_with_tensor(MODULE "lora_magnitude_vector", "", 3, 30, 1), RAPT_ERR_FORMAT,
               "is no matrix of an adapter");
    is_refused(base, folder_with_tensor("base_model.model.lm_head.weight", "", 3, 30, 1), RAPT_ERR_FORMAT,
               "is no matrix of an adapter");
    folder_with_tensor(MODULE "lora_A.weight", MODULE "weight", 3, 30, 1);
    set_key("modules_to_save", "[\"q_proj\"]");
    is_refused(base, folder_path, RAPT_ERR_FORMAT, "self_attn.q_proj\" is saved whole, and has an adapter, too");
    is_refused(base, folder_with_tensor("base_model.model.other.lora_A.weight", "base_model.model.other.lora_B.weight", 3, 30, 1),
               RAPT_ERR_FORMAT, "no linear layer \"other\"");
    is_refused(GOLDEN "hub/gpt2", GOLDEN "adapters/qwen2", RAPT_ERR_FORMAT, "the model has no linear layer");
    is_refused(base, GOLDEN "hub/qwen2", RAPT_ERR_NOT_FOUND, "adapter_config.json");
}

/* Each module is compared with each pattern, and looked for among the others. */
static void modules_are_bounded(void **state)
{
    enum { PATTERNS = 512, MODULES = 1100, NAME = 700 };
    const char *base = GOLDEN "hub/qwen2";
    static char patterns[PATTERNS * 16], names[MODULES][64], name[NAME];
    static safetensors_entry entries[MODULES];
    static float one[3];
    const char *const metadata[] = {"format", "pt", NULL};
    size_t end = 0;
    (void)state;
    snprintf(name, sizeof name, "base_model.model.%0600d.lora_A.weight", 1);
    is_refused(base, folder_with_tensor(name, "", 3, 30, 1), RAPT_ERR_FORMAT, "more than 512 bytes in the name of a module");
    folder_with_tensor("base_model.model.\xC3\xA9.lora_A.weight", "", 3, 30, 1);
    set_key("rank_pattern", "{\"p\": 3}");
    is_refused(base, folder_path, RAPT_ERR_VALUE, "\"rank_pattern\" is for modules whose names are ASCII");
    for (size_t i = 0; i < PATTERNS; i++)
        end += (size_t)snprintf(patterns + end, sizeof patterns - end, "%s\"p%zu\": 3", i ? ", " : "{", i);
    snprintf(patterns + end, sizeof patterns - end, "}");
    folder_with("rank_pattern", patterns);
    unlink(folder_in("adapter_model.safetensors"));
    for (size_t i = 0; i < MODULES; i++) {
        snprintf(names[i], sizeof names[i], "base_model.model.%zu.lora_A.weight", i);
        entries[i] = (safetensors_entry){.name = names[i], .dtype = SAFETENSORS_F32, .ndim = 2, .shape = {3, 1}, .data = one,
                                         .bytes = sizeof one};
    }
    assert_int_equal(safetensors_write(folder_in("adapter_model.safetensors"), entries, MODULES, metadata, NULL), RAPT_OK);
    is_refused(base, folder_path, RAPT_ERR_FORMAT, "more than 1022 modules with adapters");
}

/* An adapter of a module of GPT-2 with magnitudes, or with a matrix that is saved whole. */
static const char *folder_of_gpt2(const char *key, const char *value, safetensors_entry third)
{
    enum { MOST = 1 << 14 };
    static float ones[MOST];
    for (size_t i = 0; i < MOST; i++)
        ones[i] = 1;
    folder_with(key, value);
    unlink(folder_in("adapter_model.safetensors"));
    safetensors_entry entries[] = {
        {.name = FC "lora_A.weight", .dtype = SAFETENSORS_F32, .ndim = 2, .shape = {3, 48}, .data = ones, .bytes = 4 * 3 * 48},
        {.name = FC "lora_B.weight", .dtype = SAFETENSORS_F32, .ndim = 2, .shape = {80, 3}, .data = ones, .bytes = 4 * 80 * 3},
        third};
    entries[2].dtype = SAFETENSORS_F32;
    entries[2].data = ones;
    entries[2].bytes = 4 * third.shape[0] * (third.ndim == 2 ? third.shape[1] : 1);
    const char *const metadata[] = {"format", "pt", NULL};
    assert_int_equal(safetensors_write(folder_in("adapter_model.safetensors"), entries, 3, metadata, NULL), RAPT_OK);
    return folder_path;
}

#define THIRD(tensor, dims, ...) (safetensors_entry){.name = (tensor), .ndim = (dims), .shape = {__VA_ARGS__}}

static void other_magnitudes_and_whole_matrices_are_refused(void **state)
{
    const char *base = GOLDEN "hub/gpt2", *saved = "[\"wte\", \"attn.c_proj\"]";
    (void)state;
    is_refused(base, folder_of_gpt2("use_dora", "true", THIRD(FC "lora_magnitude_vector", 1, 79)),
               RAPT_ERR_FORMAT, "mlp.c_fc\" has 79 magnitudes for 80 rows");
    is_refused(base, folder_of_gpt2("use_dora", "true", THIRD(FC "lora_magnitude_vector", 2, 80, 1)),
               RAPT_ERR_FORMAT, "has the shape [80, 1]");
    is_refused(base, folder_of_gpt2("modules_to_save", saved, THIRD(BLOCK "attn.c_proj.weight", 2, 48, 48)),
               RAPT_ERR_VALUE, "attn.c_proj\" whole; of matrices that are [in, out] in the files rapt reads none whole");
    is_refused(base, folder_of_gpt2("modules_to_save", saved, THIRD(HEAD "wte.weight", 2, 259, 48)),
               RAPT_ERR_VALUE, "the adapter saves \"transformer.wte\" whole (modules_to_save)");
    is_refused(base, folder_of_gpt2("modules_to_save", saved, THIRD(HEAD "wte.weight", 2, 258, 48)),
               RAPT_ERR_FORMAT, "is for a matrix [258, 48]");
}

/* Loads the adapter of the test's own folder: a whole model, or a message of one line. */
static bool is_loaded(void)
{
    rapt_error err = {0};
    rapt_model *m = load_adapted(GOLDEN "hub/qwen2", folder_path, &err);
    assert_true(m ? err.code == RAPT_OK : err.code != RAPT_OK && *err.message && !strchr(err.message, '\n'));
    rapt_model_free(m);
    return m != NULL;
}

static void put_file(const char *name, const char *text, size_t size)
{
    FILE *f = fopen(folder_in(name), "wb");
    assert_int_equal(fwrite(text, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

/* Without its end, or with one byte changed, a file is refused or gives a whole model. */
static void damaged_configurations_are_refused_or_read(void **state)
{
    (void)state;
    json_t *config = json_load_file(GOLDEN "adapters/qwen2/adapter_config.json", 0, NULL);
    char *text = json_dumps(config, JSON_COMPACT);
    const size_t size = strlen(text);
    folder_with("revision", "null");
    for (size_t i = 0; i < 2 * size; i += 7) {
        const char kept = text[i % size];
        text[i % size] = i < size ? kept : (char)(kept ^ 2);
        put_file("adapter_config.json", text, i < size ? i : size);
        text[i % size] = kept;
        assert_true(!is_loaded() || i >= size);
    }
    free(text);
    json_decref(config);
}

/* The file of tensors without its end, and with a byte of its header changed: a name, a shape, a type, an offset. */
static void damaged_tensors_are_refused_or_read(void **state)
{
    enum { MOST = 1 << 16 };
    static char bytes[MOST];
    uint64_t header;
    (void)state;
    FILE *f = fopen(GOLDEN "adapters/qwen2/adapter_model.safetensors", "rb");
    const size_t size = fread(bytes, 1, MOST, f);
    fclose(f);
    memcpy(&header, bytes, sizeof header);
    assert_true(size < MOST && 8 + header < size);
    folder_with("revision", "null");
    unlink(folder_in("adapter_model.safetensors")); /* a link to the golden file */
    for (size_t i = 0; i < size; i += size / 23) {
        put_file("adapter_model.safetensors", bytes, i);
        assert_false(is_loaded());
    }
    for (size_t i = 0; i < 8 + header; i += 13) {
        bytes[i] ^= 2;
        put_file("adapter_model.safetensors", bytes, size);
        bytes[i] ^= 2;
        is_loaded();
    }
    put_file("adapter_model.safetensors", bytes, size);
    assert_true(is_loaded());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logits_are_those_of_peft), cmocka_unit_test(generated_tokens_are_those_of_peft),
        cmocka_unit_test(merged_folders_are_sums),
        cmocka_unit_test(keys_that_change_the_result_are_refused), cmocka_unit_test(keys_without_effect_are_not),
        cmocka_unit_test(a_rank_must_be_the_pattern_s),
        cmocka_unit_test(magnitudes_must_be_there), cmocka_unit_test(torch_s_file_gives_the_same_model),
        cmocka_unit_test(tensors_that_do_not_fit_are_refused),
cmocka_unit_test(modules_are_bounded),
        cmocka_unit_test(other_magnitudes_and_whole_matrices_are_refused),
        cmocka_unit_test(damaged_configurations_are_refused_or_read),
        cmocka_unit_test(damaged_tensors_are_refused_or_read)};
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
