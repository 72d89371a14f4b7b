/* tests/serve/test_openai_embeddings.c: POST /v1/embeddings: vectors equal an embedder's; dimensions; token ids.
 * labels: threads */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "folder.h"
#include "options.h"
#include "serve/openai_case.h"

#include "base/buffer.h"
#include "text/bpe/base64.h"
#include "texts.h"

static openai_case served_here;

static int set_up(void **state)
{
    if (folder_make(state))
        return -1;
    case_open(&served_here, folder_path);
    return 0;
}

static int tear_down(void **state)
{
    case_close(&served_here);
    return folder_remove(state);
}

static const rapt_model *encoder(void)
{
    return rapt_engine_model_of(served_here.models[3].model);
}

/* The vectors of a response equal an embedder's, bit for bit; base64 or numbers. */
static void assert_vectors(json_t *got, const float *want, size_t count, size_t features)
{
    assert_int_equal(json_array_size(case_at(got, "data")), count);
    for (size_t i = 0; i < count; i++) {
        json_t *one = json_array_get(case_at(got, "data"), i), *vector = case_at(one, "embedding");
        float numbers[64] = {0};
        size_t size = 0;
        assert_int_equal(json_integer_value(case_at(one, "index")), i);
        for (size_t j = 0; j < json_array_size(vector) && j < 64; j++)
            numbers[j] = (float)json_number_value(json_array_get(vector, j));
        if (json_is_string(vector)) /* of this machine's bytes, which are little-endian */
            assert_true(base64_decode(json_string_value(vector), json_string_length(vector), (char *)numbers, &size));
        else
            size = json_array_size(vector) * sizeof *numbers;
        assert_int_equal(size, features * sizeof *numbers);
        assert_memory_equal(numbers, want + i * features, size);
    }
}

static void embeddings_are_those_of_an_embedder(void **state)
{
    (void)state;
    static const char *const texts[] = {"The cat", "", "cat sing want"};
    rapt_error err = {0};
    float want[3 * 64];
    rapt_embedder *e = rapt_embedder_new(rapt_engine_model_of(served_here.models[3].model), NULL, &err);
    assert_non_null(e);
    const size_t features = rapt_embedder_features(e);
    assert_true(features <= 64);
    assert_int_equal(rapt_embedder_run(e, TEXTS_OF(texts, 3), 3, want, NULL, &err), RAPT_OK);
    rapt_embedder_free(e);
    static const char ask[] = "{\"model\": \"encoder\", \"input\": [\"The cat\", \"\", \"cat sing want\"], "
                              "\"encoding_format\": \"%s\"}";
    static const char *const formats[] = {"float", "base64"};
    for (size_t i = 0; i < 2; i++) {
        char body[256];
        snprintf(body, sizeof body, ask, formats[i]);
        exchange *x = case_ask(&served_here, openai_embeddings, body);
        json_t *got = case_object(x, 200);
        assert_vectors(got, want, 3, features);
        assert_string_equal(case_text_at(got, "data.0.object"), "embedding");
        assert_true(json_integer_value(case_at(got, "usage.prompt_tokens")) >= 3 * 2);
        assert_string_equal(case_header(x, "X-Rapt-Replay"),
                            "rapt embed encoder --format jsonl <<< $'The cat\\n\\ncat sing want'");
        json_decref(got);
        exchange_release(x);
    }
    served_here.app.limits.texts = 100; /* more than a batch */
    buffer body = {0};
    assert_true(buffer_append(&body, "{\"input\": [\"The cat\"", 20));
    for (size_t i = 1; i < 100; i++)
        assert_true(buffer_append(&body, ",\"The cat\"", 10));
    assert_true(buffer_append(&body, "]}", 2));
    json_t *many = case_json(&served_here, openai_embeddings, body.data, 200);
    for (size_t i = 0; i < 100; i++) {
        json_t *vector = case_at(json_array_get(case_at(many, "data"), i), "embedding");
        assert_true(json_equal(vector, case_at(many, "data.0.embedding")));
    }
    json_decref(many);
    buffer_free(&body);
    served_here.app.limits.texts = 6;
}

/* ---- dimensions --------------------------------------------------------------------------------------------------------- */

static void vectors_are_cut(void **state)
{
    (void)state;
    static const char *const texts[] = {"The cat", "cat sing want"};
    for (size_t d = 1; d <= 12; d += 11) {
        char body[256], header[256];
        float want[2 * 64];
        rapt_error err = {0};
        rapt_embedder *e = rapt_embedder_new(encoder(), &EMBEDDER(.dimensions = d), &err);
        assert_non_null(e);
        assert_int_equal(rapt_embedder_features(e), d);
        assert_int_equal(rapt_embedder_run(e, TEXTS_OF(texts, 2), 2, want, NULL, &err), RAPT_OK);
        rapt_embedder_free(e);
        snprintf(body, sizeof body, "{\"model\": \"encoder\", \"input\": [\"The cat\", \"cat sing want\"], \"dimensions\": %zu}",
                 d);
        exchange *x = case_ask(&served_here, openai_embeddings, body);
        json_t *got = case_object(x, 200);
        assert_vectors(got, want, 2, d);
        snprintf(header, sizeof header, "rapt embed encoder --format jsonl --dimensions %zu <<< $'The cat\\ncat sing want'", d);
        assert_string_equal(case_header(x, "X-Rapt-Replay"), header);
        json_decref(got);
        exchange_release(x);
    }
}

/* ---- token ids ---------------------------------------------------------------------------------------------------------- */

static void append(buffer *to, const char *text)
{
    assert_true(buffer_append(to, text, strlen(text)));
}

/* Appends "[5,6]": the ids of a text, special tokens included. */
static size_t append_ids(rapt_embedder *e, const char *text, buffer *to)
{
    rapt_token_vectors v;
    rapt_error err = {0};
    assert_int_equal(rapt_embedder_tokens(e, text, strlen(text), &v, &err), RAPT_OK);
    for (size_t i = 0; i < v.count; i++) {
        char id[16];
        snprintf(id, sizeof id, "%s%d", i ? "," : "[", (int)v.ids[i]);
        append(to, id);
    }
    append(to, "]");
    const size_t count = v.count;
    rapt_token_vectors_free(&v);
    return count;
}

/* The ids of texts have the vectors of the texts: one list, and several. */
static void ids_have_the_vectors_of_their_text(void **state)
{
    (void)state;
    static const char *const texts[] = {"The cat", "", "cat sing want"};
    rapt_error err = {0};
    float want[3 * 64];
    rapt_embedder *e = rapt_embedder_new(encoder(), NULL, &err);
    assert_int_equal(rapt_embedder_run(e, TEXTS_OF(texts, 3), 3, want, NULL, &err), RAPT_OK);
    for (size_t count = 0; count <= 3; count++) { /* 0: the first one, without a list around it */
        buffer body = {0};
        size_t tokens = 0;
        append(&body, "{\"model\": \"encoder\", \"input\": ");
        for (size_t i = 0; i < (count ? count : 1); i++) {
            append(&body, count == 0 ? "" : i ? "," : "[");
            tokens += append_ids(e, texts[i], &body);
        }
        append(&body, count ? "]}" : "}");
        exchange *x = case_ask(&served_here, openai_embeddings, body.data);
        json_t *got = case_object(x, 200);
        assert_vectors(got, want, count ? count : 1, rapt_embedder_features(e));
        assert_int_equal(json_integer_value(case_at(got, "usage.prompt_tokens")), tokens);
        assert_null(case_header(x, "X-Rapt-Replay")); /* no command takes ids */
        json_decref(got);
        exchange_release(x);
        buffer_free(&body);
    }
    rapt_embedder_free(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(embeddings_are_those_of_an_embedder), cmocka_unit_test(vectors_are_cut),
                                       cmocka_unit_test(ids_have_the_vectors_of_their_text)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
