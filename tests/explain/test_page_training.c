/* test_page_training.c: explanations of the same tokens with several models, and the page of them: rapt_explain_options.like,
 * rapt_explanation_page. For src/explain/explain_page.c; what a browser shows of it: check_page_training.py. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "explain/explain_case.h"
#include "options.h"

#include <jansson.h>

#define DATA_OPENS "<script type=\"application/json\" id=\"data\">"

static const char *const WEIGHTS[] = {"*.weights"};

static rapt_explanation *explain(const rapt_model *m, const char *text, const rapt_explain_options *o)
{
    rapt_error err = {0};
    rapt_explanation *e = rapt_explanation_new(m, text, text ? strlen(text) : 0, o, &err);
    if (!e)
        fail_msg("%s", err.message);
    return e;
}

/* The same kind of model, with other parameters. */
static rapt_model *another(rapt_model *(*make)(void))
{
    rapt_model *m = make();
    for (size_t i = 0; i < rapt_params_count(m->params); i++) {
        rapt_tensor *x = &rapt_params_at(m->params, i)->value;
        for (size_t j = 0; j < rapt_tensor_size(x); j++)
            x->data[j] *= (rapt_real)1.25;
    }
    return m;
}

static void assert_same_numbers(const rapt_explanation *a, const rapt_explanation *b)
{
    size_t found = 0;
    for (size_t i = 0; i < rapt_explanation_count(a); i++) {
        const rapt_intermediate *x = rapt_explanation_at(a, i), *y = rapt_explanation_find(b, x->name, x->gradient);
        size_t size = 1;
        assert_non_null(y);
        for (int d = 0; d < x->ndim; d++)
            size *= x->shape[d];
        assert_memory_equal(x->values, y->values, size * sizeof *x->values);
        found++;
    }
    assert_true(found > 0);
    for (size_t i = 0; rapt_explanation_prediction(b, i).count > 0; i++) {
        rapt_explained_prediction p = rapt_explanation_prediction(a, i), q = rapt_explanation_prediction(b, i);
        assert_int_equal(p.count, q.count);
        assert_memory_equal(p.ids, q.ids, p.count * sizeof *p.ids);
        assert_memory_equal(p.probabilities, q.probabilities, p.count * sizeof *p.probabilities);
        assert_true(p.has_label == q.has_label && p.label == q.label && p.loss == q.loss);
    }
}

/* The tokens of one explanation in another model: what that model makes of them when they are given as text and target. The
 * other model may go. */
static void test_like(void **state)
{
    (void)state;
    const struct { rapt_model *(*make)(void); const char *text, *target; } cases[] = {
        {case_translator, "w1 w2 w3", "w4 w9"}, {case_language_model, "hello", NULL}};
    for (size_t i = 0; i < 2; i++) {
        rapt_model *m = cases[i].make(), *other = another(cases[i].make);
        rapt_explanation *e = explain(m, cases[i].text, &EXPLAIN(.target = rapt_text_of(cases[i].target)));
        const rapt_explain_options o = EXPLAIN(.target = rapt_text_of(cases[i].target), .gradients = true);
        rapt_explanation *wanted = explain(other, cases[i].text, &o);
        rapt_explanation *got = explain(other, NULL, &EXPLAIN(.like = e, .gradients = true));
        assert_same_numbers(wanted, got);
        assert_true(rapt_explanation_loss(wanted) == rapt_explanation_loss(got));
        rapt_explanation_free(wanted);
        rapt_model_free(other);
        char *json = NULL;
        assert_int_equal(rapt_explanation_json(got, NULL, &json, NULL, NULL), RAPT_OK);
        assert_non_null(strstr(json, "probabilities"));
        free(json);
        rapt_explanation_free(got);
        rapt_explanation_free(e);
        rapt_model_free(m);
    }
}

/* A target that the model has found itself is used for all models. */
static void test_like_keeps_the_target(void **state)
{
    (void)state;
    rapt_model *m = case_translator(), *other = another(case_translator);
    rapt_explanation *e = explain(m, "w1 w2 w3", NULL), *like = explain(other, NULL, &EXPLAIN(.like = e));
    rapt_explained_sequence a = rapt_explanation_sequence(e, 1), b = rapt_explanation_sequence(like, 1);
    assert_int_equal(a.count, b.count);
    assert_memory_equal(a.ids, b.ids, a.count * sizeof *a.ids);
    assert_string_equal(rapt_explanation_target(e, NULL), rapt_explanation_target(like, NULL));
    rapt_explanation_free(like);
    rapt_explanation_free(e);
    rapt_model_free(other);
    rapt_model_free(m);
}

static void test_like_of_another_task(void **state)
{
    (void)state;
    rapt_model *m = case_translator(), *other = case_language_model();
    rapt_explanation *e = explain(m, "w1 w2 w3", NULL);
    rapt_error err = {0};
    assert_null(rapt_explanation_new(other, NULL, 0, &EXPLAIN(.like = e), &err));
    assert_int_equal(err.code, RAPT_ERR_VALUE);
    assert_string_equal(err.message, "the tokens to explain are of a model of another task or size");
    rapt_explanation_free(e);
    rapt_model_free(other);
    rapt_model_free(m);
}

static void test_page_of_checkpoints(void **state)
{
    (void)state;
    rapt_model *m = case_translator(), *other = another(case_translator);
    rapt_explanation *e = explain(m, "w1 w2 w3", NULL);
    rapt_explain_options o = EXPLAIN(.names = WEIGHTS, .name_count = 1, .like = e);
    rapt_explained_checkpoint list[] = {{0, explain(other, NULL, &o)}, {70, explain(m, NULL, &o)}};
    char *html = NULL;
    rapt_error err = {0};
    rapt_explain_page_options page = EXPLAIN_PAGE(.checkpoints = list, .checkpoint_count = 2);
    if (rapt_explanation_page(e, &page, &html, NULL, &err))
        fail_msg("%s", err.message);
    const char *start = strstr(html, DATA_OPENS) + strlen(DATA_OPENS);
    json_t *data = json_loadb(start, (size_t)(strstr(start, "</script") - start), 0, NULL), *made, *step;
    json_t *checkpoints = json_object_get(data, "checkpoints");
    assert_int_equal(json_array_size(checkpoints), 2);
    for (size_t i = 0, j; i < 2; i++) {
        made = json_array_get(checkpoints, i);
        assert_int_equal(json_integer_value(json_object_get(made, "step")), list[i].step);
        assert_int_equal(json_array_size(json_object_get(made, "steps")), 6); /* two blocks of 1 + 2 attentions */
        json_array_foreach(json_object_get(made, "steps"), j, step)
            assert_string_equal(json_string_value(json_object_get(step, "format")), "exact");
    }
    const json_t *own = json_object_get(data, "predictions");
    assert_true(json_equal(json_object_get(json_array_get(checkpoints, 1), "predictions"), own));
    assert_false(json_equal(json_object_get(json_array_get(checkpoints, 0), "predictions"), own));
    json_decref(data);
    free(html);
    for (size_t i = 0; i < 2; i++)
        rapt_explanation_free((rapt_explanation *)list[i].explanation);
    rapt_explanation_free(e);
    rapt_model_free(other);
    rapt_model_free(m);
}

static void assert_page_refused(const rapt_explanation *e, const rapt_explanation *checkpoint, const char *message)
{
    rapt_explained_checkpoint one = {30, checkpoint};
    rapt_error err = {0};
    char *html = NULL;
    rapt_explain_page_options page = EXPLAIN_PAGE(.checkpoints = &one, .checkpoint_count = 1);
    assert_int_equal(rapt_explanation_page(e, &page, &html, NULL, &err), RAPT_ERR_VALUE);
    assert_null(html);
    assert_string_equal(err.message, message);
}

static void test_refused_checkpoints(void **state)
{
    (void)state;
    rapt_model *m = case_translator();
    rapt_explanation *e = explain(m, "w1 w2 w3", NULL), *text = explain(m, "w1 w2 w4", NULL);
    const char *const tokens[] = {"tokens"};
    rapt_explanation *bare = explain(m, NULL, &EXPLAIN(.names = tokens, .name_count = 1, .like = e));
    assert_page_refused(e, text, "the explanation of step 30 has other tokens");
    assert_page_refused(e, bare, "the explanation of step 30 has no attention weights");
    rapt_explanation_free(bare);
    rapt_explanation_free(text);
    rapt_explanation_free(e);
    rapt_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_like),
        cmocka_unit_test(test_like_keeps_the_target),
        cmocka_unit_test(test_like_of_another_task),
        cmocka_unit_test(test_page_of_checkpoints),
        cmocka_unit_test(test_refused_checkpoints),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
