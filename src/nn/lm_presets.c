/* nn/lm_presets.c: configurations with a name. For recipes and programs. */
#include "rapt/lm.h"

#include "base/quote.h"

#include <string.h>

static const struct {
    const char *name;
    rapt_lm_config config;
} presets[] = {
    {"seed",
     {.vocab = 100070, .layers = 1, .context = 16, .positions = RAPT_POSITIONS_SINUSOIDAL, .output_bias = true,
      .block = {.d_model = 64, .heads = 4, .ffn = 256, .norm_place = RAPT_NORM_PLACE_POST, .norm_kind = RAPT_NORM_KIND_LAYER,
                .shared_norm = true, .ffn_kind = RAPT_FFN_RELU, .bias = true, .init = RAPT_WEIGHT_INIT_PYTORCH}}},
    {"gpt2",
     {.vocab = 50257, .layers = 12, .context = 1024, .positions = RAPT_POSITIONS_LEARNED, .tied = true,
      .block = {.d_model = 768, .heads = 12, .ffn = 3072, .norm_place = RAPT_NORM_PLACE_PRE, .norm_kind = RAPT_NORM_KIND_LAYER,
                .ffn_kind = RAPT_FFN_GELU_TANH, .bias = true, .dropout = 0.1, .init = RAPT_WEIGHT_INIT_GPT2}}},
};

rapt_code rapt_lm_preset(const char *name, rapt_lm_config *config, rapt_error *err)
{
    for (size_t i = 0; i < sizeof presets / sizeof *presets; i++)
        if (strcmp(presets[i].name, name) == 0) {
            *config = presets[i].config;
            return RAPT_OK;
        }
    return rapt_fail(err, RAPT_ERR_NOT_FOUND, "there is no model \"%s\"; there are seed and gpt2", quote(name).text);
}
