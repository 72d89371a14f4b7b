/* tests/train/test_release_no_memory.c: gradients that are released, when memory runs out while their places are made: an error,
 * nothing left, and a tape that passes as before; likewise optimizers of several kinds. */
#include "failing.h"

#include "options.h"
#include "rapt/lm.h"

#include "tape/tape_core.h"
#include "train/optimizer/grad_release.h"
#include "train/optimizer/moving_average.h"

#define TIME 6
#define VOCAB 20

static rapt_tensor *loss_of(rapt_tape *t, const rapt_lm *lm)
{
    static const int32_t ids[TIME + 1] = {1, 2, 3, 4, 5, 6, 7};
    rapt_tape_begin(t, (rapt_pass){.record = true, .training = true, .step = 1});
    return rapt_lm_loss(t, lm, (rapt_tokens){ids, 1, TIME, NULL}, (rapt_tokens){ids + 1, 1, TIME, NULL}, NULL, NULL);
}

/* The places of a model's gradients. */
static rapt_code make_and_free(rapt_tape *t, rapt_lm *lm, rapt_error *err)
{
    grad_release *r = grad_release_new(t, lm->params, err);
    rapt_code code = r ? RAPT_OK : err->code;
    if (r) {
        tape_count(t, true);
        grad_release_learn(r);
        code = rapt_backward(t, loss_of(t, lm), err);
        grad_release_learnt(r);
        tape_count(t, false);
        rapt_params_zero_grad(lm->params);
        code = code ? code : grad_release_place(r, lm->params, err);
    }
    grad_release_free(r);
    return code;
}

static void places_that_cannot_be_made(void **state)
{
    const rapt_lm_config c = {.vocab = VOCAB, .layers = 1, .context = TIME, .tied = true, .positions = RAPT_POSITIONS_LEARNED,
                              .block = {.d_model = 16, .heads = 2, .ffn = 32}};
    failing f = {.what = "places of gradients", .at_least = 8, .uncounted = true}; /* a tape keeps what its passes took */
    rapt_error err;
    (void)state;
    do {
        err = (rapt_error){0};
        rapt_tape *t = rapt_tape_new(&(rapt_compute){.threads = 1}, NULL);
        rapt_lm *lm = rapt_lm_new(&c, 3, NULL);
        assert_true(t && lm);
        failing_arm(&f);
        const rapt_code code = make_and_free(t, lm, &err);
        failing_disarm();
        assert_int_equal(code, err.code);
        assert_true(code == RAPT_OK || code == RAPT_ERR_MEMORY);
        rapt_lm_free(lm);
        rapt_tape_free(t);
    } while (failing_again(&f, err.code));
}

/* Adam for what Muon doesn't take, SGD with momentum, and averages, where a parameter is frozen. */
static void optimizers_that_cannot_be_made(void **state)
{
    const rapt_lm_config c = {.vocab = VOCAB, .layers = 1, .context = TIME, .tied = true, .positions = RAPT_POSITIONS_LEARNED,
                              .block = {.d_model = 16, .heads = 2, .ffn = 32}};
    rapt_lm *lm = rapt_lm_new(&c, 3, NULL);
    rapt_error err;
    (void)state;
    assert_non_null(lm);
    rapt_params_freeze(lm->params, "*.norm1.weight");
    for (int with_muon = 0; with_muon < 2; with_muon++) {
        failing f = {.what = with_muon ? "Muon" : "SGD", .at_least = 3};
        do {
            err = (rapt_error){0};
            failing_arm(&f);
            rapt_adam *a = with_muon ? rapt_muon_new(lm->params, NULL, NULL, &err)
                                     : rapt_sgd_new(lm->params, &SGD(.momentum = 0.9), &err);
            failing_disarm();
            assert_true(a ? err.code == RAPT_OK : err.code == RAPT_ERR_MEMORY);
            rapt_adam_free(a);
        } while (failing_again(&f, err.code));
    }
    failing f = {.what = "averages", .at_least = 3};
    do {
        err = (rapt_error){0};
        failing_arm(&f);
        moving_average *a = moving_average_new(lm->params, 0.9, &err);
        failing_disarm();
        assert_true(a ? err.code == RAPT_OK : err.code == RAPT_ERR_MEMORY);
        moving_average_free(a);
    } while (failing_again(&f, err.code));
    rapt_lm_free(lm);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(places_that_cannot_be_made),
                                       cmocka_unit_test(optimizers_that_cannot_be_made)};
    return cmocka_run_group_tests(tests, failing_check_link, NULL);
}
