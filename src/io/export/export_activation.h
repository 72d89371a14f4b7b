/* io/export/export_activation.h: the names of activations in transformers. For its classes' configurations. */
#ifndef IO_EXPORT_EXPORT_ACTIVATION_H
#define IO_EXPORT_EXPORT_ACTIVATION_H

#include "rapt/nn.h"

static inline const char *export_activation(rapt_ffn_kind kind)
{
    switch (kind) {
    case RAPT_FFN_RELU: return "relu";
    case RAPT_FFN_GELU: return "gelu";
    case RAPT_FFN_GELU_TANH: return "gelu_new";
    case RAPT_FFN_SILU:
    case RAPT_FFN_SWIGLU:            /* of its gate */
    case RAPT_FFN_GEGLU_TANH: break; /* not ours (config_block_check_ours) */
    }
    return "silu";
}

#endif
