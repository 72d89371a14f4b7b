/* tests/ops/test_attention.c: the fused attention against its steps, within the bound that rapt/tape.h states, and the
 * weights that it gives on request.
 * labels: not-raced arm-first */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "rapt/nn.h"

#include "base/rng.h"

#include <math.h>
#include <string.h>

#define BATCH 2
#define HEADS 3
#define MOST 150 /* queries: three tiles of the fused attention */

typedef struct sizes {
    size_t queries, keys, d, dv;
} sizes;

typedef struct run {
    rapt_tape *t;
    sizes s;
    rapt_mask mask;
    double p;
    rapt_attention_scores scores;
    rapt_tensor *q, *k, *v;
} run;

static rapt_tensor *input(run *r, size_t time, size_t width, uint64_t key)
{
    rapt_tensor *x = rapt_tape_tensor(r->t, 3, (size_t[]){BATCH, time, width}, true);
    for (size_t i = 0; i < rapt_tensor_size(x); i++)
        x->data[i] = (rapt_real)(2 * rng_normal(key, i));
    return x;
}

static void begin(run *r)
{
    rapt_tape_begin(r->t, (rapt_pass){.record = true, .training = true, .seed = 3});
    r->q = input(r, r->s.queries, HEADS * r->s.d, 1);
    r->k = input(r, r->s.keys, HEADS * r->s.d, 2);
    r->v = input(r, r->s.keys, HEADS * r->s.dv, 3);
}

static rapt_tensor *fused(run *r, rapt_attention_capture wish, rapt_tensor **weights)
{
    begin(r);
    const rapt_op_attention_options options = {.heads = HEADS, .mask = &r->mask, .scores = r->scores, .dropout = r->p,
                                               .capture = wish, .weights = weights};
    return rapt_op_attention(r->t, r->q, r->k, r->v, &options);
}

/* Attention with the small operations; *before and *after are the weights before and after dropout. */
static rapt_tensor *steps(run *r, rapt_tensor **before, rapt_tensor **after)
{
    begin(r);
    rapt_tensor *q = rapt_op_split_heads(r->t, r->q, HEADS), *k = rapt_op_split_heads(r->t, r->k, HEADS);
    double scale = r->scores.scale != 0 ? r->scores.scale : 1 / sqrt((double)r->s.d);
    rapt_tensor *scores = rapt_op_scale(r->t, rapt_op_matmul(r->t, q, k, true), scale);
    *before = rapt_op_masked_softmax(r->t, scores, &r->mask);
    *after = rapt_op_dropout(r->t, *before, r->p);
    return rapt_op_concat_heads(r->t, rapt_op_matmul(r->t, *after, rapt_op_split_heads(r->t, r->v, HEADS), false));
}

static double largest(const rapt_real *x, size_t n)
{
    double most = 0;
    for (size_t i = 0; i < n; i++)
        most = fmax(most, fabs((double)x[i]));
    return most;
}

typedef struct kept {
    rapt_real x[BATCH * HEADS * MOST * MOST];
    size_t count;
} kept;

static void keep(kept *to, const rapt_tensor *x)
{
    to->count = rapt_tensor_size(x);
    assert_true(to->count <= sizeof to->x / sizeof *to->x);
    memcpy(to->x, x->data, to->count * sizeof *to->x);
}

static void check_near(const char *what, const kept *want, const rapt_tensor *got, double bound)
{
    assert_int_equal(want->count, rapt_tensor_size(got));
    for (size_t i = 0; i < want->count; i++) {
        double error = fabs((double)want->x[i] - (double)got->data[i]);
        if (!(error <= bound) || (want->x[i] == 0) != (got->data[i] == 0))
            fail_msg("%s[%zu]: %g, the steps say %g, %g apart, %g are allowed", what, i, (double)got->data[i],
                     (double)want->x[i], error, bound);
    }
}

static void check_run(run *r)
{
    static kept output, before, after;
    rapt_tensor *w_before, *w_after, *weights = NULL;
    rapt_tensor *y = steps(r, &w_before, &w_after);
    assert_int_equal(rapt_tape_error(r->t)->code, RAPT_OK);
    keep(&output, y);
    keep(&before, w_before);
    keep(&after, w_after);
    double bound = 8 * (double)(r->s.d + r->s.keys) * 0x1p-24;
    double of_values = bound * largest(r->v->data, rapt_tensor_size(r->v)) / (1 - r->p);
    y = fused(r, RAPT_CAPTURE_NONE, &weights);
    assert_null(weights);
    check_near("output", &output, y, of_values);
    y = fused(r, RAPT_CAPTURE_BEFORE_DROPOUT, &weights);
    assert_false(weights->requires_grad);
    check_near("weights before dropout", &before, weights, bound);
    y = fused(r, RAPT_CAPTURE_AFTER_DROPOUT, &weights);
    check_near("weights after dropout", &after, weights, bound / (1 - r->p));
    check_near("output beside the weights", &output, y, of_values);
    assert_null(fused(r, RAPT_CAPTURE_AFTER_DROPOUT, NULL)->grad);
}

static void fused_attention_equals_its_steps(void **state)
{
    static const sizes all[] = {{1, 1, 1, 1}, {3, 5, 4, 4}, {7, 33, 16, 5}, {70, 64, 33, 17}, {64, 70, 8, 31},
                                {MOST, MOST, 33, 65}};
    static int32_t lens[BATCH] = {5, 1}, lens_2d[BATCH * MOST];
    static uint8_t keep_flags[BATCH * MOST * MOST];
    (void)state;
    for (size_t i = 0; i < sizeof lens_2d / sizeof *lens_2d; i++)
        lens_2d[i] = (int32_t)rng_below(4, i, 71);
    for (size_t i = 0; i < sizeof keep_flags; i++)
        keep_flags[i] = rng_uniform(5, i) < 0.6;
    const rapt_mask masks[] = {{0}, {.valid_lens = lens}, {.valid_lens = lens_2d, .per_query = true}, {.causal = true},
                               {.causal = true, .past = 4}, {.causal = true, .window = 3},
                               {.causal = true, .past = 4, .window = 60}, {.valid_lens = lens, .causal = true, .window = 2},
                               {.keep = keep_flags},
                               {.keep = keep_flags, .keep_per_query = true},
                               {.valid_lens = lens_2d, .per_query = true, .causal = true, .keep = keep_flags}};
    rapt_tape *t = rapt_tape_new(&(rapt_compute){.threads = 2}, NULL);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (size_t m = 0; m < sizeof masks / sizeof *masks; m++)
            for (int drop = 0; drop < 2; drop++)
                if (masks[m].past == 0 || drop == 0) /* the steps don't know of positions before */
                    check_run(&(run){.t = t, .s = all[i], .mask = masks[m], .p = drop ? 0.4 : 0,
                                     .scores.scale = m % 2 ? 0 : 0.3});
    rapt_tape_free(t);
}

/* Several tiles of queries, of which each attends to more keys than the one before, and heads of several panels. */
static void gradients_equal_those_of_the_steps(void **state)
{
    static kept want[3];
    (void)state;
    run r = {.t = rapt_tape_new(&(rapt_compute){.threads = 2}, NULL), .s = {MOST, MOST, 33, 65}, .mask = {.causal = true}};
    for (int is_fused = 0; is_fused < 2; is_fused++) {
        rapt_tensor *before, *after, *y = is_fused ? fused(&r, RAPT_CAPTURE_NONE, NULL) : steps(&r, &before, &after);
        rapt_backward(r.t, rapt_op_sum(r.t, rapt_op_multiply(r.t, y, input(&r, MOST, HEADS * r.s.dv, 9))), NULL);
        assert_int_equal(rapt_tape_error(r.t)->code, RAPT_OK);
        const rapt_tensor *const inputs[] = {r.q, r.k, r.v};
        for (size_t i = 0; i < 3; i++) {
            rapt_tensor gradient = *inputs[i];
            gradient.data = inputs[i]->grad;
            if (is_fused)
                check_near("gradient", &want[i], &gradient, 1e-5 * largest(want[i].x, want[i].count));
            else
                keep(&want[i], &gradient);
        }
    }
    rapt_tape_free(r.t);
}

/* A module files its weights under its name as long as somebody watches. */
static void watched_weights_are_filed(void **state)
{
    rapt_params *set = rapt_params_new(1, NULL);
    rapt_tape *t = rapt_tape_new(NULL, NULL);
    rapt_encoder_block m;
    rapt_block_config c = {.d_model = 6, .heads = 2, .ffn = 5};
    (void)state;
    rapt_encoder_block_init(&m, set, "encoder.0.", &c);
    for (int watch = 0; watch < 2; watch++) {
        rapt_tape_capture_attention(t, watch ? RAPT_CAPTURE_BEFORE_DROPOUT : RAPT_CAPTURE_NONE);
        rapt_tape_begin(t, (rapt_pass){0});
        rapt_tensor *x = rapt_tape_tensor(t, 3, (size_t[]){2, 3, 6}, false);
        memset(x->data, 0, rapt_tensor_size(x) * sizeof *x->data);
        rapt_encoder_block_forward(t, &m, x, NULL);
        rapt_tensor *w = rapt_tape_attention(t, "encoder.0.attention");
        assert_int_equal(w != NULL, watch);
        assert_null(rapt_tape_attention(t, "encoder.1.attention"));
        for (size_t i = 0; w && i < rapt_tensor_size(w); i++) /* all keys are alike */
            assert_true(fabs((double)w->data[i] - 1 / 3.0) < 1e-6);
    }
    rapt_tape_begin(t, (rapt_pass){0});
    assert_null(rapt_tape_attention(t, "encoder.0.attention"));
    rapt_tape_free(t);
    rapt_params_free(set);
}

/* Columns head * d .. of [rows, 2 * d], each head twice. */
static void repeat_heads(const rapt_tensor *x, size_t d, rapt_tensor *out)
{
    for (size_t row = 0; row < rapt_tensor_rows(x); row++)
        for (size_t head = 0; head < 4; head++)
            memcpy(out->data + (row * 4 + head) * d, x->data + (row * 2 + head / 2) * d, d * sizeof *x->data);
}

/* Two key-value heads for four query heads are the same as four, of which two and two are equal. */
static void grouped_heads_equal_repeated_ones(void **state)
{
    (void)state;
    rapt_error err = {0};
    run r = {.t = rapt_tape_new(NULL, &err), .p = 0.3, .mask = {.causal = true}};
    assert_non_null(r.t);
    size_t d = 5, time = 60;
    rapt_tape_begin(r.t, (rapt_pass){.record = true, .training = true, .seed = 3});
    rapt_tensor *q = input(&r, time, 4 * d, 1), *k = input(&r, time, 2 * d, 2), *v = input(&r, time, 2 * d, 3);
    rapt_tensor *k4 = input(&r, time, 4 * d, 4), *v4 = input(&r, time, 4 * d, 5);
    repeat_heads(k, d, k4);
    repeat_heads(v, d, v4);
    rapt_tensor *grouped = rapt_op_attention(r.t, q, k, v, &(rapt_op_attention_options){.heads = 4, .mask = &r.mask});
    rapt_tensor *repeated = rapt_op_attention(r.t, q, k4, v4, &(rapt_op_attention_options){.heads = 4, .mask = &r.mask});
    assert_int_equal(rapt_tape_error(r.t)->code, RAPT_OK);
    assert_memory_equal(grouped->data, repeated->data, rapt_tensor_size(grouped) * sizeof *grouped->data);
    rapt_tape_free(r.t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fused_attention_equals_its_steps),
        cmocka_unit_test(gradients_equal_those_of_the_steps),
        cmocka_unit_test(watched_weights_are_filed),
        cmocka_unit_test(grouped_heads_equal_repeated_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
