/* tests/explain/test_lens.c: the logit lens of rapt/explain.h: its last depth is the model's own prediction to the bit, whatever
 * the model; all depths against the formulas, computed here in double; the same bits with any number of threads; its cost, its
 * text and its JSON. Failed allocations: test_explain_no_memory.c. What `rapt explain --lens` prints: tests/cli/check_explain.sh.
 * labels: threads */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "explain/explain_case.h"

#include "base/math.h"
#include "explain/page/page.h"
#include "options.h"

#include <jansson.h>

#define TEXT "hello"
#define PAIR EXPLAIN(.lens = true, .threads = 1, .target = rapt_text_of("w3 w4 w5"))

static size_t positions_of(const rapt_explanation *e)
{
    return rapt_explanation_sequence(e, rapt_explanation_sequence_count(e) - 1).count;
}

static void assert_near(double want, double got, double tolerance)
{
    if (!(fabs(want - got) <= tolerance * (1 + fabs(want))))
        fail_msg("%.9g, not %.9g", got, want);
}

/* ---- the last depth ------------------------------------------------------------------------------------------------ */

static void assert_same_prediction(rapt_explained_prediction a, rapt_explained_prediction b)
{
    assert_int_equal(a.count, b.count);
    assert_memory_equal(a.ids, b.ids, a.count * sizeof *a.ids);
    assert_memory_equal(a.probabilities, b.probabilities, a.count * sizeof *a.probabilities);
    assert_int_equal(a.has_label, b.has_label);
    assert_int_equal(a.label, b.label);
    assert_true(a.loss == b.loss);
}

static void assert_ends_as_predicted(const rapt_explanation *e, size_t blocks)
{
    assert_int_equal(rapt_explanation_lens_count(e), blocks + 1);
    for (size_t i = 0; i < positions_of(e); i++) {
        const rapt_explained_prediction own = rapt_explanation_prediction(e, i);
        const rapt_explained_lens x = rapt_explanation_lens(e, blocks, i);
        assert_same_prediction(own, x.prediction);
        assert_int_equal(x.choice_rank, 1);
        assert_true(x.choice_probability == own.probabilities[0]);
    }
}

/* Passes with gradients record what the lens does not. */
static void last_depth_of_lm(rapt_lm_config c)
{
    rapt_model *m = case_language_model_of(c);
    for (int gradients = 0; gradients < 2; gradients++) {
        rapt_explanation *e = case_explain(m, TEXT, EXPLAIN(.lens = true, .threads = 1, .gradients = gradients));
        assert_ends_as_predicted(e, c.layers);
        rapt_explanation_free(e);
    }
    rapt_model_free(m);
}

static void test_last_depth_of_language_models(void **state)
{
    (void)state;
    for (size_t i = 0; i < LM_VARIANTS; i += 5)
        last_depth_of_lm(lm_variant(i));
}

/* What downloaded models have. */
static void test_last_depth_of_other_heads(void **state)
{
    (void)state;
    static const rapt_norm_place places[] = {RAPT_NORM_PLACE_PRE, RAPT_NORM_PLACE_OUTPUT, RAPT_NORM_PLACE_SANDWICH};
    for (size_t i = 0; i < 3; i++) {
        rapt_lm_config c = lm_variant(100);
        c.block.norm_place = places[i];
        c.block.shared_norm = false;
        c.logits_cap = i != 1 ? 3 : 0;
        c.logits_divisor = i != 0 ? 1.75 : 0;
        c.parallel = i == 0;
        last_depth_of_lm(c);
    }
}

static void test_last_depth_of_translators(void **state)
{
    (void)state;
    for (size_t i = 0; i <= MODEL_VARIANTS; i++) {
        rapt_transformer_config c = model_variant(i % MODEL_VARIANTS);
        if (i == MODEL_VARIANTS)
            c.output_scale = 0.3;
        rapt_model *m = case_translator_of(c);
        rapt_explanation *e = case_explain(m, "w1 w2", PAIR);
        assert_ends_as_predicted(e, c.decoder_layers ? c.decoder_layers : c.layers);
        rapt_explanation_free(e);
        rapt_model_free(m);
    }
}

/* ---- all depths against the formulas ------------------------------------------------------------------------------- */

/* The parts of a model that follow its last block. */
typedef struct head {
    const char *stream[8]; /* names of the streams by depth; NULL: the end */
    const char *norm, *norm_bias, *matrix, *bias; /* names of parameters, or NULL */
    bool rms;
    double divisor, cap; /* 0: none */
} head;

static const rapt_tensor *parameter(const rapt_model *m, const char *name)
{
    for (size_t i = 0; name && i < rapt_params_count(m->params); i++)
        if (strcmp(rapt_params_at(m->params, i)->value.name, name) == 0)
            return &rapt_params_at(m->params, i)->value;
    if (name)
        fail_msg("there is no %s", name);
    return NULL;
}

static void norm_row(const rapt_model *m, const head *h, const rapt_real *x, double *y, size_t n)
{
    const rapt_tensor *w = parameter(m, h->norm), *b = parameter(m, h->norm_bias);
    double mean = 0, variance = 0;
    for (size_t i = 0; i < n && !h->rms; i++)
        mean += (double)x[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        variance += ((double)x[i] - mean) * ((double)x[i] - mean) / (double)n;
    for (size_t i = 0; i < n; i++) {
        y[i] = ((double)x[i] - mean) / sqrt(variance + 1e-5);
        y[i] = w ? y[i] * (double)w->data[i] + (b ? (double)b->data[i] : 0) : (double)x[i];
    }
}

static void probabilities_of_row(const rapt_model *m, const head *h, const rapt_real *x, size_t n, double *p)
{
    double y[64], sum = 0;
    const rapt_tensor *w = parameter(m, h->matrix), *b = parameter(m, h->bias);
    assert_int_equal(w->shape[1], n);
    norm_row(m, h, x, y, n);
    for (size_t j = 0; j < MODEL_VOCAB; j++) {
        double z = b ? (double)b->data[j] : 0;
        for (size_t i = 0; i < n; i++)
            z += y[i] / (h->divisor != 0 ? h->divisor : 1) * (double)w->data[j * n + i];
        p[j] = exp(h->cap != 0 ? h->cap * tanh(z / h->cap) : z);
        sum += p[j];
    }
    for (size_t j = 0; j < MODEL_VOCAB; j++)
        p[j] /= sum;
}

/* Probabilities that are this near may be ranked in either order. */
static void assert_rank(const double *p, int32_t id, size_t rank)
{
    size_t above = 0, near = 0;
    for (int32_t j = 0; j < MODEL_VOCAB; j++) {
        const bool close = fabs(p[j] - p[id]) < 1e-5;
        above += p[j] > p[id] && !close;
        near += close;
    }
    assert_in_range(rank, above + 1, above + near);
}

static void assert_formula(const rapt_explanation *e, const double *p, size_t depth, size_t position)
{
    const rapt_explained_lens x = rapt_explanation_lens(e, depth, position);
    const int32_t choice = rapt_explanation_prediction(e, position).ids[0];
    for (size_t j = 0; j < x.prediction.count; j++) {
        assert_near(p[x.prediction.ids[j]], x.prediction.probabilities[j], 1e-5);
        assert_rank(p, x.prediction.ids[j], j + 1);
    }
    assert_near(p[choice], x.choice_probability, 1e-5);
    assert_rank(p, choice, x.choice_rank);
    if (x.prediction.has_label) {
        assert_near(-log(p[x.prediction.label]), x.prediction.loss, 1e-4);
        assert_rank(p, x.prediction.label, x.label_rank);
    } else
        assert_int_equal(x.label_rank, 0);
}

static void assert_formulas(const rapt_model *m, const rapt_explanation *e, const head *h)
{
    size_t depth = 0, at_first = 0;
    for (; h->stream[depth]; depth++) {
        const rapt_intermediate *x = rapt_explanation_find(e, h->stream[depth], false);
        if (!x)
            fail_msg("nothing is called %s", h->stream[depth]);
        assert_int_equal(x->shape[1], positions_of(e));
        for (size_t i = 0; i < x->shape[1]; i++) {
            double p[MODEL_VOCAB];
            probabilities_of_row(m, h, x->values + i * x->shape[2], x->shape[2], p);
            assert_formula(e, p, depth, i);
            at_first += rapt_explanation_lens(e, depth, i).choice_rank == 1;
        }
    }
    assert_int_equal(rapt_explanation_lens_count(e), depth);
    assert_true(at_first < depth * positions_of(e)); /* or ranks would not be tested */
}

static void test_post_norm_translation(void **state)
{
    (void)state;
    rapt_model *m = case_translator();
    rapt_explanation *e = case_explain(m, "w1 w2", PAIR);
    assert_formulas(m, e, &(head){.stream = {"decoder.input", "decoder.0.norm3.output", "decoder.1.norm3.output"},
                                  .matrix = "decoder.output.weight", .bias = "decoder.output.bias"});
    rapt_explanation_free(e);
    rapt_model_free(m);
}

static void test_pre_norm_and_tied(void **state)
{
    (void)state;
    rapt_lm_config c = {.vocab = MODEL_VOCAB, .layers = 3, .context = LM_CONTEXT, .positions = RAPT_POSITIONS_LEARNED,
                        .tied = true,
                        .block = {.d_model = 24, .heads = 6, .ffn = 37, .norm_place = RAPT_NORM_PLACE_PRE, .bias = true}};
    rapt_model *m = case_language_model_of(c);
    rapt_explanation *e = case_explain(m, TEXT, EXPLAIN(.lens = true, .threads = 1));
    assert_formulas(m, e, &(head){.stream = {"input", "blocks.0.norm2.sum", "blocks.1.norm2.sum", "blocks.2.norm2.sum"},
                                  .norm = "norm.weight", .norm_bias = "norm.bias", .matrix = "embedding.weight"});
    rapt_explanation_free(e);
    rapt_model_free(m);
}

static void test_rms_norm_and_rotary(void **state)
{
    (void)state;
    rapt_lm_config c = {.vocab = MODEL_VOCAB, .layers = 2, .context = LM_CONTEXT, .positions = RAPT_POSITIONS_ROTARY,
                        .logits_cap = 2, .logits_divisor = 1.5,
                        .block = {.d_model = 24, .heads = 6, .kv_heads = 2, .ffn = 37, .norm_place = RAPT_NORM_PLACE_PRE,
                                  .norm_kind = RAPT_NORM_KIND_RMS, .ffn_kind = RAPT_FFN_SWIGLU, .no_ffn_bias = true}};
    rapt_model *m = case_language_model_of(c);
    rapt_explanation *e = case_explain(m, TEXT, EXPLAIN(.lens = true, .threads = 1));
    assert_formulas(m, e, &(head){.stream = {"embedding", "blocks.0.norm2.sum", "blocks.1.norm2.sum"}, .rms = true,
                                  .norm = "norm.weight", .matrix = "output.weight", .divisor = 1.5, .cap = 2});
    rapt_explanation_free(e);
    rapt_model_free(m);
}

/* ---- promises ------------------------------------------------------------------------------------------------------ */

static char *json_of(const rapt_explanation *e)
{
    char *text = NULL;
    rapt_error err = {0};
    if (rapt_explanation_json(e, NULL, &text, NULL, &err))
        fail_msg("%s", err.message);
    return text;
}

static void test_threads(void **state)
{
    (void)state;
    rapt_model *m[] = {case_translator(), case_language_model()};
    for (size_t i = 0; i < 2; i++) {
        char *text[2];
        for (int threads = 1; threads <= 2; threads++) {
            rapt_explanation *e = case_explain(m[i], i ? "hello world" : "w1 w2 w3", EXPLAIN(.lens = true, .threads = threads));
            text[threads - 1] = json_of(e);
            rapt_explanation_free(e);
        }
        assert_non_null(strstr(text[0], "\"lens\":"));
        assert_string_equal(text[0], text[1]);
        free(text[0]);
        free(text[1]);
        rapt_model_free(m[i]);
    }
}

/* What else an explanation holds does not change; without the option there is no lens. */
static void test_only_on_request(void **state)
{
    (void)state;
    rapt_model *m = case_language_model();
    rapt_explanation *e[2] = {case_explain(m, TEXT, EXPLAIN(.threads = 1)),
                              case_explain(m, TEXT, EXPLAIN(.lens = true, .threads = 1))};
    assert_int_equal(rapt_explanation_lens_count(e[0]), 0);
    assert_int_equal(rapt_explanation_lens(e[0], 0, 0).prediction.count, 0);
    assert_int_equal(rapt_explanation_lens(e[1], 2, 4).prediction.count, 5);
    assert_int_equal(rapt_explanation_lens(e[1], 3, 0).prediction.count, 0);
    assert_int_equal(rapt_explanation_lens(e[1], 0, 5).prediction.count, 0);
    assert_int_equal(rapt_explanation_count(e[0]), rapt_explanation_count(e[1]));
    for (size_t i = 0; i < positions_of(e[0]); i++)
        assert_same_prediction(rapt_explanation_prediction(e[0], i), rapt_explanation_prediction(e[1], i));
    char *without = json_of(e[0]), *with = json_of(e[1]), *lens = strstr(with, ", \"lens\": ");
    assert_null(strstr(without, "\"lens\""));
    assert_non_null(lens);
    assert_memory_equal(without, with, (size_t)(lens - with)); /* it comes last, so nothing before it has moved */
    free(without);
    free(with);
    rapt_explanation_free(e[0]);
    rapt_explanation_free(e[1]);
    rapt_model_free(m);
}

static rapt_code admit(void *context, const rapt_explain_cost *cost, rapt_error *err)
{
    (void)err;
    *(rapt_explain_cost *)context = *cost;
    return RAPT_OK;
}

/* At each depth the last norm's rows, logits and probabilities. The tape's memory is used again for each depth. */
static void test_cost(void **state)
{
    (void)state;
    rapt_lm_config c = lm_variant(100);
    rapt_model *m = case_language_model_of(c);
    rapt_explain_cost cost[2];
    for (int lens = 0; lens < 2; lens++)
        rapt_explanation_free(case_explain(m, TEXT, EXPLAIN(.lens = lens, .threads = 1, .admit = admit, .context = &cost[lens])));
    const size_t depths = c.layers + 1, rows = 5, norm = c.block.norm_place == RAPT_NORM_PLACE_PRE ? c.block.d_model : 0;
    assert_int_equal(cost[0].lens, 0);
    assert_int_equal(cost[1].lens, depths * rows);
    assert_int_equal(cost[1].elements - cost[0].elements, depths * rows * (norm + 2 * MODEL_VOCAB));
    assert_int_equal(cost[1].kept, cost[0].kept);
    const size_t streams = depths * rows * c.block.d_model * sizeof(rapt_real);
    assert_in_range(cost[1].bytes - cost[0].bytes, streams + depths * rows * 5 * 12, streams + depths * rows * 100);
    rapt_model_free(m);
}

/* ---- as text and JSON ---------------------------------------------------------------------------------------------- */

static void test_json(void **state)
{
    (void)state;
    rapt_model *m = case_language_model();
    rapt_explanation *e = case_explain(m, TEXT, EXPLAIN(.lens = true, .threads = 1));
    char *text = json_of(e);
    json_t *o = json_loads(text, 0, NULL), *lens = json_object_get(o, "lens");
    assert_int_equal(json_array_size(lens), 3);
    for (size_t depth = 0; depth < 3; depth++) {
        json_t *row = json_array_get(lens, depth), *positions = json_object_get(row, "positions");
        assert_int_equal(json_integer_value(json_object_get(row, "blocks")), depth);
        assert_int_equal(json_array_size(positions), 5);
        for (size_t i = 0; i < 5; i++) {
            const rapt_explained_lens x = rapt_explanation_lens(e, depth, i);
            json_t *at = json_array_get(positions, i), *tokens = json_object_get(at, "tokens");
            json_t *next = json_object_get(at, "next"), *choice = json_object_get(at, "choice");
            assert_int_equal(json_array_size(tokens), x.prediction.count);
            assert_int_equal(json_integer_value(json_object_get(json_array_get(tokens, 1), "id")), x.prediction.ids[1]);
            assert_int_equal(json_integer_value(json_object_get(choice, "rank")), x.choice_rank);
            assert_near(x.choice_probability, json_real_value(json_object_get(choice, "probability")), 1e-8);
            assert_int_equal(next != NULL, x.prediction.has_label);
            assert_int_equal(json_integer_value(json_object_get(next, "rank")), x.label_rank);
            assert_near(x.prediction.loss, json_real_value(json_object_get(next, "loss")), 1e-8);
            if (depth == 2) {
                json_t *own = json_array_get(json_object_get(o, "predictions"), i);
                assert_true(json_equal(tokens, json_object_get(own, "tokens")));
            }
        }
    }
    json_decref(o);
    free(text);
    rapt_explanation_free(e);
    rapt_model_free(m);
}

/* For each depth and position ids, probabilities, and ranks and probabilities of choice and label, as page/lens.js reads them. */
static void test_page(void **state)
{
    (void)state;
    enum { DEPTHS = 3, ROWS = 5, TOP = 5, SIZE = 2 * TOP + 4 };
    static const char begin[] = "\"lens\":{\"depths\":3,\"positions\":5,\"top\":5,\"numbers\":\"";
    rapt_real wanted[DEPTHS * ROWS * SIZE];
    char *html = NULL;
    rapt_error err = {0};
    rapt_model *m = case_language_model();
    rapt_explanation *e = case_explain(m, TEXT, EXPLAIN(.lens = true, .threads = 1));
    for (size_t i = 0; i < DEPTHS * ROWS; i++) {
        const rapt_explained_lens x = rapt_explanation_lens(e, i / ROWS, i % ROWS);
        rapt_real *at = wanted + i * SIZE;
        for (size_t j = 0; j < TOP; j++) {
            at[j] = (rapt_real)x.prediction.ids[j];
            at[TOP + j] = (rapt_real)x.prediction.probabilities[j];
        }
        at[2 * TOP] = (rapt_real)x.choice_rank;
        at[2 * TOP + 1] = (rapt_real)x.choice_probability;
        at[2 * TOP + 2] = (rapt_real)x.label_rank;
        at[2 * TOP + 3] = x.prediction.has_label ? (rapt_real)math_exp(-x.prediction.loss) : 0;
    }
    if (rapt_explanation_page(e, NULL, &html, NULL, &err))
        fail_msg("%s", err.message);
    const char *lens = strstr(html, begin);
    assert_non_null(lens);
    char *letters = page_numbers(wanted, sizeof wanted / sizeof *wanted);
    assert_memory_equal(lens + strlen(begin), letters, strlen(letters));
    assert_non_null(strstr(lens, "\"texts\":{\""));
    free(letters);
    free(html);
    rapt_explanation_free(e);
    e = case_explain(m, TEXT, EXPLAIN(.threads = 1));
    assert_int_equal(rapt_explanation_page(e, NULL, &html, NULL, &err), RAPT_OK);
    assert_null(strstr(html, "\"lens\":{"));
    free(html);
    rapt_explanation_free(e);
    rapt_model_free(m);
}

static void assert_text(const rapt_explanation *e, rapt_explain_format f, const char *wanted, bool there)
{
    char *text = NULL;
    rapt_error err = {0};
    if (rapt_explanation_text(e, &f, &text, NULL, &err))
        fail_msg("%s", err.message);
    if ((strstr(text, wanted) != NULL) != there)
        fail_msg("%s \"%s\" in:\n%s", there ? "no" : "a", wanted, text);
    free(text);
}

static void test_text(void **state)
{
    (void)state;
    static const char *const names[] = {"lens"};
    const rapt_explain_options o = EXPLAIN(.lens = true, .threads = 1, .names = names, .name_count = 1);
    char wanted[200], *line = NULL;
    rapt_model *m = case_language_model();
    rapt_explanation *e = case_explain(m, TEXT, o);
    const rapt_explained_lens x = rapt_explanation_lens(e, 1, 3);
    const bool same = x.prediction.label == rapt_explanation_prediction(e, 3).ids[0];
    snprintf(wanted, sizeof wanted, "\n       1  %6zu  %.6f  %6zu  %.6f  ", x.choice_rank, x.choice_probability, x.label_rank,
             same ? x.choice_probability : exp(-x.prediction.loss));
    assert_text(e, EXPLAIN_FORMAT(.position = 3), wanted, true);
    assert_text(e, EXPLAIN_FORMAT(.position = 3), "\nafter token 3, l: the model's choice is ", true);
    assert_text(e, EXPLAIN_FORMAT(.position = 3), ", the next token o\n", true);
    assert_text(e, EXPLAIN_FORMAT(), "\nafter token 4, o: the model's choice is ", true);
    assert_text(e, EXPLAIN_FORMAT(), "  next  ", false);
    assert_text(e, EXPLAIN_FORMAT(.all_positions = true), "\nafter token 0, h: ", true);
    assert_text(e, EXPLAIN_FORMAT(), "Likeliest tokens", false);
    assert_int_equal(rapt_explanation_text(e, NULL, &line, NULL, NULL), RAPT_OK);
    for (const char *at = line; *at; at += strcspn(at, "\n") + 1)
        assert_in_range(strcspn(at, "\n"), 0, 80);
    free(line);
    rapt_explanation_free(e);
    rapt_model_free(m);
}

static void test_a_lens_that_was_not_asked_for(void **state)
{
    (void)state;
    static const char *const names[] = {"lens"};
    rapt_model *m = case_language_model();
    rapt_error err = {0};
    assert_null(rapt_explanation_new(m, TEXT, strlen(TEXT), &EXPLAIN(.names = names, .name_count = 1), &err));
    assert_int_equal(err.code, RAPT_ERR_NOT_FOUND);
    assert_string_equal(err.message, "\"lens\": there is a logit lens on request only (--lens)");
    rapt_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_last_depth_of_language_models), cmocka_unit_test(test_last_depth_of_other_heads),
        cmocka_unit_test(test_last_depth_of_translators),     cmocka_unit_test(test_post_norm_translation),
        cmocka_unit_test(test_pre_norm_and_tied),             cmocka_unit_test(test_rms_norm_and_rotary),
        cmocka_unit_test(test_threads),                       cmocka_unit_test(test_only_on_request),
        cmocka_unit_test(test_cost),                          cmocka_unit_test(test_json),
        cmocka_unit_test(test_page),
        cmocka_unit_test(test_text),                          cmocka_unit_test(test_a_lens_that_was_not_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
