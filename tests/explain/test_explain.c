/* tests/explain/test_explain.c: rapt/explain.h from C: what an explanation of each kind of model holds, against definitions and
 * against other functions of the library; that text, JSON and page say the same; what is refused; that the model is left as it
 * was. What `rapt explain` prints: tests/cli/check_explain.sh; failed allocations: test_explain_no_memory.c.
 * labels: threads */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "explain/explain_case.h"

#include "options.h"
#include "rapt/decode.h"

#include <jansson.h>

static rapt_model *translator, *language_model;

static int set_up(void **state)
{
    (void)state;
    translator = case_translator();
    language_model = case_language_model();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    rapt_model_free(translator);
    rapt_model_free(language_model);
    return 0;
}

static rapt_explanation *explain(const rapt_model *m, const char *text, const rapt_explain_options *o)
{
    rapt_error err = {0};
    rapt_explanation *e = rapt_explanation_new(m, text, text ? strlen(text) : 0, o, &err);
    if (!e)
        fail_msg("%s", err.message);
    return e;
}

static const rapt_intermediate *find(const rapt_explanation *e, const char *name, bool gradient)
{
    const rapt_intermediate *x = rapt_explanation_find(e, name, gradient);
    if (!x)
        fail_msg("nothing is called %s", name);
    return x;
}

static size_t size_of(const rapt_intermediate *x)
{
    size_t size = 1;
    for (int i = 0; i < x->ndim; i++)
        size *= x->shape[i];
    return size;
}

static void assert_shape(const rapt_intermediate *x, const char *axes, int ndim, const size_t *shape)
{
    assert_string_equal(x->axes, axes);
    assert_int_equal(x->ndim, ndim);
    for (int i = 0; i < ndim; i++)
        assert_int_equal(x->shape[i], shape[i]);
}

static void assert_near(double want, double got, double tolerance)
{
    if (!(fabs(want - got) <= tolerance * (1 + fabs(want))))
        fail_msg("%.9g, not %.9g", got, want);
}

/* ---- tokens ------------------------------------------------------------------------------------------------------- */

static void test_sequences_of_a_translation(void **state)
{
    (void)state;
    rapt_explanation *e = explain(translator, "w1 w2", &EXPLAIN(.target = rapt_text_of("w3 w4 w5")));
    int32_t *ids;
    size_t count;
    assert_int_equal(rapt_tokenizer_encode(translator->translation.target, "w3 w4 w5", &ids, &count, NULL), RAPT_OK);
    assert_int_equal(rapt_explanation_sequence_count(e), 2);
    rapt_explained_sequence source = rapt_explanation_sequence(e, 0), target = rapt_explanation_sequence(e, 1);
    assert_string_equal(source.name, "source");
    assert_int_equal(source.count, 3);
    assert_int_equal(source.ids[2], RAPT_EOS);
    assert_string_equal(source.labels[1], "1 w2");
    assert_string_equal(source.labels[2], "2 <eos>");
    assert_string_equal(target.name, "target");
    assert_int_equal(target.count, 4);
    assert_int_equal(target.ids[0], RAPT_BOS);
    assert_memory_equal(target.ids + 1, ids, count * sizeof *ids);
    assert_null(rapt_explanation_sequence(e, 2).name);
    assert_string_equal(rapt_explanation_target(e, NULL), "w3 w4 w5");
    free(ids);
    rapt_explanation_free(e);
}

/* The greedy translation equals rapt_translate's with a beam of 1. */
static void test_the_model_finds_a_target(void **state)
{
    (void)state;
    const char *line = "w1 w2";
    rapt_translation t = {0};
    rapt_error err = {0};
    rapt_explanation *e = explain(translator, line, NULL);
    assert_int_equal(rapt_translate(translator, &line, 1, &TRANSLATE(.beam = 1, .compute.threads = 1), &t, &err),
                     RAPT_OK);
    assert_string_equal(rapt_explanation_target(e, NULL), t.hypotheses[0].text);
    rapt_translations_free(&t, 1);
    rapt_explanation_free(e);
}

static void test_sequence_of_a_language_model(void **state)
{
    (void)state;
    rapt_explanation *e = explain(language_model, "a b", NULL);
    rapt_explained_sequence text = rapt_explanation_sequence(e, 0);
    assert_int_equal(rapt_explanation_sequence_count(e), 1);
    assert_string_equal(text.name, "text");
    assert_int_equal(text.count, 3);
    assert_string_equal(text.labels[1], "1 \xE2\x90\xA3"); /* an open box */
    assert_null(rapt_explanation_target(e, NULL));
    rapt_explanation_free(e);
}

/* ---- intermediates ------------------------------------------------------------------------------------------------ */

static void test_intermediates_of_a_translation(void **state)
{
    (void)state;
    rapt_explanation *e = explain(translator, "w1 w2", &EXPLAIN(.target = rapt_text_of("w3 w4 w5")));
    assert_string_equal(rapt_explanation_at(e, 0)->name, "encoder.embedding");
    assert_string_equal(rapt_explanation_at(e, rapt_explanation_count(e) - 1)->name, "probabilities");
    assert_null(rapt_explanation_at(e, rapt_explanation_count(e)));
    assert_null(rapt_explanation_find(e, "encoder", false));
    assert_null(rapt_explanation_find(e, "encoder.embedding", true));
    const rapt_intermediate *weights = find(e, "decoder.1.cross_attention.weights", false);
    assert_shape(weights, "batch head query key", 4, (size_t[]){1, 3, 4, 3});
    assert_non_null(strstr(weights->formula, "softmax"));
    for (size_t row = 0; row < 3 * 4; row++)
        assert_near(1, weights->values[3 * row] + weights->values[3 * row + 1] + weights->values[3 * row + 2], 1e-6);
    const rapt_intermediate *sum = find(e, "encoder.0.norm1.sum", false), *x = find(e, "encoder.input", false),
                            *y = find(e, "encoder.0.attention.output", false);
    assert_shape(sum, "batch time feature", 3, (size_t[]){1, 3, 42});
    for (size_t i = 0; i < size_of(sum); i++)
        assert_near((double)x->values[i] + (double)y->values[i], sum->values[i], 1e-6);
    rapt_explanation_free(e);
}

/* Logits of the pass equal rapt_lm_forward's except for rounding; probabilities are their softmax. */
static void test_predictions(void **state)
{
    (void)state;
    rapt_explanation *e = explain(language_model, "hello", NULL);
    rapt_explained_sequence text = rapt_explanation_sequence(e, 0);
    rapt_tape *t = model_tape(NULL, 1);
    rapt_real *logits = lm_whole(t, language_model->language.net, text.ids, 1, text.count);
    for (size_t i = 0; i < text.count; i++) {
        const rapt_real *row = logits + i * MODEL_VOCAB;
        rapt_explained_prediction p = rapt_explanation_prediction(e, i);
        double sum = 0;
        for (size_t j = 0; j < MODEL_VOCAB; j++)
            sum += exp((double)row[j]);
        assert_int_equal(p.count, 5);
        for (size_t j = 0; j < p.count; j++)
            assert_near(exp((double)row[p.ids[j]]) / sum, p.probabilities[j], 1e-5);
        for (size_t j = 1; j < p.count; j++)
            assert_true(p.probabilities[j] <= p.probabilities[j - 1]);
        assert_int_equal(p.has_label, i + 1 < text.count);
        if (p.has_label) {
            assert_int_equal(p.label, text.ids[i + 1]);
            assert_near(log(sum) - (double)row[p.label], p.loss, 1e-5);
        }
    }
    assert_int_equal(rapt_explanation_prediction(e, text.count).count, 0);
    assert_true(rapt_explanation_loss(e) == 0);
    free(logits);
    rapt_tape_free(t);
    rapt_explanation_free(e);
}

/* d loss / d logits of cross-entropy is (softmax - one-hot) / labels. */
static void test_gradients(void **state)
{
    (void)state;
    rapt_explanation *e = explain(language_model, "hello", &EXPLAIN(.gradients = true));
    const rapt_intermediate *p = find(e, "probabilities", false), *g = find(e, "output", true);
    double loss = 0;
    for (size_t i = 0; i < 4; i++) {
        rapt_explained_prediction next = rapt_explanation_prediction(e, i);
        loss += next.loss / 4;
        for (size_t j = 0; j < MODEL_VOCAB; j++)
            assert_near(((double)p->values[i * MODEL_VOCAB + j] - ((int32_t)j == next.label)) / 4,
                        g->values[i * MODEL_VOCAB + j], 1e-5);
    }
    assert_near(loss, rapt_explanation_loss(e), 1e-5);
    for (size_t i = 0; i < rapt_params_count(language_model->params); i++) {
        const rapt_param *param = rapt_params_at(language_model->params, i);
        if (!param->buffer)
            assert_int_equal(size_of(find(e, param->value.name, true)), rapt_tensor_size(&param->value));
        assert_false(param->value.grad_filled);
    }
    rapt_explanation_free(e);
}

/* Gradients that somebody left behind are not added. */
static void test_gradients_are_of_this_pass(void **state)
{
    (void)state;
    rapt_explain_options o = EXPLAIN(.gradients = true, .names = (const char *[]){"blocks.0.ffn.*"}, .name_count = 1);
    rapt_explanation *e[2] = {explain(language_model, "hello", &o)};
    for (size_t i = 0; i < rapt_params_count(language_model->params); i++) {
        rapt_tensor *x = &rapt_params_at(language_model->params, i)->value;
        for (size_t j = 0; x->grad && j < rapt_tensor_size(x); j++)
            x->grad[j] = 1000;
        x->grad_filled = x->grad != NULL;
    }
    e[1] = explain(language_model, "hello", &o);
    assert_int_equal(rapt_explanation_count(e[1]), rapt_explanation_count(e[0]));
    for (size_t i = 0; i < rapt_explanation_count(e[0]); i++) {
        const rapt_intermediate *a = rapt_explanation_at(e[0], i), *b = rapt_explanation_at(e[1], i);
        assert_string_equal(a->name, b->name);
        model_same(a->name, a->values, b->values, size_of(a));
    }
    rapt_explanation_free(e[0]);
    rapt_explanation_free(e[1]);
}

static void test_names_choose(void **state)
{
    (void)state;
    rapt_explain_options o = EXPLAIN(.names = (const char *[]){"*.weights", "encoder.input"}, .name_count = 2);
    rapt_explanation *e = explain(translator, "w1", &o);
    assert_int_equal(rapt_explanation_count(e), 1 + 2 + 2 * 2);
    assert_string_equal(rapt_explanation_at(e, 0)->name, "encoder.input");
    assert_string_equal(rapt_explanation_at(e, 1)->name, "encoder.0.attention.weights");
    assert_int_equal(rapt_explanation_prediction(e, 0).count, 5);
    rapt_explanation_free(e);
}

/* ---- text, JSON, page --------------------------------------------------------------------------------------------- */

static char *json_of(const rapt_explanation *e, bool full)
{
    char *text = NULL;
    size_t size = 0;
    rapt_error err = {0};
    if (rapt_explanation_json(e, &EXPLAIN_FORMAT(.full = full), &text, &size, &err))
        fail_msg("%s", err.message);
    assert_int_equal(strlen(text), size);
    return text;
}

static void test_json_has_all(void **state)
{
    (void)state;
    rapt_explanation *e = explain(language_model, "hello", &EXPLAIN(.gradients = true, .model_name = "a/b"));
    char *text = json_of(e, true);
    json_t *o = json_loads(text, 0, NULL), *steps = json_object_get(o, "steps");
    assert_string_equal(json_string_value(json_object_get(json_object_get(o, "model"), "path")), "a/b");
    assert_string_equal(json_string_value(json_object_get(o, "text")), "hello");
    assert_true((float)json_real_value(json_object_get(o, "loss")) == (float)rapt_explanation_loss(e));
    assert_int_equal(json_array_size(steps), rapt_explanation_count(e));
    for (size_t i = 0; i < rapt_explanation_count(e); i++) {
        const rapt_intermediate *x = rapt_explanation_at(e, i);
        json_t *step = json_array_get(steps, i), *values = json_object_get(step, "values");
        assert_string_equal(json_string_value(json_object_get(step, "name")), x->name);
        assert_int_equal(json_is_true(json_object_get(step, "gradient")), x->gradient);
        assert_int_equal(json_array_size(values), size_of(x));
        for (size_t j = 0; j < size_of(x); j++)
            if (isfinite(x->values[j]))
                assert_true((float)json_real_value(json_array_get(values, j)) == x->values[j]);
    }
    json_decref(o);
    free(text);
    text = json_of(e, false);
    assert_null(strstr(text, "\"values\""));
    free(text);
    rapt_explanation_free(e);
}

static char *text_of(const rapt_explanation *e, const rapt_explain_format *f)
{
    char *text = NULL;
    size_t size = 0;
    rapt_error err = {0};
    if (rapt_explanation_text(e, f, &text, &size, &err))
        fail_msg("%s", err.message);
    assert_int_equal(strlen(text), size);
    return text;
}

static void assert_text(const rapt_explanation *e, rapt_explain_format f, const char *wanted, bool there)
{
    char *text = text_of(e, &f);
    if ((strstr(text, wanted) != NULL) != there)
        fail_msg("%s \"%s\" in:\n%.600s", there ? "no" : "a", wanted, text);
    free(text);
}

static void test_text(void **state)
{
    (void)state;
    char *text;
    rapt_explanation *e = explain(language_model, "hello", NULL);
    text = text_of(e, NULL);
    assert_int_equal(strncmp(text, "model: a language model of 2 blocks, d_model 24, 6 heads", 56), 0);
    assert_non_null(strstr(text, "\nblocks.0.attention.scores = "));
    assert_non_null(strstr(text, "\nafter token 4, o:\n"));
    assert_null(strstr(text, "\nafter token 3"));
    free(text);
    assert_text(e, EXPLAIN_FORMAT(.position = -2), "\nafter token 3, l:\n", true);
    assert_text(e, EXPLAIN_FORMAT(.position = 0), "\nafter token 0, h:\n", true);
    assert_text(e, EXPLAIN_FORMAT(.all_positions = true), "\nafter token 0, h:\n", true);
    assert_text(e, EXPLAIN_FORMAT(.all_positions = true), "\nafter token 4, o:\n", true);
    assert_text(e, EXPLAIN_FORMAT(), "\033[", false);
    assert_text(e, EXPLAIN_FORMAT(.color = true), "\033[", true);
    assert_text(e, EXPLAIN_FORMAT(), " ...,", true);
    assert_text(e, EXPLAIN_FORMAT(.full = true), " ...,", false);
    assert_text(e, EXPLAIN_FORMAT(.table = true), "[5 rows x 53 columns]", true);
    rapt_explanation_free(e);
}

static void test_positions_that_are_none(void **state)
{
    (void)state;
    rapt_explanation *e = explain(language_model, "hello", NULL);
    static const long positions[] = {5, -6, 1000000, -1000000};
    for (size_t i = 0; i < 4; i++) {
        char wanted[100], *text = NULL;
        rapt_error err = {0};
        rapt_explain_format f = EXPLAIN_FORMAT(.position = positions[i]);
        snprintf(wanted, sizeof wanted, "position %ld: the text has tokens 0 to 4", positions[i]);
        assert_int_equal(rapt_explanation_text(e, &f, &text, NULL, &err), RAPT_ERR_VALUE);
        assert_string_equal(err.message, wanted);
        assert_null(text);
    }
    rapt_explanation_free(e);
}

static void test_formats_without_a_size(void **state)
{
    (void)state;
    static const char wanted[] = "options without a size: make them with rapt_explain_format_default()";
    rapt_explanation *e = explain(language_model, "hello", NULL);
    rapt_error err = {0}, again = {0};
    char *text = NULL;
    assert_int_equal(rapt_explanation_text(e, &(rapt_explain_format){.full = true}, &text, NULL, &err), RAPT_ERR_VALUE);
    assert_int_equal(rapt_explanation_json(e, &(rapt_explain_format){.full = true}, &text, NULL, &again), RAPT_ERR_VALUE);
    assert_string_equal(err.message, wanted);
    assert_string_equal(again.message, wanted);
    assert_null(text);
    rapt_explanation_free(e);
}

static void test_page(void **state)
{
    (void)state;
    char *html = NULL;
    size_t size = 0;
    rapt_error err = {0};
    rapt_explanation *e = explain(translator, "w1 w2", &EXPLAIN(.target = rapt_text_of("w3")));
    assert_int_equal(rapt_explanation_page(e, NULL, &html, &size, &err), RAPT_OK);
    assert_int_equal(strlen(html), size);
    assert_int_equal(strncmp(html, "<!DOCTYPE html>", 15), 0);
    assert_non_null(strstr(html, "\"name\":\"decoder.1.cross_attention.weights\""));
    free(html);
    rapt_explanation_free(e);
}

/* ---- refused, and promises ---------------------------------------------------------------------------------------- */

static void refused(const rapt_model *m, const char *text, rapt_explain_options o, rapt_code code, const char *message)
{
    rapt_error err = {0};
    assert_null(rapt_explanation_new(m, text, text ? strlen(text) : 0, &o, &err));
    assert_string_equal(err.message, message);
    assert_int_equal(err.code, code);
    assert_null(rapt_explanation_new(m, text, text ? strlen(text) : 0, &o, NULL));
}

static void test_refused(void **state)
{
    (void)state;
    rapt_explain_options train = EXPLAIN(.gradients = true);
    refused(translator, "w1", (rapt_explain_options){.strict = true}, RAPT_ERR_VALUE,
            "options without a size: make them with rapt_explain_options_default()");
    refused(translator, "", rapt_explain_options_default(), RAPT_ERR_VALUE, "the text is empty");
    refused(translator, "zork", EXPLAIN(.strict = true), RAPT_ERR_VALUE,
            "the text: the model does not know \"zork\"");
    refused(translator, "w1 \xff", rapt_explain_options_default(), RAPT_ERR_FORMAT, "the text: byte 4: not UTF-8");
    refused(translator, "w1 w2 w3 w4 w5 w6 w7 w8", rapt_explain_options_default(), RAPT_ERR_VALUE,
            "the text has 9 tokens with <eos>; the model takes 8");
    refused(translator, "w1", EXPLAIN(.target = rapt_text_of("")), RAPT_ERR_VALUE, "the target is empty");
    refused(language_model, "", rapt_explain_options_default(), RAPT_ERR_VALUE, "the text is empty");
    refused(language_model, "abcdefghijklm", rapt_explain_options_default(), RAPT_ERR_VALUE,
            "the text has 13 tokens; the model's context is 12");
    refused(language_model, "a", train, RAPT_ERR_VALUE, "a text of one token has no loss: nothing comes after it");
    refused(language_model, "ab", EXPLAIN(.target = rapt_text_of("c")), RAPT_ERR_VALUE, "a language model takes no target");
}

/* What the model reads in their place, and which they are. */
static void test_unknown_words(void **state)
{
    rapt_error err = {0};
    (void)state;
    const rapt_explain_options o = EXPLAIN(.target = rapt_text_of("w1 yak"));
    rapt_explanation *e = rapt_explanation_new(translator, "w1 zork w2 gnu zork", strlen("w1 zork w2 gnu zork"), &o, &err);
    assert_non_null(e);
    const rapt_explained_sequence source = rapt_explanation_sequence(e, 0), target = rapt_explanation_sequence(e, 1);
    assert_int_equal(source.count, 6);
    assert_int_equal(source.ids[1], RAPT_UNK);
    assert_int_equal(source.ids[4], RAPT_UNK);
    assert_string_equal(source.labels[1], "1 <unk>");
    assert_int_equal(source.unknown_word_count, 2);
    assert_string_equal(source.unknown_words[0], "zork");
    assert_string_equal(source.unknown_words[1], "gnu");
    assert_int_equal(target.unknown_word_count, 1);
    assert_string_equal(target.unknown_words[0], "yak");
    rapt_explanation *again = rapt_explanation_new(translator, NULL, 0, &EXPLAIN(.like = e), &err);
    assert_non_null(again);
    assert_string_equal(rapt_explanation_sequence(again, 0).unknown_words[1], "gnu");
    assert_string_equal(rapt_explanation_sequence(again, 1).unknown_words[0], "yak");
    rapt_explanation_free(again);
    rapt_explanation_free(e);
}

typedef struct admitting {
    rapt_explain_cost cost;
    rapt_code answer;
    size_t calls;
} admitting;

static rapt_code admit(void *context, const rapt_explain_cost *cost, rapt_error *err)
{
    admitting *a = context;
    a->cost = *cost;
    a->calls++;
    return a->answer ? rapt_fail(err, a->answer, "not today") : RAPT_OK;
}

/* The pass as it was counted against what it computed, which is counted here; the copies alone take 4 bytes an element. */
static void cost_case(const rapt_model *m, const char *text, bool gradients)
{
    static const char *const some[] = {"*.output"};
    rapt_error err = {0};
    size_t all = 0, kept = 0, steps = 0;
    admitting whole = {.answer = RAPT_OK}, part = whole;
    rapt_explain_options o = EXPLAIN(.gradients = gradients, .admit = admit, .context = &whole);
    rapt_explanation *e = rapt_explanation_new(m, text, text ? strlen(text) : 0, &o, &err);
    if (!e)
        fail_msg("%s", err.message);
    for (size_t i = 0; i < rapt_explanation_count(e); i++) {
        const rapt_intermediate *x = rapt_explanation_at(e, i);
        const size_t length = strlen(x->name);
        size_t size = 1;
        for (int d = 0; d < x->ndim; d++)
            size *= x->shape[d];
        all += size;
        if (length >= 7 && strcmp(x->name + length - 7, ".output") == 0) {
            kept += size;
            steps++;
        }
    }
    assert_int_equal(whole.calls, 1);
    assert_int_equal(whole.cost.elements, all);
    assert_int_equal(whole.cost.kept, all);
    assert_int_equal(whole.cost.steps, rapt_explanation_count(e));
    rapt_explanation_free(e);
    o = EXPLAIN(.gradients = gradients, .names = some, .name_count = 1, .admit = admit, .context = &part);
    rapt_explanation_free(rapt_explanation_new(m, text, text ? strlen(text) : 0, &o, &err));
    assert_int_equal(part.cost.elements, all);
    assert_int_equal(part.cost.kept, kept);
    assert_int_equal(part.cost.steps, steps);
    assert_true(part.cost.bytes > 4 * kept);
    assert_true(whole.cost.bytes >= part.cost.bytes + 4 * (all - kept));
}

static void test_cost(void **state)
{
    (void)state;
    cost_case(language_model, "abc", false);
    cost_case(language_model, "abcd", true);
    cost_case(translator, "w1 w2", false);
    cost_case(translator, "w1 w2", true);
}

/* A name that is wrong is refused before the memory is asked for. */
static void test_refused_cost(void **state)
{
    admitting no = {.answer = RAPT_ERR_VALUE};
    (void)state;
    refused(language_model, "abc", EXPLAIN(.admit = admit, .context = &no), RAPT_ERR_VALUE, "not today");
    const size_t calls = no.calls;
    assert_true(calls > 0);
    refused(language_model, "abc",
            EXPLAIN(.admit = admit, .context = &no, .names = (const char *[]){"outptu"}, .name_count = 1),
            RAPT_ERR_NOT_FOUND, "no intermediate is called \"outptu\"; did you mean \"output\"?");
    assert_int_equal(no.calls, calls);
}

static void test_refused_names(void **state)
{
    (void)state;
    refused(translator, "w1", EXPLAIN(.names = (const char *[]){"*", "encoder.inptu"}, .name_count = 2),
            RAPT_ERR_NOT_FOUND, "no intermediate is called \"encoder.inptu\"; did you mean \"encoder.input\"?");
    refused(translator, "w1", EXPLAIN(.names = (const char *[]){"loss"}, .name_count = 1), RAPT_ERR_NOT_FOUND,
            "\"loss\": there is a loss with gradients only (--train)");
}

static void *explain_in_a_thread(void *model)
{
    rapt_explanation *e = explain(model, "w1 w2 w3", &EXPLAIN(.threads = 2));
    char *text = json_of(e, true);
    rapt_explanation_free(e);
    return text;
}

/* Without gradients a model is only read; the result doesn't depend on the threads. */
static void test_shared_model(void **state)
{
    (void)state;
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    rapt_explanation *e = explain(translator, "w1 w2 w3", &EXPLAIN(.threads = 1));
    char *wanted = json_of(e, true);
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, explain_in_a_thread, translator), 0);
    for (size_t i = 0; i < THREADS; i++) {
        void *got;
        assert_int_equal(pthread_join(threads[i], &got), 0);
        assert_string_equal(got, wanted);
        free(got);
    }
    free(wanted);
    rapt_explanation_free(e);
}

/* An explanation is a copy: a later pass of the same model leaves it as it was. */
static void test_explanations_stay(void **state)
{
    (void)state;
    rapt_explanation *e = explain(language_model, "hello", NULL);
    char *before = json_of(e, true);
    rapt_explanation_free(explain(language_model, "world", NULL));
    char *after = json_of(e, true);
    assert_string_equal(after, before);
    free(after);
    free(before);
    rapt_explanation_free(e);
    rapt_explanation_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sequences_of_a_translation),
        cmocka_unit_test(test_the_model_finds_a_target),
        cmocka_unit_test(test_sequence_of_a_language_model),
        cmocka_unit_test(test_intermediates_of_a_translation),
        cmocka_unit_test(test_predictions),
        cmocka_unit_test(test_gradients),
        cmocka_unit_test(test_gradients_are_of_this_pass),
        cmocka_unit_test(test_names_choose),
        cmocka_unit_test(test_json_has_all),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_formats_without_a_size), cmocka_unit_test(test_positions_that_are_none),
        cmocka_unit_test(test_page),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_unknown_words),
        cmocka_unit_test(test_cost),
        cmocka_unit_test(test_refused_cost),
        cmocka_unit_test(test_refused_names),
        cmocka_unit_test(test_shared_model),
        cmocka_unit_test(test_explanations_stay),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
