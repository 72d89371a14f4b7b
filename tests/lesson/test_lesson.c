/* tests/lesson/test_lesson.c: the lesson's C part, as the page calls it: a run by steps leaves the bytes of `rapt train`; what it
 * tells of a sentence is what rapt_explanation has; what cannot be is refused. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "options.h"
#include "train/train_folder.h"

#include "lesson/lesson.h"

#include "rapt/explain.h"
#include "rapt/heads.h"
#include "rapt/train.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char RECIPE[] = "task: translation\ndata:\n  pairs: en-fr.tsv\n  limit: 300\n  validation_fraction: 0.1\n"
                             "  max_len: 16\ntokenizer:\n  type: words\n  detokenize: fr\nmodel:\n  layers: 1\n  d_model: 16\n"
                             "  heads: 2\n  ffn: 32\n  max_positions: 32\ntrain:\n  steps: 20\n  batch: 8\n  report_every: 5\n"
                             "  checkpoint_every: 1000\n";
static const char DATA[] = RAPT_SOURCE_DIR "/data";

static json_t *read_json(char *text)
{
    json_error_t why;
    assert_non_null(text);
    json_t *o = json_loads(text, 0, &why);
    free(text);
    assert_non_null(o);
    return o;
}

static json_t *good(char *text)
{
    json_t *o = read_json(text);
    assert_string_equal(json_string_value(json_object_get(o, "error")) ? json_string_value(json_object_get(o, "error")) : "", "");
    return o;
}

static void refused(char *text, const char *why)
{
    json_t *o = read_json(text);
    const char *error = json_string_value(json_object_get(o, "error"));
    if (!error || !strstr(error, why))
        fail_msg("%s: not about %s", error ? error : "no error", why);
    json_decref(o);
}

static double number(const json_t *o, const char *name)
{
    assert_true(json_is_number(json_object_get(o, name)));
    return json_number_value(json_object_get(o, name));
}

static lesson *started(const char *out)
{
    lesson *l = lesson_new();
    json_t *o = good(lesson_start(l, RECIPE, DATA, out));
    assert_int_equal(number(o, "steps"), 20);
    assert_true(number(o, "pairs") + number(o, "validation") == 300);
    json_decref(o);
    return l;
}

static void steps(lesson *l, int count)
{
    for (int i = 0; i < count; i++)
        json_decref(good(lesson_step(l)));
}

/* The same run by rapt_train, which `rapt train --max-steps` is. */
static void train_to(uint64_t step, const char *out)
{
    rapt_error err = {0};
    rapt_recipe r;
    assert_int_equal(rapt_recipe_parse(RECIPE, strlen(RECIPE), DATA, &r, &err), RAPT_OK);
    rapt_train_options o = rapt_train_options_default();
    o.recipe = &r;
    o.out = out;
    o.max_steps = step;
    assert_int_equal(rapt_train(&o, &err), RAPT_OK);
    rapt_recipe_free(&r);
}

static void a_paused_run_is_rapt_train(void **state)
{
    (void)state;
    lesson *l = started("lesson");
    for (int i = 0; i < 7; i++) {
        json_decref(good(lesson_step(l)));
        json_decref(good(lesson_look(l, "Where are my keys?", "")));
        json_decref(good(lesson_draw(l, "Where are my keys?", 1, 0, 3, i)));
    }
    json_decref(good(lesson_save(l)));
    train_to(7, "native");
    assert_same_bytes("lesson", "native", "model.safetensors", 0, 0);
    steps(l, 3); /* a pause ends nothing */
    json_decref(good(lesson_save(l)));
    lesson_free(l);
    train_to(10, "later");
    assert_same_bytes("lesson", "later", "model.safetensors", 0, 0);
}

static void steps_tell_their_losses(void **state)
{
    (void)state;
    lesson *l = started("losses");
    for (int i = 1; i <= 20; i++) {
        json_t *o = good(lesson_step(l));
        assert_int_equal(number(o, "step"), i);
        assert_true(number(o, "loss") > 0 && number(o, "grad_norm") > 0 && number(o, "lr") > 0);
        assert_int_equal(json_is_null(json_object_get(o, "val_loss")), i < 5);
        assert_int_equal(json_is_true(json_object_get(o, "over")), i == 20);
        json_decref(o);
    }
    json_t *o = good(lesson_step(l)); /* one more changes nothing */
    assert_true(number(o, "step") == 20 && json_is_true(json_object_get(o, "over")));
    json_decref(o);
    lesson_free(l);
}

static void a_look_is_an_explanation(void **state)
{
    (void)state;
    lesson *l = started("look");
    json_decref(good(lesson_look(l, "Where are my keys?", "où sont mes clés ?"))); /* which the steps make old */
    steps(l, 2);
    json_decref(good(lesson_save(l)));
    json_t *o = good(lesson_look(l, "Where are my keys?", "où sont mes clés ?")), *weights = json_object_get(o, "weights");
    rapt_error err = {0};
    rapt_model *m = rapt_model_load("look", NULL, &err);
    const rapt_explain_options options = EXPLAIN(.target = rapt_text_of("où sont mes clés ?"), .gradients = true);
    rapt_explanation *e = rapt_explanation_new(m, "Where are my keys?", 18, &options, &err);
    assert_non_null(e);
    assert_int_equal(json_array_size(weights), 3);
    for (size_t i = 0; i < 3; i++) {
        const json_t *w = json_array_get(weights, i), *values = json_object_get(w, "values");
        const rapt_intermediate *x = rapt_explanation_find(e, json_string_value(json_object_get(w, "name")), false);
        assert_non_null(x);
        assert_int_equal(json_array_size(values), x->shape[1] * x->shape[2] * x->shape[3]);
        assert_int_equal(number(w, "columns"), x->shape[3]);
        for (size_t j = 0; j < json_array_size(values); j++)
            assert_true((rapt_real)json_real_value(json_array_get(values, j)) == x->values[j]);
    }
    assert_true(fabs(number(o, "loss") - rapt_explanation_loss(e)) < 1e-6);
    assert_string_equal(json_string_value(json_array_get(json_object_get(o, "target"), 0)), "<bos>");
    assert_string_equal(json_string_value(json_array_get(json_object_get(o, "source"), 0)), "where");
    json_decref(o);

    /* At temperature 1 the softmax; at 2 its root; with top-k 2 the shares of the first two. */
    const rapt_explained_prediction p = rapt_explanation_prediction(e, 1);
    double first[3][2];
    for (int i = 0; i < 3; i++) {
        json_t *next = good(lesson_next(l, 1, i == 1 ? 2 : 1, i == 2 ? 2 : 0, 2)), *tokens = json_object_get(next, "tokens");
        for (size_t j = 0; j < 2; j++)
            first[i][j] = json_real_value(json_array_get(json_array_get(tokens, j), 1));
        json_decref(next);
    }
    assert_true(fabs(first[0][0] - p.probabilities[0]) < 1e-6 && fabs(first[0][1] - p.probabilities[1]) < 1e-6);
    assert_true(fabs(first[1][0] / first[1][1] - sqrt(first[0][0] / first[0][1])) < 1e-6);
    assert_true(fabs(first[2][0] + first[2][1] - 1) < 1e-9 && fabs(first[2][0] / first[2][1] - first[0][0] / first[0][1]) < 1e-6);
    rapt_explanation_free(e);
    rapt_model_free(m);

    char *page = lesson_page(l, "Where are my keys?", "", "lesson");
    assert_non_null(page);
    assert_memory_equal(page, "<!DOCTYPE html>", 15);
    free(page);
    lesson_free(l);
}

/* An explanation of a trainer's model is freed before the next step (train.h). */
static void a_look_ends_with_the_next_step(void **state)
{
    (void)state;
    lesson *l = started("ends");
    json_decref(good(lesson_look(l, "Where are my keys?", "")));
    json_decref(good(lesson_next(l, 0, 1, 0, 5)));
    steps(l, 1);
    refused(lesson_next(l, 0, 1, 0, 5), "no token has position 0");
    json_decref(good(lesson_look(l, "Where are my keys?", "")));
    json_decref(good(lesson_next(l, 0, 1, 0, 5)));
    lesson_free(l);
}

static void draws_are_of_their_seed(void **state)
{
    (void)state;
    lesson *l = started("draws");
    char *one = lesson_draw(l, "Where are my keys?", 1.5, 0, 4, 1), *again = lesson_draw(l, "Where are my keys?", 1.5, 0, 4, 1);
    char *other = lesson_draw(l, "Where are my keys?", 1.5, 0, 4, 2);
    assert_string_equal(one, again);
    assert_string_not_equal(one, other);
    json_t *o = good(one);
    assert_int_equal(json_array_size(json_object_get(o, "texts")), 4);
    json_decref(o);
    free(again);
    free(other);
    lesson_free(l);
}

/* What is told without a head is what a saved model tells without it; beside it stands what the whole model has of the same
 * tokens. The steps after it know nothing of it. */
static void heads_are_off_for_looks_alone(void **state)
{
    (void)state;
    static const char *const off[] = {"decoder.0.cross_attention.1", "encoder.0.attention.0"};
    lesson *l = started("heads");
    rapt_error err = {0};
    steps(l, 4);
    json_decref(good(lesson_save(l)));
    rapt_model *m = rapt_model_load("heads", NULL, &err), *less = rapt_model_without_heads(m, off, 2, &err);
    const rapt_explain_options given = EXPLAIN(.target = rapt_text_of("où sont mes clés ?"));
    rapt_explanation *want = rapt_explanation_new(less, "Where are my keys?", 18, &given, &err);
    rapt_explanation *whole = rapt_explanation_new(m, "Where are my keys?", 18, &given, &err);
    assert_true(want && whole);
    json_t *before = good(lesson_look(l, "Where are my keys?", "où sont mes clés ?"));
    assert_null(json_object_get(before, "whole"));
    json_decref(good(lesson_heads(l, "decoder.0.cross_attention.1 encoder.0.attention.0")));
    json_t *o = good(lesson_look(l, "Where are my keys?", "où sont mes clés ?"));
    const json_t *all = json_object_get(o, "whole");
    assert_true(number(all, "loss") == number(before, "loss") && number(o, "loss") != number(before, "loss"));
    for (size_t i = 0; i < rapt_explanation_sequence(want, 1).count; i++) {
        const json_t *loss = json_array_get(json_object_get(o, "losses"), i);
        assert_true(fabs(json_real_value(loss) - rapt_explanation_prediction(want, i).loss) < 1e-6);
    }
    json_t *next = good(lesson_next(l, 1, 1, 0, 1)), *first = json_array_get(json_object_get(next, "tokens"), 0);
    const rapt_explained_prediction p = rapt_explanation_prediction(want, 1);
    const rapt_intermediate *x = rapt_explanation_find(whole, "probabilities", false);
    assert_true(fabs(json_real_value(json_array_get(first, 1)) - p.probabilities[0]) < 1e-6);
    const double in_whole = (double)x->values[x->shape[2] + (size_t)p.ids[0]];
    assert_true(fabs(json_real_value(json_array_get(first, 2)) - in_whole) < 1e-6);
    json_decref(before);
    json_decref(o);
    json_decref(next);

    char *drawn = lesson_draw(l, "Where are my keys?", 1.5, 0, 4, 1), *page = lesson_page(l, "Where are my keys?", "", "lesson");
    assert_non_null(strstr(page, "\"heads_off\":[\"encoder.0.attention.0\",\"decoder.0.cross_attention.1\"]"));
    refused(lesson_heads(l, "decoder.0.cross_attention.7"), "has heads 0 to 1");
    char *still = lesson_draw(l, "Where are my keys?", 1.5, 0, 4, 1);
    json_decref(good(lesson_heads(l, "")));
    char *on = lesson_draw(l, "Where are my keys?", 1.5, 0, 4, 1);
    assert_string_equal(drawn, still);
    assert_string_not_equal(drawn, on);
    free(drawn);
    free(still);
    free(on);
    free(page);
    rapt_explanation_free(want);
    rapt_explanation_free(whole);
    rapt_model_free(less);
    rapt_model_free(m);

    json_decref(good(lesson_heads(l, "decoder.0.cross_attention.1")));
    for (int i = 0; i < 3; i++) {
        json_decref(good(lesson_step(l)));
        json_decref(good(lesson_look(l, "Where are my keys?", "")));
    }
    json_decref(good(lesson_save(l)));
    train_to(7, "without looks");
    assert_same_bytes("heads", "without looks", "model.safetensors", 0, 0);
    json_decref(good(lesson_start(l, RECIPE, DATA, "heads again")));
    o = good(lesson_look(l, "Where are my keys?", ""));
    assert_null(json_object_get(o, "whole"));
    json_decref(o);
    lesson_free(l);
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    lesson *l = lesson_new();
    refused(lesson_step(l), "no training run");
    refused(lesson_save(l), "no training run");
    refused(lesson_look(l, "a", ""), "no training run");
    refused(lesson_draw(l, "a", 1, 0, 1, 1), "no training run");
    refused(lesson_heads(l, ""), "no training run");
    refused(lesson_next(l, 0, 1, 0, 5), "no training run");
    refused(lesson_page(l, "a", "", "x"), "no training run");
    refused(lesson_start(l, "task: translation\nmodel:\n  laiers: 2\n", DATA, "none"), "model.laiers");
    refused(lesson_start(l, "task: language_model\n", DATA, "none"), "task must be translation");
    lesson_free(l);
    l = started("refused");
    refused(lesson_save(l), "after the first step");
    refused(lesson_look(l, "", ""), "empty");
    refused(lesson_next(l, 0, 1, 0, 5), "no token has position 0");
    json_decref(good(lesson_look(l, "Hello.", "")));
    refused(lesson_next(l, -1, 1, 0, 5), "position -1");
    refused(lesson_next(l, 99, 1, 0, 5), "position 99");
    refused(lesson_next(l, 0, 0, 0, 5), "temperature 0");
    json_t *cold = good(lesson_next(l, 0, 1e-300, 0, 50)); /* all of it is the first one's */
    assert_int_equal(json_array_size(json_object_get(cold, "tokens")), 50);
    assert_true(json_real_value(json_array_get(json_array_get(json_object_get(cold, "tokens"), 0), 1)) == 1);
    json_decref(cold);
    char text[1000];
    memset(text, 0, sizeof text);
    for (size_t i = 0; i + 2 < sizeof text; i += 2)
        memcpy(text + i, "a ", 2);
    refused(lesson_look(l, text, ""), "the model takes 16");
    lesson_free(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {IN_FOLDER(a_paused_run_is_rapt_train), IN_FOLDER(steps_tell_their_losses),
                                       IN_FOLDER(a_look_is_an_explanation), IN_FOLDER(a_look_ends_with_the_next_step),
                                       IN_FOLDER(draws_are_of_their_seed), IN_FOLDER(heads_are_off_for_looks_alone),
                                       IN_FOLDER(what_cannot_be_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
