/* tests/io/test_stored_refused.c: folders whose stored weights are wrong: metadata that no tensor fits, shapes, numbers that are
 * not finite, files that are cut; and what cannot be stored in fewer bits, or be done with such a folder. The message names the
 * file and the tensor. For src/io/stored_blocks.c, params_file.c, weights and hub/hub_save.c. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "io/safetensors.h"
#include "io/stored_folder.h"
#include "loading.h"
#include "options.h"

enum { MOST = 128 }; /* tensors of a model here */

/* ---- files with one thing changed --------------------------------------------------------------------------------- */

typedef struct changed {
    const char *tensor;           /* which is changed, */
    const char *blocks;           /* the name of its blocks in the metadata; NULL: none */
    safetensors_dtype dtype;
    int ndim;
    size_t shape[3];
    size_t scale_at;              /* a byte that becomes 0x7c, the exponent of a scale that is infinite; 0: none */
} changed;

static size_t changed_bytes(const changed *c)
{
    size_t bytes = safetensors_dtype_bytes(c->dtype);
    for (int i = 0; i < c->ndim; i++)
        bytes *= c->shape[i];
    return bytes;
}

/* "blocks.NAME" of a tensor in the metadata, or NULL. */
static const char *blocks_of(const safetensors *file, const char *name, char key[300])
{
    snprintf(key, 300, "blocks.%s", name);
    return safetensors_metadata(file, key);
}

/* Writes s/model.safetensors anew, without a copy of config.json, which would bind the numbers. */
static void write_changed(const changed *c)
{
    static char keys[MOST][300], values[MOST][16], data[1 << 16];
    const char *metadata[2 * MOST + 1] = {NULL};
    safetensors_entry entries[MOST];
    safetensors *file;
    rapt_error err = {0};
    size_t texts = 0;
    must(safetensors_open(folder_in("s/model.safetensors"), &file, &err), &err);
    const size_t count = safetensors_count(file);
    assert_true(count <= MOST && changed_bytes(c) <= sizeof data);
    for (size_t i = 0; i < count; i++) {
        safetensors_entry *e = &entries[i];
        *e = *safetensors_at(file, i);
        const char *blocks = blocks_of(file, e->name, keys[i]);
        if (strcmp(e->name, c->tensor) == 0) {
            memcpy(data, e->data, e->bytes < sizeof data ? e->bytes : sizeof data);
            data[c->scale_at] = c->scale_at ? 0x7c : data[0];
            *e = (safetensors_entry){e->name, c->dtype, c->ndim, {c->shape[0], c->shape[1], c->shape[2]}, data, changed_bytes(c)};
            blocks = c->blocks;
        }
        if (blocks) {
            snprintf(values[i], sizeof values[i], "%s", blocks);
            metadata[texts++] = keys[i];
            metadata[texts++] = values[i];
        }
    }
    must(safetensors_write(folder_in("s/model.safetensors"), entries, count, metadata, &err), &err);
    safetensors_close(file);
}

static void check_refused(rapt_code code, const char *tensor, const char *reason)
{
    for (int inference = 0; inference < 2; inference++) {
        rapt_error err = {0};
        rapt_model *m = load_for(folder_in("s"), inference, &err);
        if (m)
            fail_msg("%s: loaded", reason);
        if (err.code != code || !strstr(err.message, "s/model.safetensors: ") || !strstr(err.message, tensor) ||
            !strstr(err.message, reason))
            fail_msg("%s: code %d, %s", reason, (int)err.code, err.message);
    }
}

/* ---- models of rapt ----------------------------------------------------------------------------------------------- */

#define MATRIX "blocks.0.attention.q.weight"
#define VECTOR "blocks.0.norm1.weight"
enum { ROW = STORED_D / 32 * 34 }; /* bytes in Q8_0 */

static void refuse_ours(const changed *c, rapt_code code, const char *reason)
{
    rapt_model *m = stored_lm(STORED_LLAMA);
    stored_write(m, "s", RAPT_TYPE_Q8_0);
    write_changed(c);
    check_refused(code, c->tensor, reason);
    rapt_model_free(m);
}

static void tensors_that_are_no_blocks(void **state)
{
    static const char *const reason = "is not stored as blocks of a format that rapt knows, or has another shape";
    static const changed cases[] = {
        {MATRIX, "Q9_9", SAFETENSORS_U8, 2, {STORED_D, ROW}, 0},
        {MATRIX, "", SAFETENSORS_U8, 2, {STORED_D, ROW}, 0},
        {MATRIX, "Q4_0", SAFETENSORS_U8, 2, {STORED_D, ROW}, 0},       /* rows of no whole blocks */
        {MATRIX, "Q8_0", SAFETENSORS_U8, 2, {STORED_D, ROW - 1}, 0},
        {MATRIX, "Q8_0", SAFETENSORS_U8, 2, {STORED_D, ROW / 2}, 0},   /* of another width */
        {MATRIX, "Q8_0", SAFETENSORS_U8, 2, {STORED_D - 1, ROW}, 0},
        {MATRIX, "Q8_0", SAFETENSORS_U8, 1, {STORED_D * ROW}, 0},
        {MATRIX, "Q8_0", SAFETENSORS_U8, 3, {STORED_D, 1, ROW}, 0},
        {MATRIX, "Q8_0", SAFETENSORS_I8, 2, {STORED_D, ROW}, 0},
        {MATRIX, "Q8_0", SAFETENSORS_F32, 2, {STORED_D, 34}, 0},
        {VECTOR, "Q8_0", SAFETENSORS_F32, 1, {STORED_D}, 0},
        {VECTOR, "Q8_0", SAFETENSORS_U8, 2, {1, ROW}, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        refuse_ours(&cases[i], RAPT_ERR_FORMAT, reason);
    refuse_ours(&(changed){MATRIX, NULL, SAFETENSORS_U8, 2, {STORED_D, ROW}, 0}, RAPT_ERR_FORMAT, "is not of type F32");
    refuse_ours(&(changed){MATRIX, NULL, SAFETENSORS_F16, 2, {STORED_D, 34}, 0}, RAPT_ERR_FORMAT, "has not the shape [64, 64]");
    refuse_ours(&(changed){VECTOR, NULL, SAFETENSORS_I16, 1, {STORED_D}, 0}, RAPT_ERR_FORMAT, "is not of type F32");
}

/* The second byte of a block's scale. */
static void scales_that_are_not_finite(void **state)
{
    (void)state;
    for (size_t block = 0; block < STORED_D * ROW / 34; block += 31) {
        const changed c = {MATRIX, "Q8_0", SAFETENSORS_U8, 2, {STORED_D, ROW}, 34 * block + 1};
        refuse_ours(&c, RAPT_ERR_NOT_FINITE, "is infinite or not a number somewhere");
    }
}

/* A file of any shorter length, and one whose tensors are not all there. */
static void files_that_are_cut(void **state)
{
    (void)state;
    size_t size;
    char *bytes;
    rapt_error err = {0};
    rapt_model *m = stored_translator();
    stored_write(m, "s", RAPT_TYPE_Q4_0);
    must(file_read(folder_in("s/model.safetensors"), 1 << 24, &bytes, &size, &err), &err);
    for (size_t left = 0; left < size; left += 1 + size / 50) {
        write_file("s/model.safetensors", bytes, left);
        rapt_error why = {0};
        assert_null(rapt_model_load(folder_in("s"), NULL, &why));
        assert_non_null(strstr(why.message, "s/model.safetensors: "));
    }
    free(bytes);
    rapt_model_free(m);
}

/* ---- Hugging Face folders ----------------------------------------------------------------------------------------- */

#define HUB_MATRIX "model.layers.1.mlp.up_proj.weight"

static void refuse_hub(const changed *c, rapt_code code, const char *reason)
{
    rapt_model *m = stored_hub(stored_lm(STORED_LLAMA));
    stored_write(m, "s", RAPT_TYPE_Q8_0);
    write_changed(c);
    check_refused(code, c->tensor, reason);
    rapt_model_free(m);
}

static void hugging_face_folders(void **state)
{
    static const struct {
        changed c;
        rapt_code code;
        const char *reason;
    } cases[] = {
        {{HUB_MATRIX, "Q9_9", SAFETENSORS_U8, 2, {STORED_FFN, ROW}, 0}, RAPT_ERR_FORMAT, ""},
        {{HUB_MATRIX, "Q8_0", SAFETENSORS_U8, 2, {STORED_FFN, ROW - 1}, 0}, RAPT_ERR_FORMAT, ""},
        {{HUB_MATRIX, "Q8_0", SAFETENSORS_U8, 1, {STORED_FFN * ROW}, 0}, RAPT_ERR_FORMAT, ""},
        {{HUB_MATRIX, "Q8_0", SAFETENSORS_U8, 3, {STORED_FFN, 1, ROW}, 0}, RAPT_ERR_FORMAT, ""},
        {{HUB_MATRIX, NULL, SAFETENSORS_U8, 2, {STORED_FFN, STORED_D}, 0}, RAPT_ERR_FORMAT, "is of U8"},
        {{HUB_MATRIX, "Q8_0", SAFETENSORS_U8, 2, {STORED_FFN - 1, ROW}, 0}, RAPT_ERR_FORMAT, "config.json asks for"},
        {{HUB_MATRIX, "Q8_0", SAFETENSORS_U8, 2, {STORED_FFN, ROW / 2}, 0}, RAPT_ERR_FORMAT, "config.json asks for"},
        {{HUB_MATRIX, "Q8_0", SAFETENSORS_U8, 2, {STORED_FFN, ROW}, 34 * 5 + 1}, RAPT_ERR_NOT_FINITE, "[2, 32]"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        refuse_hub(&cases[i].c, cases[i].code, cases[i].reason);
}

/* ---- what is not done with them ----------------------------------------------------------------------------------- */

static void parameters_alone_do_not_load(void **state)
{
    (void)state;
    rapt_error err = {0};
    rapt_model *m = stored_lm(STORED_LLAMA);
    stored_write(m, "s", RAPT_TYPE_Q4_0);
    assert_int_equal(rapt_params_load(m->params, folder_in("s/model.safetensors"), &err), RAPT_ERR_FORMAT);
    assert_non_null(strstr(err.message, "s/model.safetensors: it stores weights in blocks of few bits"));
    rapt_model_free(m);
}

static void adapters_are_not_added(void **state)
{
    (void)state;
    rapt_error err = {0};
    rapt_model *m = stored_lm(STORED_LLAMA);
    stored_write(m, "s", RAPT_TYPE_Q8_0);
    const rapt_model_lora_options o = MODEL_LORA(.lora = {.rank = 2, .alpha = 4}, .seed = 3);
    must(rapt_model_add_lora(m, &o, &err), &err);
    must(rapt_model_save(m, folder_in("lora"), &err), &err);
    assert_null(load_adapted(folder_in("s"), folder_in("lora"), &err));
    assert_int_equal(err.code, RAPT_ERR_VALUE);
    assert_non_null(strstr(err.message, "its weights are stored in blocks, which take no adapter"));
    rapt_model_free(m);
}

static void refuse_writing(const rapt_model *m, rapt_type weights, const char *reason)
{
    rapt_error err = {0};
    const rapt_export_options o = {.size = sizeof o, .to = RAPT_EXPORT_RAPT, .weights = weights};
    assert_int_equal(rapt_model_export(m, folder_in("no"), &o, &err), RAPT_ERR_VALUE);
    if (!strstr(err.message, reason))
        fail_msg("%s", err.message);
    assert_false(file_exists(folder_in("no")));
}

/* GPT-2 has its matrices the other way round, so that blocks would lie along columns; 16 bits do not mind. */
static void models_that_are_not_stored(void **state)
{
    (void)state;
    rapt_error err = {0};
    rapt_model *m = stored_hub(stored_lm(STORED_GPT2));
    refuse_writing(m, RAPT_TYPE_Q8_0, "has rows and columns the other way round");
    refuse_writing(m, RAPT_TYPE_Q4_0, "c_attn.weight");
    stored_write(m, "s", RAPT_TYPE_FP16);
    rapt_model_free(m);
    m = stored_load(folder_in("hf"), true);
    refuse_writing(m, RAPT_TYPE_Q8_0, "was loaded for inference");
    rapt_model_free(m);
    m = stored_load(RAPT_SOURCE_DIR "/tests/golden/hub_encoder/bert", false);
    refuse_writing(m, RAPT_TYPE_Q8_0, "an encoder is not stored in fewer bits");
    rapt_model_free(m);
    m = stored_lm(STORED_LLAMA);
    must(rapt_model_add_lora(m, &MODEL_LORA(.lora = {.rank = 2, .alpha = 4}, .seed = 3), &err), &err);
    refuse_writing(m, RAPT_TYPE_Q8_0, "low-rank adapters");
    rapt_model_free(m);
}

static bool stop_at_once(void *context)
{
    (void)context;
    return true;
}

static void writing_is_interrupted(void **state)
{
    (void)state;
    rapt_model *models[] = {stored_lm(STORED_LLAMA), stored_hub(stored_lm(STORED_LLAMA))};
    for (size_t i = 0; i < 2; i++) {
        rapt_error err = {0};
        const rapt_export_options o = {.size = sizeof o, .to = RAPT_EXPORT_RAPT, .weights = RAPT_TYPE_Q8_0, .stop = stop_at_once};
        assert_int_equal(rapt_model_export(models[i], folder_in("no"), &o, &err), RAPT_ERR_INTERRUPTED);
        assert_false(file_exists(folder_in("no")));
        rapt_model_free(models[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tensors_that_are_no_blocks),
                                       cmocka_unit_test(scales_that_are_not_finite),
                                       cmocka_unit_test(files_that_are_cut),
                                       cmocka_unit_test(hugging_face_folders),
                                       cmocka_unit_test(parameters_alone_do_not_load),
                                       cmocka_unit_test(adapters_are_not_added),
                                       cmocka_unit_test(models_that_are_not_stored),
                                       cmocka_unit_test(writing_is_interrupted)};
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
