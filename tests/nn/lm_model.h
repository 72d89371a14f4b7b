/* tests/nn/lm_model.h: small language models of every shape, and texts for them, for the tests of this folder. It checks
 * nothing itself. */
#ifndef TESTS_NN_LM_MODEL_H
#define TESTS_NN_LM_MODEL_H

#include "nn/model.h"

#include "rapt/lm.h"

#define LM_CONTEXT 12
#define LM_VARIANTS 184 /* positions x norm x feed-forward network x key-value heads x place of the norm, then ALiBi */
#define LM_SILU 144     /* the first one whose feed-forward network is RAPT_FFN_SILU */
#define LM_ALIBI 180    /* from here on, some of the others with RAPT_POSITIONS_ALIBI */

static inline rapt_lm_config lm_variant(size_t number)
{
    const size_t i = number < LM_ALIBI ? number : 25 * (number - LM_ALIBI) + 24;
    static const size_t kv_heads[] = {0, 2, 1};
    const rapt_positions_kind positions = number < LM_ALIBI ? (rapt_positions_kind)(i % 3) : RAPT_POSITIONS_ALIBI;
    const bool bias = i % 5 < 3, silu = i >= LM_SILU;
    const size_t rest = silu ? (i - LM_SILU) / 6 : i / 24;
    return (rapt_lm_config){.vocab = MODEL_VOCAB, .layers = 2, .context = LM_CONTEXT,
                            .positions = positions, .tied = i % 2, .output_bias = i % 2 == 0 && i % 4,
                            .scale_embedding = i % 11 == 0,
                            .block = {.d_model = 24, .heads = 6, .kv_heads = kv_heads[rest % 3], .ffn = 37,
                                      .norm_place = rest / 3 ? RAPT_NORM_PLACE_PRE : RAPT_NORM_PLACE_POST,
                                      .norm_kind = i / 3 % 2 ? RAPT_NORM_KIND_RMS : RAPT_NORM_KIND_LAYER,
                                      .ffn_kind = silu ? RAPT_FFN_SILU : (rapt_ffn_kind)(i / 6 % 4), .bias = bias,
                                      .no_ffn_bias = !bias, .no_norm_bias = !bias, .shared_norm = i % 7 == 0, .dropout = 0.2,
                                      .init = RAPT_WEIGHT_INIT_PYTORCH}};
}

static inline rapt_lm *lm_model(const rapt_lm_config *config)
{
    rapt_error err = {0};
    rapt_lm *m = rapt_lm_new(config, 11, &err);
    if (!m)
        fail_msg("%s", err.message);
    return m;
}

/* A copy of the logits of whole rows; free() it. */
static inline rapt_real *lm_whole(rapt_tape *t, const rapt_lm *m, const int32_t *ids, size_t batch, size_t time)
{
    rapt_tape_begin(t, (rapt_pass){0});
    return model_copy(t, rapt_lm_forward(t, m, (rapt_tokens){ids, batch, time}));
}

#endif
