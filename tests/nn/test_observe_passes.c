/* tests/nn/test_observe_passes.c: observation in passes of other kinds: decoding with a KV cache, rows of unequal
 * length without a mask, losses that leave a gradient for later, modules by themselves, and a callback that says stop. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "nn/observed.h"
#include "ops/deferred.h"

#define BOUND 1e-5   /* of the largest number of a tensor: observed against fused */
#define CLASSES 4000  /* enough for a fused loss */

static void close_to(const char *what, const rapt_real *want, const rapt_real *got, size_t n)
{
    double most = 0;
    for (size_t i = 0; i < n; i++)
        most = fmax(most, fabs((double)want[i]));
    assert_true(most > 0);
    for (size_t i = 0; i < n; i++)
        if (!(fabs((double)got[i] - (double)want[i]) <= BOUND * most))
            fail_msg("%s[%zu] is %.9g, fused %.9g", what, i, (double)got[i], (double)want[i]);
}

static const observed *find(const observer *r, const char *name)
{
    for (size_t i = 0; i < r->count; i++)
        if (strcmp(r->steps[i].name, name) == 0)
            return &r->steps[i];
    fail_msg("no step is called %s", name);
    return NULL;
}

static void check_shape(const observer *r, const char *name, size_t a, size_t b, size_t c, size_t d)
{
    const rapt_tensor *x = &find(r, name)->tensor;
    if (x->ndim != 4 || x->shape[0] != a || x->shape[1] != b || x->shape[2] != c || x->shape[3] != d)
        fail_msg("%s is not [%zu, %zu, %zu, %zu]", name, a, b, c, d);
}

static rapt_real *whole_row(rapt_tape *t, const rapt_lm *m, const int32_t *ids)
{
    rapt_tape_begin(t, (rapt_pass){0});
    return model_copy(t, rapt_lm_forward(t, m, (rapt_tokens){ids, 1, TIME, NULL}));
}

/* Token by token: logits of the full pass, and scores over all keys up to the token's own. */
static void language_model_decodes(void **state)
{
    (void)state;
    int32_t ids[TIME];
    rapt_error err = {0};
    subject s = subject_new(4); /* rotary, two key-value heads for six */
    rapt_tape *t = model_tape(NULL, 1);
    rapt_kv_cache *kept = rapt_kv_cache_new(rapt_lm_kv_sizes(s.lm, 1), &err);
    rapt_real *want = whole_row(t, s.lm, subject_ids(ids, TIME, 6));
    for (size_t i = 0; i < TIME; i++) {
        observer r = {0};
        rapt_observe(t, observer_keep, &r);
        rapt_tape_begin(t, (rapt_pass){0});
        rapt_tensor *got = rapt_lm_step(t, s.lm, kept, (rapt_tokens){ids + i, 1, 1, NULL}, true);
        subject_check(t, s.what);
        close_to(s.what, want + i * 17, got->data, 17);
        check_shape(&r, "blocks.1.attention.k.heads", 1, 2, i + 1, 4);
        check_shape(&r, "blocks.1.attention.weights", 1, 6, 1, i + 1);
        assert_int_equal(find(&r, "blocks.1.attention.k")->tensor.shape[1], 1);
        assert_string_equal(r.steps[r.count - 1].name, "probabilities");
        observer_free(&r);
    }
    free(want);
    rapt_kv_cache_free(kept);
    subject_free(&s);
    rapt_tape_free(t);
}

/* The memory is projected before; a cross-attention sees all of it but its padding. */
static void decoder_decodes(void **state)
{
    (void)state;
    int32_t source[BATCH * SOURCE_TIME], ids[BATCH * 2];
    rapt_tokens from = {subject_ids(source, BATCH * SOURCE_TIME, 5), BATCH, SOURCE_TIME, NULL};
    rapt_tokens to = {subject_ids(ids, BATCH * 2, 6), BATCH, 2, NULL};
    rapt_error err = {0};
    subject s = subject_new(0);
    rapt_tape *t = model_tape(NULL, 1);
    rapt_tape_begin(t, (rapt_pass){0});
    rapt_real *want = model_copy(t, rapt_transformer_forward(t, s.pair, from, subject_source_lens, to));
    rapt_tape_begin(t, (rapt_pass){0});
    rapt_tensor *memory = rapt_encoder_forward(t, &s.pair->encoder, from, subject_source_lens);
    rapt_decoder_state *kept = rapt_decoder_state_new(&err);
    rapt_decoder_start(t, &s.pair->decoder, kept, memory, subject_source_lens, (rapt_decoder_sizes){.capacity = 8});
    observer r = {0};
    rapt_observe(t, observer_keep, &r);
    rapt_tape_begin(t, (rapt_pass){0});
    rapt_tensor *got = rapt_decoder_step(t, &s.pair->decoder, kept, to);
    subject_check(t, s.what);
    close_to(s.what, want, got->data, rapt_tensor_size(got));
    check_shape(&r, "decoder.1.self_attention.weights", BATCH, 3, 2, 2);
    check_shape(&r, "decoder.1.cross_attention.weights", BATCH, 3, 2, SOURCE_TIME);
    find(&r, "decoder.1.cross_attention.q");
    for (size_t i = 0; i < r.count; i++)
        assert_string_not_equal(r.steps[i].name, "decoder.1.cross_attention.k");
    free(want);
    observer_free(&r);
    rapt_decoder_state_free(kept);
    subject_free(&s);
    rapt_tape_free(t);
}

/* Ragged rows need no mask; what is computed with padding finds their lengths by itself. */
static void lengths_of_tokens_are_a_mask(void **state)
{
    (void)state;
    int32_t source[BATCH * SOURCE_TIME], ids[BATCH * TIME];
    rapt_tokens from = {subject_ids(source, BATCH * SOURCE_TIME, 5), BATCH, SOURCE_TIME, subject_source_lens};
    rapt_tokens to = {subject_ids(ids, BATCH * TIME, 6), BATCH, TIME, subject_lens};
    subject s = subject_new(1);
    rapt_tape *fused = model_tape(NULL, 1), *t = model_tape(NULL, 1);
    observer r = {0};
    rapt_observe(t, observer_keep, &r);
    rapt_tape_begin(fused, (rapt_pass){0});
    rapt_tape_begin(t, (rapt_pass){0});
    rapt_tensor *want = rapt_transformer_forward(fused, s.pair, from, NULL, to);
    rapt_tensor *got = rapt_transformer_forward(t, s.pair, from, NULL, to);
    subject_check(t, s.what);
    size_t n = rapt_tensor_features(got), first = TIME * n; /* numbers of the first sentence, which is not padded */
    close_to("first sentence", want->data, got->data, first);
    close_to("second sentence", want->data + first, got->data + first, (size_t)subject_lens[1] * n);
    want = rapt_encoder_forward(fused, &s.pair->encoder, from, NULL);
    got = rapt_encoder_forward(t, &s.pair->encoder, from, NULL);
    n = rapt_tensor_features(got), first = SOURCE_TIME * n;
    close_to("memory of the second", want->data + first, got->data + first, (size_t)subject_source_lens[1] * n);
    observer_free(&r);
    subject_free(&s);
    rapt_tape_free(fused);
    rapt_tape_free(t);
}

/* A gradient that would be made while the optimizer runs is made, to be handed over. */
static void no_gradient_is_deferred(void **state)
{
    (void)state;
    rapt_error err = {0};
    rapt_params *set = rapt_params_new(3, &err);
    rapt_param *w = rapt_params_add(set, "w", 2, (size_t[]){CLASSES, 16}, (rapt_init){RAPT_INIT_NORMAL, 1});
    rapt_tape *t = model_tape(NULL, 1);
    tape_defer_gradients(t, true);
    int32_t labels[2] = {3, CLASSES - 1};
    for (int observed_pass = 0; observed_pass < 2; observed_pass++) {
        observer r = {0};
        rapt_params_zero_grad(set);
        rapt_observe(t, observed_pass ? observer_keep : NULL, &r);
        rapt_tape_begin(t, (rapt_pass){.record = true});
        rapt_tensor *x = rapt_tape_tensor(t, 3, (size_t[]){1, 2, 16}, true);
        for (size_t i = 0; i < 32; i++)
            x->data[i] = (rapt_real)rng_normal(3, i);
        rapt_tensor *loss = rapt_op_output_loss(t, x, w, NULL, (rapt_tokens){labels, 1, 2, NULL}, NULL, NULL);
        assert_int_equal(rapt_backward(t, loss, &err), RAPT_OK);
        assert_int_equal(w->state->deferred.dy != NULL, !observed_pass); /* the first shows that it would have been left */
        assert_int_equal(r.count, observed_pass);
        if (observed_pass)
            model_same("w", w->value.grad, find(&r, "w")->values, CLASSES * 16);
        observer_free(&r);
        assert_int_equal(deferred_settle(t, w, &err), RAPT_OK);
    }
    rapt_tape_free(t);
    rapt_params_free(set);
}

/* Embedding, positions and a norm alone, and the feed-forward network on rows without a batch. */
static void modules_are_observed_alone(void **state)
{
    (void)state;
    rapt_error err = {0};
    rapt_params *set = rapt_params_new(3, &err);
    rapt_embedding e;
    rapt_positions p;
    rapt_layer_norm n;
    rapt_ffn f;
    rapt_embedding_init(&e, set, "words.", 17, 6, NULL);
    rapt_positions_init(&p, set, "demo.positions.", 9, 6, &(rapt_positions_options){.persistent = true});
    rapt_layer_norm_init(&n, set, "", 1, (size_t[]){6}, NULL);
    rapt_ffn_init(&f, set, "demo.ffn.", 6, 11, 6, NULL);
    int32_t ids[4] = {3, 1, 4, 1}, lens[2] = {2, 1};
    rapt_tape *t = model_tape(NULL, 1);
    observer r = {0};
    rapt_observe(t, observer_keep, &r);
    rapt_tape_begin(t, (rapt_pass){0});
    rapt_tensor *x = rapt_positions_forward(t, &p, rapt_embedding_forward(t, &e, (rapt_tokens){ids, 2, 2, lens}), 0);
    rapt_layer_norm_forward(t, &n, x);
    rapt_ffn_forward(t, &f, rapt_tape_input(t, 2, (size_t[]){5, 6}, f.dense1.weight->value.data, false));
    subject_check(t, "modules");
    static const char *const names[] = {"words", "demo.positions", "demo.input", "output", "demo.ffn.hidden",
                                        "demo.ffn.activation", "demo.ffn.output"};
    assert_int_equal(r.count, 7);
    for (size_t i = 0; i < 7; i++) {
        assert_string_equal(r.steps[i].name, names[i]);
        assert_string_equal(r.steps[i].axes, i < 4 ? "batch time feature" : "time feature");
    }
    observer_free(&r);
    rapt_tape_free(t);
    rapt_params_free(set);
}

typedef struct stopper {
    rapt_tape *t;
    size_t calls, most;
} stopper;

static void stop(void *context, const rapt_observation *step)
{
    stopper *s = context;
    if (++s->calls == s->most)
        rapt_tape_fail(s->t, RAPT_ERR_VALUE, "enough at %s", step->name);
}

/* On its way there, or back. */
static void callback_stops_the_pass(void **state)
{
    (void)state;
    rapt_tape *t = model_tape(NULL, 1);
    subject s = subject_new(0);
    for (size_t most = 1; most < 300; most += 7) {
        stopper x = {t, 0, most};
        rapt_error err = {0};
        rapt_observe(t, stop, &x);
        rapt_tape_begin(t, (rapt_pass){.record = true});
        assert_int_equal(rapt_backward(t, subject_loss(t, &s), &err), RAPT_ERR_VALUE);
        assert_int_equal(x.calls, most);
        assert_true(strncmp(err.message, "enough at ", 10) == 0);
    }
    subject_free(&s);
    rapt_tape_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(language_model_decodes),
        cmocka_unit_test(decoder_decodes),
        cmocka_unit_test(lengths_of_tokens_are_a_mask),
        cmocka_unit_test(no_gradient_is_deferred),
        cmocka_unit_test(modules_are_observed_alone),
        cmocka_unit_test(callback_stops_the_pass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
