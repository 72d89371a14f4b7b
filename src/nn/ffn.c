/* nn/ffn.c: the position-wise feed-forward network (Vaswani et al. 2017, eq. 2), with the activations that came after
 * ReLU, and with a gate. For all blocks. */
#include "rapt/nn.h"

#include "nn/names.h"

void rapt_ffn_init_kind(rapt_ffn *m, rapt_params *set, const char *prefix, size_t in, size_t hidden, size_t out,
                        rapt_ffn_kind kind, bool bias, rapt_linear_init_kind init)
{
    bool gated = kind == RAPT_FFN_SWIGLU;
    *m = (rapt_ffn){.kind = kind};
    if (gated)
        rapt_linear_init(&m->gate, set, name_join(prefix, "gate.").text, in, hidden, bias, init);
    rapt_linear_init(&m->dense1, set, name_join(prefix, gated ? "up." : "dense1.").text, in, hidden, bias, init);
    rapt_linear_init(&m->dense2, set, name_join(prefix, gated ? "down." : "dense2.").text, hidden, out, bias, init);
}

void rapt_ffn_init(rapt_ffn *m, rapt_params *set, const char *prefix, size_t in, size_t hidden, size_t out,
                   rapt_linear_init_kind kind)
{
    rapt_ffn_init_kind(m, set, prefix, in, hidden, out, RAPT_FFN_RELU, true, kind);
}

static rapt_tensor *hidden_of(rapt_tape *t, const rapt_ffn *m, rapt_tensor *x)
{
    static const rapt_activation activations[] = {
        [RAPT_FFN_RELU] = RAPT_RELU, [RAPT_FFN_GELU] = RAPT_GELU, [RAPT_FFN_GELU_TANH] = RAPT_GELU_TANH};
    if (m->kind != RAPT_FFN_SWIGLU)
        return rapt_linear_op(t, x, m->dense1.weight, m->dense1.bias, activations[m->kind]);
    rapt_tensor *gate = rapt_linear_forward(t, &m->gate, x);
    return rapt_swiglu(t, gate, rapt_linear_forward(t, &m->dense1, x));
}

rapt_tensor *rapt_ffn_forward(rapt_tape *t, const rapt_ffn *m, rapt_tensor *x)
{
    return rapt_linear_forward(t, &m->dense2, hidden_of(t, m, x));
}
