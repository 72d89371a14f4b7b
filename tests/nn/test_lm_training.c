/* tests/nn/test_lm_training.c: language models at work: what a position can see, losses, gradients, dropout, the same
 * bits with any threads and kernels. Numbers are compared with PyTorch's in tests/golden.
 * labels: levels */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "nn/lm_model.h"

#include "rapt/observe.h"

#define BATCH 2

/* ---- what a position sees --------------------------------------------------------------------------------- */

static void check_causal(rapt_tape *t, const rapt_lm *m)
{
    int32_t ids[LM_CONTEXT];
    model_ids(ids, LM_CONTEXT, 3);
    rapt_real *before = lm_whole(t, m, ids, 1, LM_CONTEXT);
    for (size_t j = 0; j < LM_CONTEXT; j++) {
        int32_t old = ids[j];
        ids[j] = (old + 1) % MODEL_VOCAB;
        rapt_real *after = lm_whole(t, m, ids, 1, LM_CONTEXT);
        model_same("logits before the change", before, after, j * MODEL_VOCAB);
        for (size_t i = j; i < LM_CONTEXT; i++)
            assert_memory_not_equal(before + i * MODEL_VOCAB, after + i * MODEL_VOCAB, MODEL_VOCAB * sizeof *after);
        ids[j] = old;
        free(after);
    }
    free(before);
}

/* Logits of one token depend on where it stands, and on the order of those before it. */
static void check_positions(rapt_tape *t, const rapt_lm *m)
{
    int32_t ids[] = {7, 8, 9}, swapped[] = {8, 7, 9};
    rapt_real *a = lm_whole(t, m, ids, 1, 3), *b = lm_whole(t, m, swapped, 1, 3);
    assert_memory_not_equal(a + 2 * MODEL_VOCAB, b + 2 * MODEL_VOCAB, MODEL_VOCAB * sizeof *a);
    free(a);
    free(b);
}

static void positions_see_what_stands_before(void **state)
{
    (void)state;
    rapt_tape *t = model_tape(NULL, 2);
    for (size_t i = 0; i < LM_VARIANTS; i++) {
        rapt_lm_config c = lm_variant(i);
        rapt_lm *m = lm_model(&c);
        check_causal(t, m);
        check_positions(t, m);
        rapt_lm_free(m);
    }
    rapt_tape_free(t);
}

/* Rows of their own lengths are computed without their padding, and each as it would be alone. */
static void ragged_rows_are_rows_alone(void **state)
{
    (void)state;
    enum { ROWS = 4 };
    const int32_t lens[ROWS] = {5, LM_CONTEXT, 1, 7};
    int32_t ids[ROWS * LM_CONTEXT];
    rapt_tape *t = model_tape(NULL, 2);
    model_ids(ids, ROWS * LM_CONTEXT, 5);
    for (size_t i = 0; i < LM_VARIANTS; i++) {
        rapt_lm_config c = lm_variant(i);
        rapt_lm *m = lm_model(&c);
        rapt_tape_begin(t, (rapt_pass){0});
        rapt_real *all = model_copy(t, rapt_lm_forward(t, m, (rapt_tokens){ids, ROWS, LM_CONTEXT, lens})), *next = all;
        for (size_t row = 0; row < ROWS; row++) {
            rapt_real *alone = lm_whole(t, m, ids + row * LM_CONTEXT, 1, (size_t)lens[row]);
            model_same("a row", next, alone, (size_t)lens[row] * MODEL_VOCAB);
            next += (size_t)lens[row] * MODEL_VOCAB;
            free(alone);
        }
        free(all);
        rapt_lm_free(m);
    }
    rapt_tape_free(t);
}

static void check_weights(const rapt_tape *t, const char *name, size_t queries, size_t keys, size_t past)
{
    const rapt_tensor *w = rapt_tape_attention(t, name);
    assert_non_null(w);
    assert_int_equal(w->shape[1], 6);
    assert_int_equal(w->shape[2], queries);
    assert_int_equal(w->shape[3], keys);
    for (size_t row = 0; row < rapt_tensor_rows(w); row++) {
        double sum = 0;
        for (size_t j = 0; j < keys; j++)
            if (j <= past + row % queries)
                sum += (double)w->data[row * keys + j];
            else
                assert_true(w->data[row * keys + j] == 0);
        assert_true(fabs(sum - 1) < 1e-6);
    }
}

static void attention_weights_on_request(void **state)
{
    (void)state;
    rapt_error err = {0};
    int32_t ids[LM_CONTEXT];
    model_ids(ids, LM_CONTEXT, 3);
    rapt_lm_config c = lm_variant(24 + 2); /* rotary, two key-value heads */
    rapt_lm *m = lm_model(&c);
    rapt_tape *t = model_tape(NULL, 2);
    rapt_kv_cache *s = rapt_kv_cache_new(rapt_lm_kv_sizes(m, 1), &err);
    rapt_tape_capture_attention(t, RAPT_CAPTURE_BEFORE_DROPOUT);
    free(lm_whole(t, m, ids, 1, 9));
    check_weights(t, "blocks.0.attention", 9, 9, 0);
    check_weights(t, "blocks.1.attention", 9, 9, 0);
    rapt_tape_begin(t, (rapt_pass){0});
    rapt_lm_step(t, m, s, (rapt_tokens){ids, 1, 4}, true);
    check_weights(t, "blocks.1.attention", 4, LM_CONTEXT, 0);
    rapt_tape_begin(t, (rapt_pass){0});
    rapt_lm_step(t, m, s, (rapt_tokens){ids + 4, 1, 3}, true);
    check_weights(t, "blocks.1.attention", 3, LM_CONTEXT, 4);
    rapt_kv_cache_free(s);
    rapt_tape_free(t);
    rapt_lm_free(m);
}

static void count_step(void *context, const rapt_observation *step)
{
    (void)step;
    ++*(size_t *)context;
}

/* Attention through the small operations, as an observed pass computes it, is equal within the bound of rapt_op_attention. */
static void check_steps(size_t variant)
{
    rapt_lm_config c = lm_variant(variant);
    rapt_lm *m = lm_model(&c);
    rapt_tape *t = model_tape(NULL, 1);
    rapt_real numbers[7 * 24];
    rapt_mask causal = {.causal = true};
    for (size_t i = 0; i < 7 * 24; i++)
        numbers[i] = (rapt_real)rng_normal(3, i);
    rapt_tape_begin(t, (rapt_pass){0});
    rapt_tensor *x = rapt_tape_input(t, 3, (size_t[]){1, 7, 24}, numbers, false);
    rapt_tensor *a = rapt_multi_head_attention_forward(t, &m->blocks[0].attention, x, x, x, &causal);
    size_t steps = 0;
    rapt_observe(t, count_step, &steps);
    rapt_tensor *b = rapt_multi_head_attention_forward(t, &m->blocks[0].attention, x, x, x, &causal);
    assert_true(steps >= 13);
    assert_int_equal(rapt_tape_error(t)->code, RAPT_OK);
    for (size_t i = 0; i < 7 * 24; i++)
        assert_true(fabs((double)a->data[i] - (double)b->data[i]) < 1e-5);
    rapt_tape_free(t);
    rapt_lm_free(m);
}

static void steps_turn_queries_and_keys(void **state)
{
    (void)state;
    check_steps(2);      /* rotary */
    check_steps(24 + 2); /* two key-value heads for six query heads */
}

/* ---- training --------------------------------------------------------------------------------------------- */

static rapt_tensor *loss_of(rapt_tape *t, const rapt_lm *m, size_t time, rapt_loss_sums *parts)
{
    static int32_t ids[BATCH * 64], labels[BATCH * 64];
    model_ids(ids, BATCH * time, 3);
    model_ids(labels, BATCH * time, 4);
    rapt_params_zero_grad(m->params);
    rapt_tape_begin(t, (rapt_pass){.record = true, .training = true, .seed = 5, .step = 8});
    return rapt_lm_loss(t, m, (rapt_tokens){ids, BATCH, time}, (rapt_tokens){labels, BATCH, time}, NULL, parts);
}

static double walk_back(rapt_tape *t, rapt_tensor *loss)
{
    rapt_error err = {0};
    if (rapt_backward(t, loss, &err))
        fail_msg("%s", err.message);
    return (double)loss->data[0];
}

static bool any(const rapt_real *x, size_t n)
{
    while (n > 0 && x[n - 1] == 0)
        n--;
    return n > 0;
}

static void every_parameter_learns(void **state)
{
    (void)state;
    rapt_tape *t = model_tape(NULL, 2);
    for (size_t i = 0; i < LM_VARIANTS; i++) {
        rapt_lm_config c = lm_variant(i);
        rapt_lm *m = lm_model(&c);
        walk_back(t, loss_of(t, m, LM_CONTEXT, NULL));
        for (size_t p = 0; p < rapt_params_count(m->params); p++) {
            const rapt_param *w = rapt_params_at(m->params, p);
            if (!w->buffer && !(w->value.grad_filled && any(w->value.grad, rapt_tensor_size(&w->value))))
                fail_msg("variant %zu: %s has no gradient", i, w->value.name);
        }
        rapt_lm_free(m);
    }
    rapt_tape_free(t);
}

/* The loss is the cross-entropy of the logits; without training the dropout drops nothing. */
static void loss_is_cross_entropy(void **state)
{
    (void)state;
    rapt_tape *t = model_tape(NULL, 1);
    rapt_lm_config c = lm_variant(72);
    rapt_lm *m = lm_model(&c);
    int32_t ids[5] = {1, 2, 3, 4, 5}, labels[5] = {2, 3, 4, 5, 6};
    rapt_real *logits = lm_whole(t, m, ids, 1, 5);
    double nll = 0;
    for (size_t i = 0; i < 5; i++) {
        double sum = 0;
        for (size_t j = 0; j < MODEL_VOCAB; j++)
            sum += exp((double)logits[i * MODEL_VOCAB + j]);
        nll += log(sum) - (double)logits[i * MODEL_VOCAB + (size_t)labels[i]];
    }
    rapt_loss_sums parts = {0};
    rapt_tape_begin(t, (rapt_pass){0});
    rapt_tensor *loss = rapt_lm_loss(t, m, (rapt_tokens){ids, 1, 5}, (rapt_tokens){labels, 1, 5}, NULL, &parts);
    assert_int_equal(rapt_tape_error(t)->code, RAPT_OK);
    assert_int_equal(parts.tokens, 5);
    assert_true(fabs(parts.nll - nll) < 1e-5 && fabs((double)loss->data[0] - nll / 5) < 1e-6);
    free(logits);
    rapt_tape_free(t);
    rapt_lm_free(m);
}

static double trained_loss(rapt_tape *t, const rapt_lm *m)
{
    return walk_back(t, loss_of(t, m, LM_CONTEXT, NULL));
}

/* Dropout at one place after the other; they are all that rapt_lm_set_dropouts sets. */
static void dropout_has_its_places(void **state)
{
    (void)state;
    rapt_tape *t = model_tape(NULL, 1);
    for (size_t i = 0; i < 3; i++) {
        rapt_lm_config c = lm_variant(72 * (i % 2) + i);
        rapt_lm *m = lm_model(&c);
        double *places[] = {&m->input.positions.dropout, &m->blocks[1].attention.dropout, &m->blocks[1].norm1.dropout,
                            &m->blocks[1].norm2.dropout};
        double with = trained_loss(t, m);
        for (size_t p = 0; p < 4; p++)
            assert_true(*places[p] == 0.2);
        rapt_lm_set_dropouts(m, (rapt_dropouts){0});
        double without = trained_loss(t, m);
        for (size_t p = 0; p < 4; p++) {
            assert_true(*places[p] == 0);
            *places[p] = 0.2;
            assert_true(trained_loss(t, m) != without);
            *places[p] = 0;
        }
        rapt_lm_set_dropouts(m, (rapt_dropouts){0.2, 0.2, 0});
        assert_true(with != without && trained_loss(t, m) == with);
        rapt_lm_free(m);
    }
    rapt_tape_free(t);
}

/* ---- the same bits ---------------------------------------------------------------------------------------- */

/* Large enough for several chunks of work and tiles of queries. */
static rapt_lm_config large_variant(size_t i)
{
    rapt_lm_config c = lm_variant(i);
    c.block.d_model = 36, c.block.ffn = 83, c.context = 64;
    return c;
}

/* Loss and all gradients, one after the other. */
static size_t run(rapt_tape *t, const rapt_lm_config *c, rapt_real **out)
{
    rapt_lm *m = lm_model(c);
    rapt_tensor *loss = loss_of(t, m, 61, NULL);
    walk_back(t, loss);
    size_t n = 1;
    rapt_real *x = malloc((rapt_params_size(m->params) + 1) * sizeof *x);
    assert_non_null(x);
    x[0] = loss->data[0];
    for (size_t i = 0; i < rapt_params_count(m->params); i++) {
        const rapt_param *p = rapt_params_at(m->params, i);
        if (p->buffer)
            continue;
        memcpy(x + n, p->value.grad, rapt_tensor_size(&p->value) * sizeof *x);
        n += rapt_tensor_size(&p->value);
    }
    rapt_lm_free(m);
    *out = x;
    return n;
}

/* Each kind of everything once; more of it is in tests/ops/test_bits.c. */
static const size_t chosen[] = {8, 41, 75, 139};
#define CHOSEN (sizeof chosen / sizeof *chosen)

static void check_bits(const char *isa, int threads, rapt_real *const *want, const size_t *sizes)
{
    rapt_tape *t = model_tape(isa, threads);
    for (size_t i = 0; i < CHOSEN; i++) {
        char what[64];
        rapt_real *got;
        rapt_lm_config c = large_variant(chosen[i]);
        snprintf(what, sizeof what, "variant %zu, %s, %d threads", chosen[i], isa, threads);
        assert_int_equal(run(t, &c, &got), sizes[i]);
        model_same(what, want[i], got, sizes[i]);
        free(got);
    }
    rapt_tape_free(t);
}

static void same_bits(void **state)
{
    static const int threads[] = {1, 2, 3, 7};
    rapt_real *want[CHOSEN] = {0};
    size_t sizes[CHOSEN] = {0};
    (void)state;
    rapt_tape *t = model_tape("scalar", 1);
    for (size_t i = 0; i < CHOSEN; i++) {
        rapt_lm_config c = large_variant(chosen[i]);
        sizes[i] = run(t, &c, &want[i]);
    }
    rapt_tape_free(t);
    for (const char *const *isa = kernels_names; *isa; isa++)
        for (size_t i = 0; i < sizeof threads / sizeof *threads && kernels_of_isa(*isa, NULL); i++)
            check_bits(*isa, threads[i], want, sizes);
    for (size_t i = 0; i < CHOSEN; i++)
        free(want[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(positions_see_what_stands_before), cmocka_unit_test(ragged_rows_are_rows_alone),
        cmocka_unit_test(attention_weights_on_request),
        cmocka_unit_test(steps_turn_queries_and_keys),
        cmocka_unit_test(every_parameter_learns),
        cmocka_unit_test(loss_is_cross_entropy),
        cmocka_unit_test(dropout_has_its_places),
        cmocka_unit_test(same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
