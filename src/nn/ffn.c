/* nn/ffn.c: the position-wise feed-forward network (Vaswani et al. 2017, eq. 2), with ReLU, GELU, SiLU, or gated (SwiGLU). For
 * all blocks. */
#include "nn/linear.h"

#include "nn/names.h"
#include "tape/observe_op.h"

void rapt_ffn_init(rapt_ffn *m, rapt_params *set, const char *prefix, size_t in, size_t hidden, size_t out,
                   const rapt_ffn_options *options)
{
    const rapt_ffn_options o = options ? *options : (rapt_ffn_options){0};
    const rapt_linear_options first = {.no_bias = o.no_bias, .init = o.init, .std = o.std};
    const rapt_linear_options last = {.no_bias = o.no_bias, .init = o.init, .std = o.output_std};
    const bool gated = o.kind == RAPT_FFN_SWIGLU || o.kind == RAPT_FFN_GEGLU_TANH;
    *m = (rapt_ffn){.kind = o.kind};
    if (gated)
        rapt_linear_init(&m->gate, set, name_join(prefix, "gate.").text, in, hidden, &first);
    rapt_linear_init(&m->dense1, set, name_join(prefix, gated ? "up." : "dense1.").text, in, hidden, &first);
    rapt_linear_init(&m->dense2, set, name_join(prefix, gated ? "down." : "dense2.").text, hidden, out, &last);
}

/* The activation of the hidden features or, if they are gated, of the gate. The switch has no default, so that compilers warn if
 * a kind is missing. */
static rapt_activation ffn_activation(rapt_ffn_kind kind)
{
    switch (kind) {
    case RAPT_FFN_RELU: break;
    case RAPT_FFN_GELU: return RAPT_ACTIVATION_GELU;
    case RAPT_FFN_GELU_TANH:
    case RAPT_FFN_GEGLU_TANH: return RAPT_ACTIVATION_GELU_TANH;
    case RAPT_FFN_SWIGLU:
    case RAPT_FFN_SILU: return RAPT_ACTIVATION_SILU;
    }
    return RAPT_ACTIVATION_RELU;
}

/* The hidden features: activation(W1 x + b1), or activation(Wg x + bg) * (W1 x + b1). */
static rapt_tensor *ffn_hidden(rapt_tape *t, const rapt_ffn *m, rapt_tensor *x)
{
    if (m->kind == RAPT_FFN_GEGLU_TANH) {
        rapt_tensor *gelu = linear_activated(t, &m->gate, x, ffn_activation(m->kind));
        rapt_tensor *product = rapt_op_multiply(t, gelu, rapt_linear_forward(t, &m->dense1, x));
        return observe_tensor(t, "product", "activation * up", OBSERVE_ROWS, product);
    }
    if (m->kind != RAPT_FFN_SWIGLU)
        return linear_activated(t, &m->dense1, x, ffn_activation(m->kind));
    const rapt_linear *layers[] = {&m->gate, &m->dense1};
    rapt_tensor *y[2];
    for (size_t i = 0; i < 2; i++) {
        const rapt_linear_args in = linear_args(layers[i], x);
        y[i] = rapt_op_linear(t, in.x, in.w, in.b, RAPT_ACTIVATION_IDENTITY);
    }
    linears_adapt(t, 2, layers, (rapt_tensor *[]){x, x}, y);
    return rapt_op_swiglu(t, y[0], y[1]);
}

rapt_tensor *rapt_ffn_forward(rapt_tape *t, const rapt_ffn *m, rapt_tensor *x)
{
    observe_scope outer = observe_enter(t, m->dense1.weight->value.name, 2);
    rapt_tensor *hidden = rapt_op_dropout(t, ffn_hidden(t, m, x), m->dropout);
    return observe_leave(t, outer, rapt_linear_forward(t, &m->dense2, hidden));
}
