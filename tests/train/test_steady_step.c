/* tests/train/test_steady_step.c: once a training step has been made with each of a few batches, further ones allocate
 * nothing and touch no page that they have not touched before. Linked as tests/failing.h says.
 * labels: threads */
#include "failing.h"

#include "options.h"
#include "rapt/lm.h"
#include "rapt/nn.h"
#include "rapt/train.h"

#include "base/rng.h"
#include "ops/deferred.h"

#include <string.h>
#include <sys/resource.h>

#define BATCHES 3
#define WARM_UP (3 * BATCHES)
#define STEPS 12
#define BATCH 4
#define TIME 9
#define VOCAB 3100 /* large enough for an output matrix and its loss in one */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED true /* it has pages of its own */
#else
#define SANITIZED false
#endif

typedef struct batch {
    int32_t source[BATCH * TIME], target[BATCH * TIME], labels[BATCH * TIME], lens[BATCH];
} batch;

typedef struct trainer {
    rapt_tape *t;
    rapt_adam *adam;
    rapt_transformer *pair;
    rapt_lm *lm; /* one of both */
    bool late;   /* a vocabulary of which a step uses little */
    bool muon;
    size_t rows; /* of a batch of the language model */
    batch batches[BATCHES];
} trainer;

static void make_batch(batch *b, uint64_t key)
{
    for (size_t i = 0; i < BATCH * TIME; i++) {
        b->source[i] = (int32_t)rng_below(key, i, VOCAB);
        b->target[i] = (int32_t)rng_below(key + 100, i, VOCAB);
        b->labels[i] = (int32_t)rng_below(key + 200, i, VOCAB);
    }
    for (size_t i = 0; i < BATCH; i++)
        b->lens[i] = (int32_t)(1 + rng_below(key + 300, i, TIME));
}

static rapt_params *params_of(const trainer *r)
{
    return r->pair ? r->pair->params : r->lm->params;
}

static rapt_tensor *pair_loss(trainer *r, const batch *b)
{
    rapt_tokens source = {b->source, BATCH, TIME, b->lens}, target = {b->target, BATCH, TIME, b->lens};
    rapt_tokens labels = {b->labels, BATCH, TIME, b->lens};
    rapt_loss_options o = {.label_smoothing = 0.1, .valid_lens = b->lens};
    return rapt_op_cross_entropy(r->t, rapt_transformer_forward(r->t, r->pair, source, b->lens, target), labels, &o, NULL);
}

static rapt_tensor *lm_loss(trainer *r, const batch *b)
{
    rapt_tokens tokens = {b->source, r->rows, TIME - 1}, labels = {b->labels, r->rows, TIME - 1};
    return rapt_lm_loss(r->t, r->lm, tokens, labels, NULL, NULL);
}

static void step(trainer *r, uint64_t number)
{
    const batch *b = &r->batches[number % BATCHES];
    rapt_error err = {0};
    rapt_tape_begin(r->t, (rapt_pass){.record = true, .training = true, .seed = 1, .step = number});
    rapt_tensor *loss = r->pair ? pair_loss(r, b) : lm_loss(r, b);
    rapt_code code = rapt_backward(r->t, loss, &err);
    double norm = rapt_grad_norm(r->t, params_of(r));
    if (!code)
        code = rapt_adam_step(r->adam, r->t, 0.001, norm > 1 ? 1 / norm : 1, &err);
    rapt_params_zero_grad(params_of(r));
    if (code)
        fail_msg("%s", err.message);
}

static long page_faults(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
}

/* The kernel may take a page away and give it back; what grows with every step does so in every step. */
static void check_steady(trainer *r)
{
    int steps_with_faults = 0;
    rapt_adam_options adam = ADAM(.beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8, .weight_decay = 0.01);
    r->t = rapt_tape_new(&(rapt_compute){.threads = 2}, NULL);
    r->adam = r->muon ? rapt_muon_new(params_of(r), NULL, &adam, NULL) : rapt_adam_new(params_of(r), &adam, NULL);
    assert_true(r->t && r->adam);
    tape_defer_gradients(r->t, r->late);
    for (uint64_t i = 0; i < BATCHES; i++)
        make_batch(&r->batches[i], 1000 * i);
    for (uint64_t i = 0; i < WARM_UP; i++)
        step(r, i);
    assert_true(failing_allocations() > 10); /* they are seen */
    for (uint64_t i = WARM_UP; i < WARM_UP + STEPS; i++) {
        long before = page_faults();
        step(r, i);
        steps_with_faults += page_faults() > before;
    }
    assert_int_equal(failing_allocations(), 0);
    if (!SANITIZED)
        assert_true(steps_with_faults < STEPS / 2);
    rapt_adam_free(r->adam);
    rapt_tape_free(r->t);
}

static void translation(rapt_norm_place norm)
{
    rapt_transformer_config c = {.source_vocab = VOCAB, .target_vocab = VOCAB, .layers = 2, .max_positions = TIME,
                                 .block = {.d_model = 32, .heads = 4, .ffn = 64, .bias = true, .dropout = 0.1,
                                           .norm_place = norm},
                                 .scale_embedding = true, .tied = true};
    trainer r = {.pair = rapt_transformer_new(&c, 1, NULL)};
    assert_non_null(r.pair);
    check_steady(&r);
    rapt_transformer_free(r.pair);
}

static void translation_is_steady(void **state)
{
    (void)state;
    translation(RAPT_NORM_PLACE_POST);
    translation(RAPT_NORM_PLACE_PRE);
}

static void language_model(size_t rows, bool late, bool muon)
{
    rapt_lm_config c = {.vocab = VOCAB, .layers = 2, .context = TIME, .positions = RAPT_POSITIONS_LEARNED, .tied = !late,
                        .block = {.d_model = 32, .heads = 4, .ffn = 64, .norm_place = RAPT_NORM_PLACE_PRE,
                                  .ffn_kind = RAPT_FFN_GELU, .bias = true, .dropout = 0.1, .init = RAPT_WEIGHT_INIT_PYTORCH}};
    trainer r = {.lm = rapt_lm_new(&c, 1, NULL), .late = late, .muon = muon, .rows = rows};
    assert_non_null(r.lm);
    if (late)
        rapt_param_make_sparse(r.lm->params, r.lm->input.embedding.weight);
    check_steady(&r);
    rapt_lm_free(r.lm);
}

static void language_models_are_steady(void **state)
{
    (void)state;
    language_model(BATCH, false, false);
    language_model(BATCH, false, true);
    language_model(1, true, false); /* few enough for a deferred gradient */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(translation_is_steady),
        cmocka_unit_test(language_models_are_steady),
    };
    return cmocka_run_group_tests(tests, failing_check_link, NULL);
}
