/* test_page_vocab.c: pages of a model with a large vocabulary: small by default, with the rows and columns of the tokens that
 * they name and the statistics of all; whole on request. For src/explain/page/page_vocab.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "explain/explain_case.h"
#include "options.h"

#include <jansson.h>

enum { WORDS = 100 * 1000, WIDTH = 32 };

#define DATA_OPENS "<script type=\"application/json\" id=\"data\">"

static rapt_model *model, *tied;

static rapt_model *large_model(rapt_tokenizer *words, bool one_matrix)
{
    rapt_error err = {0};
    size_t vocab = rapt_tokenizer_size(words);
    rapt_transformer_config config = {.source_vocab = vocab, .target_vocab = vocab, .layers = 1, .max_positions = 16,
                                      .block = {.d_model = WIDTH, .heads = 2, .ffn = WIDTH, .bias = true}, .tied = one_matrix};
    rapt_model *m = calloc(1, sizeof *m);
    assert_non_null(m);
    *m = (rapt_model){.task = RAPT_TASK_TRANSLATION, .translation.special = RAPT_SPECIAL_IDS, .translation.max_len = 16,
                      .translation.net = rapt_transformer_new(&config, 5, &err)};
    if (!m->translation.net)
        fail_msg("%s", err.message);
    m->params = m->translation.net->params;
    m->translation.source = m->translation.target = words;
    return m;
}

static rapt_tokenizer *words_of(const char *line)
{
    rapt_error err = {0};
    rapt_tokenizer *words = rapt_tokenizer_train_words(&line, 1, &TRAIN_WORDS(), &err);
    if (!words)
        fail_msg("%s", err.message);
    assert_int_equal(rapt_tokenizer_size(words), WORDS + RAPT_SPECIALS);
    return words;
}

/* The words w0 to w99999 after the special ones, and models of one block of each kind. */
static int set_up(void **state)
{
    (void)state;
    char *text = malloc((size_t)WORDS * 8 + 1), *to = text;
    assert_non_null(text);
    for (int i = 0; i < WORDS; i++)
        to += sprintf(to, "w%d ", i);
    model = large_model(words_of(text), false);
    tied = large_model(words_of(text), true);
    free(text);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    rapt_model_free(model);
    rapt_model_free(tied);
    return 0;
}

static rapt_explanation *explain(const rapt_model *m, bool gradients)
{
    rapt_error err = {0};
    rapt_explain_options o = EXPLAIN(.target = rapt_text_of("w7 w99999 w7"), .gradients = gradients);
    rapt_explanation *e = rapt_explanation_new(m, "w5 w0 w50000 w5", strlen("w5 w0 w50000 w5"), &o, &err);
    if (!e)
        fail_msg("%s", err.message);
    return e;
}

/* The data of the page of an explanation; its size in bytes. */
static json_t *data_of(const rapt_explanation *e, const rapt_explain_page_options *o, size_t *size)
{
    char *html = NULL;
    rapt_error err = {0};
    if (rapt_explanation_page(e, o, &html, size, &err))
        fail_msg("%s", err.message);
    const char *start = strstr(html, DATA_OPENS);
    assert_non_null(start);
    start += strlen(DATA_OPENS);
    json_t *data = json_loadb(start, (size_t)(strstr(start, "</script") - start), 0, NULL);
    assert_non_null(data);
    free(html);
    return data;
}

static const json_t *step_of(const json_t *data, const char *name, bool gradient)
{
    size_t i;
    const json_t *step;
    json_array_foreach(json_object_get(data, "steps"), i, step)
        if (strcmp(json_string_value(json_object_get(step, "name")), name) == 0 &&
            json_is_true(json_object_get(step, "gradient")) == gradient)
            return step;
    fail_msg("no step %s", name);
    return NULL;
}

static bool has_id(const json_t *ids, int32_t id)
{
    size_t i;
    const json_t *one;
    json_array_foreach(ids, i, one)
        if (json_integer_value(one) == id)
            return true;
    return false;
}

/* What each position may be followed by, and is; nothing but that, and what was read. */
static void assert_names_tokens(const json_t *ids, const rapt_explanation *e)
{
    rapt_explained_sequence target = rapt_explanation_sequence(e, 1);
    for (size_t i = 0; i < target.count; i++) {
        rapt_explained_prediction p = rapt_explanation_prediction(e, i);
        for (size_t j = 0; j < p.count; j++)
            assert_true(has_id(ids, p.ids[j]));
        assert_true(has_id(ids, target.ids[i]));
        assert_true(has_id(ids, p.label));
    }
    assert_in_range(json_array_size(ids), 5, target.count * 5 + 4);
}

/* The largest of all elements, not of those that are there. */
static void assert_max_of_all(const json_t *step, const rapt_intermediate *x)
{
    double max = -INFINITY;
    for (size_t i = 0; i < x->shape[0] * x->shape[1] * (x->ndim > 2 ? x->shape[2] : 1); i++)
        max = x->values[i] > max ? (double)x->values[i] : max;
    assert_true(fabs(json_number_value(json_object_get(step, "max")) - max) <= 1e-8 * fabs(max));
}

static void test_small_pages(void **state)
{
    (void)state;
    size_t size;
    rapt_explanation *e = explain(model, false);
    json_t *data = data_of(e, NULL, &size);
    assert_in_range(size, 100 * 1000, 2 * 1000 * 1000);
    const json_t *logits = step_of(data, "decoder.output", false);
    assert_names_tokens(json_object_get(logits, "kept"), e);
    assert_names_tokens(json_object_get(step_of(data, "probabilities", false), "kept"), e);
    assert_max_of_all(logits, rapt_explanation_find(e, "decoder.output", false));
    json_decref(data);
    rapt_explanation_free(e);
}

static void test_small_pages_of_gradients(void **state)
{
    (void)state;
    size_t size;
    rapt_explanation *e = explain(model, true);
    json_t *data = data_of(e, NULL, &size);
    assert_in_range(size, 100 * 1000, 10 * 1000 * 1000);
    assert_names_tokens(json_object_get(step_of(data, "decoder.output", true), "kept"), e);
    assert_names_tokens(json_object_get(step_of(data, "decoder.output.weight", true), "kept_rows"), e);
    assert_names_tokens(json_object_get(step_of(data, "decoder.output.bias", true), "kept"), e);
    const json_t *source = step_of(data, "encoder.embedding.weight", true);
    rapt_explained_sequence read = rapt_explanation_sequence(e, 0);
    for (size_t i = 0; i < read.count; i++)
        assert_true(has_id(json_object_get(source, "kept_rows"), read.ids[i]));
    assert_int_equal(json_array_size(json_object_get(source, "kept_rows")), read.count - 1); /* w5 is there twice */
    assert_max_of_all(source, rapt_explanation_find(e, "encoder.embedding.weight", true));
    json_decref(data);
    rapt_explanation_free(e);
}

/* One matrix for all that is read and predicted. */
static void test_tied(void **state)
{
    (void)state;
    size_t size;
    rapt_explanation *e = explain(tied, true);
    json_t *data = data_of(e, NULL, &size);
    const json_t *kept = json_object_get(step_of(data, "encoder.embedding.weight", true), "kept_rows");
    rapt_explained_sequence read = rapt_explanation_sequence(e, 0), target = rapt_explanation_sequence(e, 1);
    for (size_t i = 0; i < read.count; i++)
        assert_true(has_id(kept, read.ids[i]));
    for (size_t i = 0; i < target.count; i++) {
        assert_true(has_id(kept, target.ids[i]));
        assert_true(has_id(kept, rapt_explanation_prediction(e, i).ids[0]));
    }
    json_decref(data);
    rapt_explanation_free(e);
}

/* 4/3 letters for each of 4 bytes: five positions of logits and of probabilities are more than 5 MB. */
static void test_whole_pages(void **state)
{
    (void)state;
    size_t size;
    rapt_explanation *e = explain(model, false);
    json_t *data = data_of(e, &EXPLAIN_PAGE(.full = true), &size);
    const json_t *logits = step_of(data, "decoder.output", false);
    assert_null(json_object_get(logits, "kept"));
    size_t count = rapt_explanation_sequence(e, 1).count * (WORDS + RAPT_SPECIALS);
    assert_int_equal(json_string_length(json_object_get(logits, "values")), (4 * count + 2) / 3 * 4);
    assert_true(size > 2 * 4 * 4 / 3 * count);
    json_decref(data);
    rapt_explanation_free(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_pages),
        cmocka_unit_test(test_small_pages_of_gradients),
        cmocka_unit_test(test_tied),
        cmocka_unit_test(test_whole_pages),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
