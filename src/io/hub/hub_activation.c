/* io/hub/hub_activation.c: names of activations, as ACT2FN of Hugging Face transformers has them. For the families. */
#include "io/hub/hub_family.h"

#include <string.h>

rapt_ffn_kind hub_activation(hub_config *c, const char *key, const char *otherwise)
{
    static const struct {
        const char *name;
        rapt_ffn_kind kind;
    } kinds[] = {{"gelu_new", RAPT_FFN_GELU_TANH}, {"gelu_pytorch_tanh", RAPT_FFN_GELU_TANH}, {"gelu", RAPT_FFN_GELU},
                 {"relu", RAPT_FFN_RELU}, {"silu", RAPT_FFN_SILU}, {"swish", RAPT_FFN_SILU}};
    const char *name = hub_word(c, key, otherwise);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].name, name) == 0)
            return kinds[i].kind;
    hub_refuse(c, key, "of such models rapt computes gelu_new, gelu_pytorch_tanh, gelu, relu, silu and swish");
    return RAPT_FFN_RELU;
}
