/* tests/io/test_gguf_model.c: GGUF files as models: what they compute, against what transformers computes with the Hugging Face
 * folders that llama.cpp's converter made them of; their tokenizers against sentencepiece and tokenizers; what is refused. For
 * src/io/gguf and src/text/gguf. tests/golden/gguf is made by tools/make_gguf_golden.py.
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

#include "distance.h"
#include "folder.h"
#include "io/model_core.h"
#include "io/place/place_slice.h"
#include "io/weights/weights.h"
#include "io/safetensors.h"
#include "loading.h"
#include "options.h"
#include "rapt/chat.h"
#include "rapt/decode.h"
#include "rapt/tape.h"
#include "tensor/param_source.h"
#include "text/gguf/gguf_tokenizer.h"

#define GOLDEN RAPT_SOURCE_DIR "/tests/golden/"

/* What is expected of those without `own` is in the folder of the model that the file was made of. */
static const struct {
    const char *name;
    bool own;
} MODELS[] = {{"gpt2", true}, {"llama3", true}, {"qwen2", true}, {"mixed", true}, {"gpt_neox", true}, {"gemma2", true},
              {"gemma3", true}, {"llama_heads"}, {"llama_yarn"}, {"qwen3"}, {"gemma"}, {"phi3"}, {"phi3_long"}, {"granite"},
              {"starcoder2"}};
enum { COUNT = sizeof MODELS / sizeof *MODELS };

static const char *gguf_path(const char *name)
{
    static char path[1024];
    snprintf(path, sizeof path, GOLDEN "gguf/%s.gguf", name);
    return path;
}

static safetensors *expected_of(size_t i)
{
    char path[1024];
    rapt_error err = {0};
    safetensors *s;
    snprintf(path, sizeof path, MODELS[i].own ? GOLDEN "gguf/%s.safetensors" : GOLDEN "hub/%s/expected.safetensors",
             MODELS[i].name);
    safetensors_open(path, &s, &err);
    assert_string_equal(err.message, "");
    return s;
}

static double distance_from(const rapt_tensor *y, const safetensors_entry *logits)
{
    const size_t count = logits->shape[0] * logits->shape[1];
    const rapt_real *last = y->data + rapt_tensor_size(y) - count;
    double worst = 0;
    for (size_t k = 0; k < count; k++)
        worst = fmax(worst, fabs((double)last[k] - ((const double *)logits->data)[k]));
    return worst;
}

static double largest_of(const safetensors_entry *logits)
{
    double largest = 0;
    for (size_t k = 0; k < logits->shape[0] * logits->shape[1]; k++)
        largest = fmax(largest, fabs(((const double *)logits->data)[k]));
    return largest;
}

/* The distance of rapt's logits from PyTorch's in float64 is at most twice the distance of PyTorch's in float32. The files have
 * the same numbers as the folders, except for a rounding of norms (Gemma) and of the divisors of frequencies (Llama 3). */
static void logits_are_the_references(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        rapt_error err = {0};
        safetensors *s = expected_of(i);
        const safetensors_entry *ids = safetensors_find(s, "ids"), *logits = safetensors_find(s, "logits");
        rapt_model *m = rapt_model_load(gguf_path(MODELS[i].name), NULL, &err);
        assert_string_equal(err.message, "");
        rapt_tape *t = rapt_tape_new(&(rapt_compute){.threads = 2}, &err);
        rapt_tape_begin(t, (rapt_pass){0});
        const rapt_tensor *y = rapt_lm_forward(t, m->language.net,
                                               (rapt_tokens){.ids = ids->data, .batch = 1, .time = ids->shape[0]});
        assert_int_equal(rapt_tape_error(t)->code, RAPT_OK);
        const double worst = distance_from(y, logits), error = *(const double *)safetensors_find(s, "error")->data;
        distance_show(MODELS[i].name, "GGUF", worst, error);
        if (!(worst <= 2 * error))
            fail_msg("%s: %g from the logits in float64, PyTorch's in float32 %g", MODELS[i].name, worst, error);
        rapt_tape_free(t);
        rapt_model_free(m);
        safetensors_close(s);
    }
}

/* ---- a translator ------------------------------------------------------------------------------------------------ */

static void a_translator_is_the_references(void **state)
{
    (void)state;
    rapt_error err = {0};
    safetensors *s;
    assert_int_equal(safetensors_open(GOLDEN "hub_translation/t5/expected.safetensors", &s, &err), RAPT_OK);
    const safetensors_entry *source = safetensors_find(s, "source.0"), *target = safetensors_find(s, "target.0");
    const safetensors_entry *logits = safetensors_find(s, "logits.0");
    rapt_model *m = load_task(gguf_path("t5"), RAPT_TASK_TRANSLATION, &err);
    assert_string_equal(err.message, "");
    const rapt_transformer *net = m->translation.net;
    rapt_tape *t = rapt_tape_new(&(rapt_compute){.threads = 2}, &err);
    rapt_tape_begin(t, (rapt_pass){0});
    rapt_tensor *memory = rapt_encoder_forward(t, &net->encoder, (rapt_tokens){source->data, 1, source->shape[0]}, NULL);
    rapt_tensor *y = rapt_decoder_forward(t, &net->decoder, (rapt_tokens){target->data, 1, target->shape[0]}, memory, NULL);
    assert_string_equal(rapt_tape_error(t)->message, "");
    assert_true(distance_from(y, logits) <= 2e-5 * largest_of(logits));
    assert_int_equal(m->translation.special.bos, 1);
    assert_int_equal(m->translation.special.eos, 2);
    assert_int_equal(m->translation.special.pad, 1);
    assert_int_equal(m->translation.special.unk, 3);
    rapt_tape_free(t);
    rapt_model_free(m);
    safetensors_close(s);
}

/* ---- rows in the file -------------------------------------------------------------------------------------------- */

/* Loaded for inference, matrices stay in the file, and their rows have the bits of the model that is loaded whole. */
static void rows_stay_in_the_file(void **state)
{
    (void)state;
    rapt_error err = {0};
    rapt_model *whole = rapt_model_load(gguf_path("mixed"), NULL, &err), *lazy = load_for(gguf_path("mixed"), true, &err);
    assert_string_equal(err.message, "");
    for (size_t i = 0; i < rapt_params_count(whole->params); i++) {
        const rapt_param *a = rapt_params_at(whole->params, i), *b = rapt_params_at(lazy->params, i);
        const size_t width = a->value.ndim == 2 ? a->value.shape[1] : 1;
        rapt_real *row = malloc(width * sizeof *row);
        assert_true(row && (a->buffer || param_has_source(b) == (a->value.ndim == 2)));
        for (size_t r = 0; !a->buffer && param_has_source(b) && r < a->value.shape[0]; r++) {
            param_source_read(b, r, 1, row);
            assert_memory_equal(row, a->value.data + r * width, width * sizeof *row);
        }
        free(row);
    }
    rapt_model_free(lazy);
    rapt_model_free(whole);
}

/* Blocks of a row, and of a query's row, whose rows are in another order. */
static void blocks_of_rows_are_found(void **state)
{
    (void)state;
    rapt_error err = {0};
    weights *w;
    assert_int_equal(weights_open(gguf_path("mixed"), &w, &err), RAPT_OK);
    const block_format *format;
    place_slice s = {.w = w, .t = weights_find(w, "blk.1.attn_q.weight"), .columns = 256, .head = 16, .step = 16};
    s.interleaved = true;
    float row[256], read[256];
    for (size_t i = 0; i < 32; i++) {
        const void *blocks = place_slice_blocks(&s, i, &format);
        assert_ptr_equal(format, &BLOCKS_Q6_K);
        const size_t at = i / 16 * 16 + i % 8 * 2 + i % 16 / 8; /* pairs (j, j + 8) of ours are (2j, 2j + 1) there */
        assert_ptr_equal(blocks, s.t->data + at * 210);
        format->read(1, blocks, row);
        place_slice_read(&s, i, 1, read);
        assert_memory_equal(row, read, sizeof row);
    }
    s.t = weights_find(w, "output_norm.weight");
    assert_null(place_slice_blocks(&s, 0, &format));
    assert_null(format);
    weights_close(w);
}

/* ---- tokenizers -------------------------------------------------------------------------------------------------- */

static void compare_ids(const rapt_tokenizer *k, const char *name, const char *text, const json_t *wanted)
{
    rapt_error err = {0};
    int32_t *ids;
    size_t count;
    rapt_tokenizer_encode_bytes(k, text, strlen(text), &ENCODE(.specials = true), &ids, &count, &err);
    assert_string_equal(err.message, "");
    for (size_t i = 0; i < count || i < json_array_size(wanted); i++)
        if (i >= count || i >= json_array_size(wanted) || ids[i] != json_integer_value(json_array_get(wanted, i)))
            fail_msg("%s: \"%s\": token %zu is %d, and %d in the reference", name, text, i, i < count ? (int)ids[i] : -1,
                     (int)json_integer_value(json_array_get(wanted, i)));
    free(ids);
}

static void ids_are_the_references(void **state)
{
    static const char *const names[] = {"pieces", "t5", "bpe"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[1024];
        rapt_error err = {0};
        json_error_t where;
        const char *text;
        json_t *wanted;
        snprintf(path, sizeof path, GOLDEN "gguf/%s.json", names[i]);
        json_t *texts = json_load_file(path, 0, &where);
        assert_non_null(texts);
        rapt_tokenizer *k = rapt_tokenizer_load(gguf_path(names[i]), &err);
        assert_string_equal(err.message, "");
        json_object_foreach(texts, text, wanted)
            compare_ids(k, names[i], text, wanted);
        rapt_tokenizer_free(k);
        json_decref(texts);
    }
}

/* A token that users have defined is cut out of a text. */
static void added_tokens_are_cut_out(void **state)
{
    (void)state;
    rapt_error err = {0};
    rapt_tokenizer *k = rapt_tokenizer_load(gguf_path("pieces"), &err);
    assert_string_equal(err.message, "");
    int32_t *ids;
    size_t count;
    assert_int_equal(rapt_tokenizer_encode_bytes(k, "@turn@", 6, NULL, &ids, &count, &err), RAPT_OK);
    assert_int_equal(count, 1);
    assert_int_equal(ids[0], 419);
    free(ids);
    rapt_tokenizer_free(k);
}

static void the_chat_template_is_there(void **state)
{
    (void)state;
    rapt_error err = {0};
    const rapt_chat_message messages[] = {{"user", "one"}, {"assistant", "two"}};
    rapt_chat_template *chat = rapt_chat_template_load(gguf_path("pieces"), &err);
    assert_string_equal(err.message, "");
    char *text;
    size_t size;
    rapt_chat_apply(chat, messages, 2, NULL, &text, &size, &err);
    assert_string_equal(err.message, "");
    assert_string_equal(text, "@turn@one@turn@two");
    free(text);
    rapt_chat_template_free(chat);
    assert_null(rapt_chat_template_load(gguf_path("bpe"), &err));
    assert_int_equal(err.code, RAPT_ERR_NOT_FOUND);
}

static void end_of_text_is_known(void **state)
{
    (void)state;
    rapt_error err = {0};
    rapt_model *m = rapt_model_load(gguf_path("bpe"), NULL, &err);
    assert_string_equal(err.message, "");
    assert_int_equal(m->language.end_of_text_count, 1);
    assert_int_equal(m->language.end_of_text[0], 419);
    rapt_model_free(m);
}

/* ---- saving ------------------------------------------------------------------------------------------------------ */

/* A file that is saved becomes the Hugging Face folder that it stands for. */
static void a_file_becomes_a_folder(void **state)
{
    static const char *const names[] = {"mixed", "gemma2", "phi3_long", "llama3", "gpt2"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        rapt_error err = {0};
        rapt_model *m = rapt_model_load(gguf_path(names[i]), NULL, &err);
        assert_string_equal(err.message, "");
        assert_int_equal(rapt_model_save(m, folder_in(names[i]), &err), RAPT_OK);
        rapt_model *again = rapt_model_load(folder_in(names[i]), NULL, &err);
        assert_string_equal(err.message, "");
        assert_int_equal(rapt_params_count(again->params), rapt_params_count(m->params));
        for (size_t k = 0; k < rapt_params_count(m->params); k++) {
            const rapt_tensor *a = &rapt_params_at(m->params, k)->value, *b = &rapt_params_at(again->params, k)->value;
            for (size_t j = 0; j < rapt_tensor_size(a); j++) /* 1 is taken off norms, and added again */
                assert_true(fabs((double)a->data[j] - (double)b->data[j]) <= 1e-7);
        }
        rapt_model_free(again);
        rapt_model_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logits_are_the_references),
        cmocka_unit_test(a_translator_is_the_references),
        cmocka_unit_test(rows_stay_in_the_file),
        cmocka_unit_test(blocks_of_rows_are_found),
        cmocka_unit_test(ids_are_the_references),
        cmocka_unit_test(added_tokens_are_cut_out),
        cmocka_unit_test(the_chat_template_is_there),
        cmocka_unit_test(end_of_text_is_known),
        cmocka_unit_test(a_file_becomes_a_folder),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
