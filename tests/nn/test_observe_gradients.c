/* tests/nn/test_observe_gradients.c: an observed pass beside one that nobody observes: the same logits and gradients within a
 * bound, dropout included; gradients are handed over once each, in the order of the backward pass; and observation ends. That the
 * gradients of steps are derivatives is the business of tests/ops/double_observe.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "nn/observed.h"
#include "ops/deferred.h"

#define BOUND 1e-5 /* of the largest number of a tensor: observed against fused */

static void start(rapt_tape *t, const subject *s, bool training)
{
    rapt_params_zero_grad(s->params);
    rapt_tape_begin(t, (rapt_pass){.record = true, .training = training, .seed = 5, .step = 8});
}

static void walk_back(rapt_tape *t, rapt_tensor *loss, const char *what)
{
    rapt_error err = {0};
    if (rapt_backward(t, loss, &err))
        fail_msg("%s: %s", what, err.message);
}

static double largest(const rapt_real *x, size_t n)
{
    double most = 0;
    for (size_t i = 0; i < n; i++)
        most = fmax(most, fabs((double)x[i]));
    return most;
}

static void close_to(const char *what, const char *name, const rapt_real *want, const rapt_real *got, size_t n, double bound)
{
    for (size_t i = 0; i < n; i++)
        if (!(fabs((double)got[i] - (double)want[i]) <= bound))
            fail_msg("%s: %s[%zu] is %.9g, fused %.9g; %g are allowed", what, name, i, (double)got[i], (double)want[i], bound);
}

/* Where row `row` of a padded [batch, time, ...] is in x; NULL where x has no padding. */
static const rapt_real *row_in(const rapt_tensor *x, size_t row)
{
    size_t n = rapt_tensor_features(x), b = row / TIME, at = row % TIME;
    if (!x->ragged)
        return x->data + row * n;
    return x->ragged->start[b] + at < x->ragged->start[b + 1] ? x->data + (x->ragged->start[b] + at) * n : NULL;
}

static void logits_equal_the_fused_ones(void **state)
{
    (void)state;
    rapt_tape *fused = model_tape(NULL, 2), *t = model_tape(NULL, 2);
    observer r = {0};
    rapt_observe(t, observer_keep, &r);
    for (size_t i = 0; i < SUBJECTS; i++) {
        subject s = subject_new(i);
        rapt_tape_begin(fused, (rapt_pass){0});
        rapt_tape_begin(t, (rapt_pass){0});
        rapt_tensor *want = subject_logits(fused, &s), *got = subject_logits(t, &s);
        subject_check(t, s.what);
        size_t n = rapt_tensor_features(want), rows = 0;
        assert_true(got->ndim == 3 && !got->ragged && (want->ragged != NULL) == (s.pair != NULL));
        for (size_t row = 0; row < BATCH * TIME; row++) {
            const rapt_real *x = row_in(want, row);
            if (x)
                close_to(s.what, "logits", x, got->data + row * n, n, BOUND * largest(want->data, rapt_tensor_size(want)));
            rows += x != NULL;
        }
        assert_int_equal(rows, rapt_tensor_rows(want));
        subject_free(&s);
    }
    observer_free(&r);
    rapt_tape_free(fused);
    rapt_tape_free(t);
}

/* The same model twice, one of them observed, with and without dropout. */
static void check_gradients(rapt_tape *fused, rapt_tape *t, size_t i, bool training)
{
    subject a = subject_new(i), b = subject_new(i);
    tape_defer_gradients(fused, true);
    start(fused, &a, training);
    rapt_tensor *want = subject_loss(fused, &a);
    walk_back(fused, want, a.what);
    start(t, &b, training);
    rapt_tensor *got = subject_loss(t, &b);
    walk_back(t, got, b.what);
    close_to(a.what, "loss", want->data, got->data, 1, BOUND * fabs((double)want->data[0]));
    double most = 0;
    for (size_t p = 0; p < rapt_params_count(a.params); p++) {
        rapt_param *w = rapt_params_at(a.params, p);
        if (!w->buffer && !deferred_settle(fused, w, NULL))
            most = fmax(most, largest(w->value.grad, rapt_tensor_size(&w->value)));
    }
    assert_true(most > 0);
    for (size_t p = 0; p < rapt_params_count(a.params); p++) {
        const rapt_tensor *w = &rapt_params_at(a.params, p)->value, *v = &rapt_params_at(b.params, p)->value;
        if (!rapt_params_at(a.params, p)->buffer)
            close_to(a.what, w->name, w->grad, v->grad, rapt_tensor_size(w), BOUND * most);
    }
    subject_free(&a);
    subject_free(&b);
}

static void parameters_learn_the_same(void **state)
{
    (void)state;
    rapt_tape *fused = model_tape(NULL, 2), *t = model_tape(NULL, 2);
    observer r = {0};
    rapt_observe(t, observer_keep, &r);
    for (size_t i = 0; i < 2 * SUBJECTS; i++) {
        check_gradients(fused, t, i / 2, i % 2);
        observer_free(&r);
    }
    rapt_tape_free(fused);
    rapt_tape_free(t);
}

/* ---- gradients of steps ------------------------------------------------------------------------------------- */

static bool ends_with(const char *name, const char *end)
{
    size_t n = strlen(name), m = strlen(end);
    return n >= m && strcmp(name + n - m, end) == 0;
}

/* Copies to look at, and positions that are no parameters. */
static bool has_gradient(const observed *k, const subject *s)
{
    bool learned = (s->lm ? s->lm->config.positions : s->pair->config.positions) == RAPT_POSITIONS_LEARNED;
    return !ends_with(k->name, ".masked") && strcmp(k->name, "probabilities") != 0 &&
           (learned || !ends_with(k->name, "positions"));
}

/* Every step's once, the last first, then every parameter's once. */
static void check_order(const observer *r, const subject *s)
{
    size_t steps = 0, parameters = 0;
    while (steps < r->count && !r->steps[steps].gradient)
        steps++;
    size_t at = steps;
    for (size_t i = steps; i-- > 0;) {
        const observed *step = &r->steps[i], *back = &r->steps[at];
        if (!has_gradient(step, s))
            continue;
        assert_true(at < r->count && back->gradient && back->given == step->given);
        assert_string_equal(back->name, step->name);
        assert_string_equal(back->formula, step->formula);
        assert_string_equal(back->axes, step->axes);
        at++;
    }
    assert_string_equal(r->steps[at].name, s->pair && s->pair->config.tied ? "encoder.embedding.weight"
                                           : s->lm && s->lm->config.tied ? "embedding.weight"
                                           : s->pair                      ? "decoder.output.weight"
                                                                          : "output.weight");
    for (size_t i = 0; i < rapt_params_count(s->params); i++) {
        const rapt_param *p = rapt_params_at(s->params, i);
        size_t found = 0;
        for (size_t j = at; j < r->count; j++)
            if (r->steps[j].given == &p->value) {
                assert_string_equal(r->steps[j].name, p->value.name);
                assert_string_equal(r->steps[j].axes, p->value.ndim == 1 ? "feature" : "row column");
                assert_string_equal(r->steps[j].formula, "");
                model_same(p->value.name, p->value.grad, r->steps[j].values, rapt_tensor_size(&p->value));
                found++;
            }
        assert_int_equal(found, !p->buffer);
        parameters += found;
    }
    assert_int_equal(at + parameters, r->count);
}

/* A pass that is only observed forward keeps its gradients by itself: they are those that were handed over. */
static void check_kept(rapt_tape *t, const observer *r, const subject *s)
{
    observer forward = {0};
    rapt_params_zero_grad(s->params);
    rapt_observe(t, observer_keep, &forward);
    rapt_tape_begin(t, (rapt_pass){.record = true, .training = true, .seed = 5, .step = 8, .keep_gradients = true});
    rapt_tensor *loss = subject_loss(t, s);
    rapt_observe(t, NULL, NULL);
    walk_back(t, loss, s->what);
    size_t compared = 0;
    for (size_t i = 0; i < r->count; i++)
        for (size_t j = 0; r->steps[i].gradient && j < forward.count; j++)
            if (strcmp(r->steps[i].name, forward.steps[j].name) == 0) {
                const rapt_tensor *x = forward.steps[j].given;
                assert_true(rapt_tensor_same_shape(x, &r->steps[i].tensor) && x->grad && x->grad_filled);
                model_same(r->steps[i].name, x->grad, r->steps[i].values, rapt_tensor_size(x));
                compared++;
            }
    assert_true(compared >= 20);
    observer_free(&forward);
}

static void gradients_come_back_in_order(void **state)
{
    (void)state;
    rapt_tape *t = model_tape(NULL, 2);
    for (size_t i = 0; i < SUBJECTS; i++) {
        subject s = subject_new(i);
        observer r = {0};
        rapt_observe(t, observer_keep, &r);
        start(t, &s, true);
        walk_back(t, subject_loss(t, &s), s.what);
        check_order(&r, &s);
        check_kept(t, &r, &s);
        observer_free(&r);
        subject_free(&s);
    }
    rapt_tape_free(t);
}

/* Every number that is handed over. */
static void same_bits_for_any_threads(void **state)
{
    (void)state;
    for (size_t i = 0; i < SUBJECTS; i++) {
        observer r[2] = {0};
        for (size_t k = 0; k < 2; k++) {
            subject s = subject_new(i);
            rapt_tape *t = model_tape(NULL, k ? 3 : 1);
            rapt_observe(t, observer_keep, &r[k]);
            start(t, &s, true);
            walk_back(t, subject_loss(t, &s), s.what);
            rapt_tape_free(t);
            subject_free(&s);
        }
        assert_int_equal(r[0].count, r[1].count);
        for (size_t j = 0; j < r[0].count; j++)
            model_same(r[0].steps[j].name, r[0].steps[j].values, r[1].steps[j].values,
                       rapt_tensor_size(&r[0].steps[j].tensor));
        observer_free(&r[0]);
        observer_free(&r[1]);
    }
}

/* ---- beginning and end -------------------------------------------------------------------------------------- */

static void observation_ends(void **state)
{
    (void)state;
    rapt_tape *never = model_tape(NULL, 2), *t = model_tape(NULL, 2);
    for (size_t i = 0; i < SUBJECTS; i++) {
        subject a = subject_new(i), b = subject_new(i);
        observer r = {0};
        rapt_observe(t, observer_keep, &r);
        start(t, &b, true);
        walk_back(t, subject_loss(t, &b), b.what);
        size_t count = r.count;
        rapt_observe(t, NULL, NULL);
        start(t, &b, true);
        rapt_tensor *got = subject_loss(t, &b);
        walk_back(t, got, b.what);
        assert_int_equal(r.count, count);
        start(never, &a, true);
        rapt_tensor *want = subject_loss(never, &a);
        walk_back(never, want, a.what);
        model_same("loss", want->data, got->data, 1);
        for (size_t p = 0; p < rapt_params_count(a.params); p++) {
            const rapt_tensor *w = &rapt_params_at(a.params, p)->value, *v = &rapt_params_at(b.params, p)->value;
            if (!rapt_params_at(a.params, p)->buffer && w->grad_filled)
                model_same(w->name, w->grad, v->grad, rapt_tensor_size(w));
        }
        observer_free(&r);
        subject_free(&a);
        subject_free(&b);
    }
    rapt_tape_free(never);
    rapt_tape_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logits_equal_the_fused_ones),
        cmocka_unit_test(parameters_learn_the_same),
        cmocka_unit_test(gradients_come_back_in_order),
        cmocka_unit_test(same_bits_for_any_threads),
        cmocka_unit_test(observation_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
