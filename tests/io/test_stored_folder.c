/* tests/io/test_stored_folder.c: folders that store weights in fewer bits, of rapt's models and of Hugging Face: which tensors
 * are rounded, that exactly the rounded numbers are loaded, and that texts and translations equal a model's whose numbers were
 * rounded in memory. For src/io/stored_file.c, stored_blocks.c, export/export_rapt.c and hub/hub_save.c. What is refused is in
 * test_stored_refused.c. Half precision is rounded here by its definition, in C's own arithmetic; that blocks have the numbers of
 * the gguf package is tested in tests/tensor.
 * labels: threads */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/safetensors.h"
#include "io/stored_folder.h"
#include "options.h"
#include "rapt/decode.h"
#include "rapt/generate.h"
#include "tensor/blocks.h"

#define GOLDEN RAPT_SOURCE_DIR "/tests/golden/"

/* ---- numbers as they should be ---------------------------------------------------------------------------------- */

/* To `digits` binary digits, and no finer than 2^finest, ties to even. */
static float rounded(float x, int digits, int finest)
{
    int exponent;
    frexpf(x, &exponent);
    const int unit = exponent - digits > finest ? exponent - digits : finest;
    return ldexpf(nearbyintf(ldexpf(x, -unit)), unit);
}

static const block_format *format_of(rapt_type type)
{
    return type == RAPT_TYPE_Q8_0 ? &BLOCKS_Q8_0 : type == RAPT_TYPE_Q4_0 ? &BLOCKS_Q4_0 : NULL;
}

/* What a parameter is to be stored as: matrices of linear layers and embeddings, the latter and the output in 8 bits at least,
 * where blocks fill the rows. */
static rapt_type type_of(const rapt_param *p, rapt_type wanted)
{
    const char *name = p->value.name;
    const bool tokens = strstr(name, "embedding.weight") || strstr(name, "output.weight");
    const rapt_type type = wanted == RAPT_TYPE_Q4_0 && tokens ? RAPT_TYPE_Q8_0 : wanted;
    if (p->value.ndim != 2 || p->buffer || strstr(name, "positions") || strstr(name, "relative"))
        return RAPT_TYPE_FP32;
    return format_of(type) && p->value.shape[1] % 32 != 0 ? RAPT_TYPE_FP32 : type;
}

static void round_numbers(size_t count, const float *from, rapt_type type, float *to)
{
    const block_format *format = format_of(type);
    char *blocks = format ? malloc(count / format->elements * format->bytes) : NULL;
    if (blocks) {
        format->write(count / format->elements, from, blocks);
        format->read(count / format->elements, blocks, to);
    }
    for (size_t i = 0; i < count && !format; i++)
        to[i] = type == RAPT_TYPE_FP16 ? rounded(from[i], 11, -24) : type == RAPT_TYPE_BF16 ? rounded(from[i], 8, -133)
                                                                                               : from[i];
    free(blocks);
}

/* Compares all parameters; how many are rounded. */
static size_t check_numbers(const rapt_model *m, const rapt_model *stored, rapt_type wanted)
{
    size_t changed = 0;
    assert_int_equal(rapt_params_count(stored->params), rapt_params_count(m->params));
    for (size_t i = 0; i < rapt_params_count(m->params); i++) {
        const rapt_param *p = rapt_params_at(m->params, i), *q = rapt_params_at(stored->params, i);
        const size_t bytes = rapt_tensor_size(&p->value) * sizeof(float);
        float *want = malloc(bytes);
        assert_non_null(want);
        assert_string_equal(p->value.name, q->value.name);
        round_numbers(rapt_tensor_size(&p->value), p->value.data, type_of(p, wanted), want);
        if (memcmp(want, q->value.data, bytes) != 0)
            fail_msg("%s, type %d: not the rounded numbers", p->value.name, (int)wanted);
        changed += memcmp(want, p->value.data, bytes) != 0;
        free(want);
    }
    return changed;
}

/* Rounds the model's own numbers. */
static void round_model(const rapt_model *m, rapt_type wanted)
{
    for (size_t i = 0; i < rapt_params_count(m->params); i++) {
        rapt_param *p = rapt_params_at(m->params, i);
        round_numbers(rapt_tensor_size(&p->value), p->value.data, type_of(p, wanted), p->value.data);
    }
}

/* ---- what lies in the file ---------------------------------------------------------------------------------------- */

static safetensors *open_stored(void)
{
    rapt_error err = {0};
    safetensors *file;
    must(safetensors_open(folder_in("s/model.safetensors"), &file, &err), &err);
    return file;
}

/* A parameter of one of rapt's models, under its own name. */
static void check_entry(const safetensors *file, const rapt_param *p, rapt_type type)
{
    static const safetensors_dtype dtypes[] = {[RAPT_TYPE_FP32] = SAFETENSORS_F32, [RAPT_TYPE_BF16] = SAFETENSORS_BF16,
                                               [RAPT_TYPE_Q8_0] = SAFETENSORS_U8, [RAPT_TYPE_Q4_0] = SAFETENSORS_U8,
                                               [RAPT_TYPE_FP16] = SAFETENSORS_F16};
    const safetensors_entry *e = safetensors_find(file, p->value.name);
    const block_format *format = format_of(type);
    char key[300];
    assert_non_null(e);
    assert_int_equal(e->dtype, dtypes[type]);
    assert_int_equal(e->ndim, p->value.ndim);
    assert_int_equal(e->shape[0], p->value.shape[0]);
    if (e->ndim == 2)
        assert_int_equal(e->shape[1], format ? p->value.shape[1] / 32 * format->bytes : p->value.shape[1]);
    snprintf(key, sizeof key, "blocks.%s", p->value.name);
    const char *said = safetensors_metadata(file, key);
    assert_true(format ? said && strcmp(said, format->name) == 0 : !said);
}

static void check_file(const rapt_model *m, rapt_type wanted)
{
    safetensors *file = open_stored();
    for (size_t i = 0; i < rapt_params_count(m->params); i++)
        if (!rapt_params_at(m->params, i)->transient)
            check_entry(file, rapt_params_at(m->params, i), type_of(rapt_params_at(m->params, i), wanted));
    safetensors_close(file);
}

/* ---- round trips -------------------------------------------------------------------------------------------------- */

/* In the first `types` of STORED_TYPES. */
static void check_round_trip(const rapt_model *m, size_t types, size_t at_least)
{
    for (size_t i = 0; i < types; i++) {
        stored_write(m, "s", STORED_TYPES[i]);
        if (!m->family)
            check_file(m, STORED_TYPES[i]);
        for (int inference = 0; inference < 2; inference++) {
            rapt_model *stored = stored_load(folder_in("s"), inference);
            const size_t changed = check_numbers(m, stored, STORED_TYPES[i]);
            if (changed < at_least)
                fail_msg("type %d: %zu parameters are rounded", (int)STORED_TYPES[i], changed);
            rapt_model_free(stored);
        }
    }
}

static void models_of_rapt_are_rounded(void **state)
{
    (void)state;
    rapt_model *models[] = {stored_lm(STORED_LLAMA), stored_lm(STORED_GPT2), stored_translator()};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        check_round_trip(models[i], STORED_TYPE_COUNT, 9);
        rapt_model_free(models[i]);
    }
}

/* Folders of transformers' classes whose rows blocks fill: matrices of their own, and queries, keys and values that are one. */
static void hugging_face_folders_are_rounded(void **state)
{
    (void)state;
    rapt_model *models[] = {stored_hub(stored_lm(STORED_LLAMA)), stored_hub(stored_lm(STORED_NEOX)),
                            stored_hub(stored_translator())};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        assert_non_null(models[i]->family);
        check_round_trip(models[i], STORED_TYPE_COUNT, 9);
        rapt_model_free(models[i]);
    }
}

/* Those that transformers wrote, of F16 or BF16 already: rounding to the same type changes nothing. Their widths are no
 * multiples of 32, so that they have no blocks. */
static void golden_folders_are_rounded(void **state)
{
    static const char *const names[] = {"hub/llama", "hub/phi3", "hub_translation/marian", "hub_translation/t5",
                                        "hub_translation/umt5"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[1024];
        snprintf(path, sizeof path, GOLDEN "%s", names[i]);
        rapt_model *m = stored_load(path, false);
        check_round_trip(m, 2, 0);
        rapt_model_free(m);
    }
}

/* A folder of blocks is a model like others: in fp32 it has the numbers of the blocks. */
static void stored_folders_are_stored_again(void **state)
{
    (void)state;
    rapt_model *m = stored_lm(STORED_LLAMA);
    stored_write(m, "s", RAPT_TYPE_Q8_0);
    rapt_model *stored = stored_load(folder_in("s"), false);
    stored_write(stored, "again", RAPT_TYPE_FP32);
    rapt_model *again = stored_load(folder_in("again"), false);
    check_numbers(m, again, RAPT_TYPE_Q8_0);
    rapt_model_free(again);
    rapt_model_free(stored);
    rapt_model_free(m);
}

/* ---- texts and translations --------------------------------------------------------------------------------------- */

static rapt_generated generate(const rapt_model *m, int threads)
{
    rapt_error err = {0};
    rapt_generated result;
    const rapt_generate_options o = {GENERATE_DEFAULTS, .sample = {SAMPLE_DEFAULTS, .temperature = 1}, .max_tokens = 30,
                                     .compute = {.weights = "fp32", .threads = threads}};
    rapt_generator *g = rapt_generator_new(m, &o, &err);
    must(err.code, &err);
    must(rapt_generator_begin(g, "ABC", 3, &err), &err);
    must(rapt_generator_run(g, 0, &result, &err), &err);
    rapt_generator_free(g);
    return result;
}

static void check_texts(rapt_model *m, rapt_type type)
{
    stored_write(m, "s", type);
    rapt_model *stored = stored_load(folder_in("s"), true);
    round_model(m, type);
    rapt_generated want = generate(m, 1);
    for (int threads = 1; threads <= 3; threads += 2) {
        rapt_generated got = generate(stored, threads);
        assert_int_equal(got.token_count, want.token_count);
        assert_memory_equal(got.tokens, want.tokens, want.token_count * sizeof *want.tokens);
        assert_memory_equal(got.log_probs, want.log_probs, want.token_count * sizeof *want.log_probs);
        rapt_generated_free(&got);
    }
    assert_true(want.token_count > 3);
    rapt_generated_free(&want);
    rapt_model_free(stored);
    rapt_model_free(m);
}

static void texts_are_those_of_rounded_numbers(void **state)
{
    (void)state;
    for (size_t i = 0; i < STORED_TYPE_COUNT; i++) {
        check_texts(stored_lm(STORED_LLAMA), STORED_TYPES[i]);
        check_texts(stored_lm(STORED_GPT2), STORED_TYPES[i]);
        check_texts(stored_hub(stored_lm(STORED_LLAMA)), STORED_TYPES[i]);
        check_texts(stored_hub(stored_lm(STORED_NEOX)), STORED_TYPES[i]);
    }
}

static rapt_translation translate(const rapt_model *m, int threads)
{
    static const char *const line = "a b c b a";
    rapt_error err = {0};
    rapt_translation result;
    const rapt_translate_options o = {TRANSLATE_DEFAULTS, .beam = 3, .compute.weights = "fp32", .compute.threads = threads,
                                      .tokens = true};
    must(rapt_translate(m, &line, 1, &o, &result, &err), &err);
    return result;
}

static void check_translations(rapt_model *m, rapt_type type)
{
    stored_write(m, "s", type);
    rapt_model *stored = stored_load(folder_in("s"), true);
    round_model(m, type);
    rapt_translation want = translate(m, 1);
    for (int threads = 1; threads <= 3; threads += 2) {
        rapt_translation got = translate(stored, threads);
        const rapt_hypothesis *a = &got.hypotheses[0], *b = &want.hypotheses[0];
        assert_int_equal(a->token_count, b->token_count);
        assert_memory_equal(a->tokens, b->tokens, b->token_count * sizeof *b->tokens);
        assert_memory_equal(&a->log_prob, &b->log_prob, sizeof a->log_prob);
        rapt_translations_free(&got, 1);
    }
    rapt_translations_free(&want, 1);
    rapt_model_free(stored);
    rapt_model_free(m);
}

static void translations_are_those_of_rounded_numbers(void **state)
{
    (void)state;
    for (size_t i = 0; i < STORED_TYPE_COUNT; i++) {
        check_translations(stored_translator(), STORED_TYPES[i]);
        check_translations(stored_hub(stored_translator()), STORED_TYPES[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(models_of_rapt_are_rounded),
                                       cmocka_unit_test(hugging_face_folders_are_rounded),
                                       cmocka_unit_test(golden_folders_are_rounded),
                                       cmocka_unit_test(stored_folders_are_stored_again),
                                       cmocka_unit_test(texts_are_those_of_rounded_numbers),
                                       cmocka_unit_test(translations_are_those_of_rounded_numbers)};
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
