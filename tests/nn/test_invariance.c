/* tests/nn/test_invariance.c: what a model gives for a sentence depends neither on the sentences beside it nor on the
 * padding after it, to the bit, and with dropout too.
 * labels: threads levels */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "nn/model.h"

#define BATCH 4
#define SOURCE 13
#define TARGET 11
#define PADDING 9

typedef struct batch {
    int32_t source[BATCH * (SOURCE + PADDING)], target[BATCH * (TARGET + PADDING)], lens[BATCH];
    uint32_t examples[BATCH];
    size_t count, source_time, target_time;
} batch;

/* Sentence b of the full batch: its ids, its length, its key. */
static void set_sentence(batch *s, size_t at, size_t b)
{
    int32_t *source = s->source + at * s->source_time, *target = s->target + at * s->target_time;
    model_ids(source, s->source_time, 1000 + s->source_time); /* what stands after the end */
    model_ids(target, s->target_time, 2000 + s->target_time);
    model_ids(source, SOURCE, 10 + b);
    model_ids(target, TARGET, 20 + b);
    s->lens[at] = b == 2 ? SOURCE : (int32_t)(5 + 2 * b);
    s->examples[at] = (uint32_t)(70 + b);
}

static rapt_tensor *logits_of(rapt_tape *t, const rapt_transformer *m, const batch *s, bool training)
{
    rapt_tokens source = {s->source, s->count, s->source_time}, target = {s->target, s->count, s->target_time};
    rapt_tape_begin(t, (rapt_pass){.training = training, .seed = 5, .step = 8, .examples = s->examples});
    return rapt_transformer_forward(t, m, source, s->lens, target);
}

static batch full_batch(void)
{
    batch s = {.count = BATCH, .source_time = SOURCE, .target_time = TARGET};
    for (size_t b = 0; b < BATCH; b++)
        set_sentence(&s, b, b);
    return s;
}

/* Sentences order[0 .. count-1] of the full batch, each padded by so much. */
static void check_batch(rapt_tape *t, const rapt_transformer *m, const rapt_real *want, const size_t *order,
                        size_t count, size_t padding, bool training)
{
    char what[80];
    batch s = {.count = count, .source_time = SOURCE + padding, .target_time = TARGET + padding};
    for (size_t i = 0; i < count; i++)
        set_sentence(&s, i, order[i]);
    rapt_real *got = model_copy(t, logits_of(t, m, &s, training));
    for (size_t i = 0; i < count; i++) {
        snprintf(what, sizeof what, "sentence %zu at place %zu of %zu, padding %zu", order[i], i, count, padding);
        model_same(what, want + order[i] * TARGET * MODEL_VOCAB, got + i * s.target_time * MODEL_VOCAB,
                   TARGET * MODEL_VOCAB);
    }
    free(got);
}

static void check_model(rapt_tape *t, const rapt_transformer *m, bool training)
{
    batch full = full_batch();
    rapt_real *want = model_copy(t, logits_of(t, m, &full, training));
    for (size_t b = 0; b < BATCH; b++)
        check_batch(t, m, want, &b, 1, 0, training);
    for (size_t padding = 0; padding <= PADDING; padding += 3) {
        check_batch(t, m, want, (size_t[]){3, 1, 0, 2}, 4, padding, training);
        check_batch(t, m, want, (size_t[]){2, 0}, 2, padding, training);
        check_batch(t, m, want, (size_t[]){1}, 1, padding, training);
    }
    free(want);
}

static void sentences_stand_alone(void **state)
{
    (void)state;
    for (size_t i = 0; i < MODEL_VARIANTS; i++) {
        rapt_transformer *m = model_of(model_variant(i));
        for (int threads = 1; threads <= 3; threads += 2) {
            rapt_tape *t = model_tape(NULL, threads);
            check_model(t, m, false);
            check_model(t, m, true);
            rapt_tape_free(t);
        }
        rapt_transformer_free(m);
    }
}

/* Products in bf16 differ from one level to another; at each of them a row has the same bits whatever is multiplied with it. */
static void sentences_stand_alone_in_bf16(void **state)
{
    (void)state;
    for (const char *const *isa = kernels_names + 1; *isa; isa++) /* without scalar, for its time */
        for (size_t i = 0; i < MODEL_VARIANTS && kernels_of_isa(*isa, NULL); i++) {
            rapt_error err = {0};
            rapt_transformer *m = model_of(model_variant(i));
            rapt_tape *t = rapt_tape_new(&(rapt_compute){.isa = *isa, .threads = 2, .type = RAPT_TYPE_BF16}, &err);
            assert_string_equal(err.message, "");
            check_model(t, m, false);
            check_model(t, m, true);
            rapt_tape_free(t);
            rapt_transformer_free(m);
        }
}

/* The test of fp32 would pass if dropout dropped nothing, or everything. */
static void dropout_depends_on_the_example(void **state)
{
    (void)state;
    rapt_transformer *m = model_new(RAPT_NORM_PLACE_POST, false);
    rapt_tape *t = model_tape(NULL, 1);
    batch s = full_batch();
    rapt_real *plain = model_copy(t, logits_of(t, m, &s, false)), *first = model_copy(t, logits_of(t, m, &s, true));
    s.examples[1]++;
    rapt_real *second = model_copy(t, logits_of(t, m, &s, true));
    size_t row = TARGET * MODEL_VOCAB;
    model_same("sentence 0", first, second, row);
    assert_memory_not_equal(first, plain, row * sizeof *first);
    assert_memory_not_equal(first + row, second + row, row * sizeof *first);
    free(plain);
    free(first);
    free(second);
    rapt_tape_free(t);
    rapt_transformer_free(m);
}

/* A training step's loss and all gradients, from padded rows or without the padding. */
static double learn(rapt_tape *t, rapt_transformer *m, batch *s, bool ragged)
{
    rapt_error err = {0};
    rapt_tokens source = {s->source, s->count, s->source_time}, target = {s->target, s->count, s->target_time};
    int32_t lens[BATCH] = {TARGET, 1, 8, 9}; /* of targets: dropout units of 8 rows end on and before their ends */
    if (ragged) {
        source.lens = s->lens;
        target.lens = lens;
    }
    rapt_params_zero_grad(m->params);
    rapt_tape_begin(t, (rapt_pass){.record = true, .training = true, .seed = 5, .step = 8, .examples = s->examples});
    rapt_tensor *logits = rapt_transformer_forward(t, m, source, s->lens, target);
    rapt_tensor *loss = rapt_op_cross_entropy(t, logits, target, &(rapt_loss_options){.valid_lens = lens}, NULL);
    if (rapt_backward(t, loss, &err) != RAPT_OK)
        fail_msg("%s", err.message);
    assert_int_equal(rapt_tensor_rows(logits), ragged ? TARGET + 1 + 8 + 9 : BATCH * TARGET);
    return (double)loss->data[0];
}

/* Padding adds zeros to sums of few rows: what is computed without it is the same, to the bit. */
static void ragged_is_padded(void **state)
{
    (void)state;
    for (size_t i = 0; i < MODEL_VARIANTS; i++) {
        rapt_transformer *m = model_of(model_variant(i)), *n = model_of(model_variant(i));
        rapt_tape *t = model_tape(NULL, 2);
        batch s = full_batch();
        assert_true(learn(t, m, &s, false) == learn(t, n, &s, true));
        for (size_t p = 0; p < rapt_params_count(m->params); p++) {
            rapt_tensor *want = &rapt_params_at(m->params, p)->value, *got = &rapt_params_at(n->params, p)->value;
            if (want->grad_filled)
                model_same(want->name, want->grad, got->grad, rapt_tensor_size(want));
        }
        rapt_tape_free(t);
        rapt_transformer_free(m);
        rapt_transformer_free(n);
    }
}

#define KEYS 20
#define LONG_KEYS 500 /* beyond a K block of the products */
#define QUERIES 70    /* beyond a tile of queries */
#define FEATURES 6

/* Attention to KEYS keys of `keys`, NaN after them; gives output and the gradients of q, k and v. */
static void attend(rapt_tape *t, size_t keys, rapt_real *out, rapt_real *dq, rapt_real *dk, rapt_real *dv)
{
    static rapt_real x[LONG_KEYS * FEATURES];
    int32_t lens = KEYS;
    size_t q_shape[] = {1, QUERIES, FEATURES}, k_shape[] = {1, keys, FEATURES}, q_size = QUERIES * FEATURES;
    for (size_t i = 0; i < LONG_KEYS * FEATURES; i++)
        x[i] = (rapt_real)rng_normal(3, i);
    rapt_tape_begin(t, (rapt_pass){.record = true, .training = true});
    rapt_tensor *q = rapt_tape_input(t, 3, q_shape, x, true);
    for (size_t i = KEYS * FEATURES; i < LONG_KEYS * FEATURES; i++)
        x[i] = (rapt_real)NAN;
    rapt_tensor *k = rapt_tape_input(t, 3, k_shape, x, true), *v = rapt_tape_input(t, 3, k_shape, x, true);
    rapt_mask mask = {.valid_lens = &lens};
    rapt_tensor *y = rapt_op_attention(t, q, k, v, &(rapt_op_attention_options){.heads = 2, .mask = &mask, .dropout = 0.2});
    assert_int_equal(rapt_backward(t, rapt_op_sum(t, y), NULL), RAPT_OK);
    memcpy(out, y->data, q_size * sizeof *out);
    memcpy(dq, q->grad, q_size * sizeof *out);
    memcpy(dk, k->grad, KEYS * FEATURES * sizeof *out);
    memcpy(dv, v->grad, KEYS * FEATURES * sizeof *out);
    for (size_t i = KEYS * FEATURES; i < keys * FEATURES; i++) {
        assert_true(k->grad[i] == 0);
        assert_true(v->grad[i] == 0);
    }
}

static void invalid_keys_are_never_read(void **state)
{
    static rapt_real a[4][QUERIES * FEATURES], b[4][QUERIES * FEATURES];
    (void)state;
    rapt_tape *t = model_tape(NULL, 2);
    attend(t, KEYS, a[0], a[1], a[2], a[3]);
    attend(t, LONG_KEYS, b[0], b[1], b[2], b[3]);
    model_same("output", a[0], b[0], QUERIES * FEATURES);
    model_same("gradient of the queries", a[1], b[1], QUERIES * FEATURES);
    model_same("gradient of the keys", a[2], b[2], KEYS * FEATURES);
    model_same("gradient of the values", a[3], b[3], KEYS * FEATURES);
    rapt_tape_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sentences_stand_alone),
        cmocka_unit_test(sentences_stand_alone_in_bf16),
        cmocka_unit_test(dropout_depends_on_the_example),
        cmocka_unit_test(ragged_is_padded),
        cmocka_unit_test(invalid_keys_are_never_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
