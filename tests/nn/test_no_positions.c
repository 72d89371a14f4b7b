/* tests/nn/test_no_positions.c: without positions an encoder is equivariant to permutations of its tokens (Vaswani et al. 2017,
 * 3.5: "no recurrence and no convolution"), with them it is not; a causal language model still knows what came before. That such
 * models are the same bits on all paths is in the tables of the other tests. For RAPT_POSITIONS_NONE. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "lm_model.h"

enum { TOKENS = 7 };

static const int32_t SENTENCE[TOKENS] = {5, 9, 11, 20, 7, 31, 40};
static const size_t ORDER[TOKENS] = {3, 0, 6, 1, 5, 2, 4};

/* The features of each token of a sentence, [TOKENS, d_model]; free() it. */
static rapt_real *features_of(const rapt_transformer *m, const int32_t *ids)
{
    rapt_tape *t = model_tape(NULL, 1);
    rapt_tape_begin(t, (rapt_pass){0});
    rapt_real *x = model_copy(t, rapt_encoder_forward(t, &m->encoder, (rapt_tokens){ids, 1, TOKENS}, NULL));
    rapt_tape_free(t);
    return x;
}

/* The largest difference between the features of a token in the sentence and in the permuted one. */
static double permuted_difference(rapt_positions_kind positions, rapt_norm_place norm)
{
    rapt_transformer_config c = model_config(norm, false);
    int32_t permuted[TOKENS];
    double most = 0;
    c.positions = positions;
    rapt_transformer *m = model_of(c);
    for (size_t i = 0; i < TOKENS; i++)
        permuted[i] = SENTENCE[ORDER[i]];
    rapt_real *x = features_of(m, SENTENCE), *y = features_of(m, permuted);
    for (size_t i = 0; i < TOKENS; i++)
        for (size_t j = 0; j < c.block.d_model; j++)
            most = fmax(most, fabs((double)y[i * c.block.d_model + j] - (double)x[ORDER[i] * c.block.d_model + j]));
    free(x);
    free(y);
    rapt_transformer_free(m);
    return most;
}

static void an_encoder_takes_a_sentence_for_a_set(void **state)
{
    (void)state;
    for (int pre = 0; pre < 2; pre++) {
        const rapt_norm_place norm = pre ? RAPT_NORM_PLACE_PRE : RAPT_NORM_PLACE_POST;
        assert_true(permuted_difference(RAPT_POSITIONS_NONE, norm) < 1e-4); /* sums of a softmax in another order */
        assert_true(permuted_difference(RAPT_POSITIONS_SINUSOIDAL, norm) > 1e-2);
        assert_true(permuted_difference(RAPT_POSITIONS_ROTARY, norm) > 1e-2);
    }
}

static void a_language_model_has_no_parameters_of_positions(void **state)
{
    (void)state;
    rapt_lm_config c = lm_variant(74);
    c.positions = RAPT_POSITIONS_NONE;
    rapt_lm *m = lm_model(&c);
    for (size_t i = 0; i < rapt_params_count(m->params); i++)
        assert_null(strstr(rapt_params_at(m->params, i)->value.name, "position"));
    assert_null(m->rotary);
    /* The first token has only itself to attend to: what it becomes is the same wherever it stands alone; two equal tokens become
     * the same, since the second attends to two equal ones. */
    const int32_t ids[] = {5, 5, 9};
    rapt_tape *t = model_tape(NULL, 1);
    rapt_real *x = lm_whole(t, m, ids, 1, 3);
    double same = 0, other = 0;
    for (size_t j = 0; j < MODEL_VOCAB; j++) {
        same = fmax(same, fabs((double)x[j] - (double)x[MODEL_VOCAB + j]));
        other = fmax(other, fabs((double)x[j] - (double)x[2 * MODEL_VOCAB + j]));
    }
    assert_true(same < 1e-4);
    assert_true(other > 1e-2);
    free(x);
    rapt_tape_free(t);
    rapt_lm_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_encoder_takes_a_sentence_for_a_set),
        cmocka_unit_test(a_language_model_has_no_parameters_of_positions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
