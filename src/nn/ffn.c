/* nn/ffn.c: the position-wise feed-forward network (Vaswani et al. 2017, eq. 2), with the activations that came after
 * ReLU, and with a gate. For all blocks. */
#include "rapt/nn.h"

#include "nn/names.h"
#include "ops/record_steps.h"

void rapt_ffn_init_kind(rapt_ffn *m, rapt_params *set, const char *prefix, size_t in, size_t hidden, size_t out,
                        rapt_ffn_kind kind, bool bias, rapt_weight_init init)
{
    bool gated = kind == RAPT_FFN_SWIGLU;
    *m = (rapt_ffn){.kind = kind};
    if (gated)
        rapt_linear_init(&m->gate, set, name_join(prefix, "gate.").text, in, hidden, bias, init);
    rapt_linear_init(&m->dense1, set, name_join(prefix, gated ? "up." : "dense1.").text, in, hidden, bias, init);
    rapt_linear_init(&m->dense2, set, name_join(prefix, gated ? "down." : "dense2.").text, hidden, out, bias, init);
}

void rapt_ffn_init(rapt_ffn *m, rapt_params *set, const char *prefix, size_t in, size_t hidden, size_t out,
                   rapt_weight_init kind)
{
    rapt_ffn_init_kind(m, set, prefix, in, hidden, out, RAPT_FFN_RELU, true, kind);
}

static const rapt_activation activations[] = {
    [RAPT_FFN_RELU] = RAPT_ACTIVATION_RELU, [RAPT_FFN_GELU] = RAPT_ACTIVATION_GELU,
    [RAPT_FFN_GELU_TANH] = RAPT_ACTIVATION_GELU_TANH};

static rapt_tensor *activation_of(rapt_tape *t, const rapt_ffn *m, rapt_tensor *x)
{
    if (m->kind != RAPT_FFN_SWIGLU)
        return rapt_op_linear(t, x, m->dense1.weight, m->dense1.bias, activations[m->kind]);
    rapt_tensor *gate = rapt_linear_forward(t, &m->gate, x);
    return rapt_op_swiglu(t, gate, rapt_linear_forward(t, &m->dense1, x));
}

static rapt_tensor *hidden_of(rapt_tape *t, const rapt_ffn *m, rapt_tensor *x)
{
    rapt_tensor *hidden = activation_of(t, m, x);
    return m->dropout > 0 ? rapt_op_dropout(t, hidden, m->dropout) : hidden;
}

/* A step of its own only where there is something to drop. */
static rapt_tensor *dropped_step(rapt_tape *t, const rapt_ffn *m, record_scope s, rapt_tensor *hidden)
{
    return m->dropout > 0 ? record_dropout(t, s, "activation.dropped", RECORD_BATCH, hidden, m->dropout) : hidden;
}

static rapt_tensor *gated_steps(rapt_tape *t, const rapt_ffn *m, record_scope s, rapt_tensor *x)
{
    rapt_tensor *gate = rapt_linear_forward(t, &m->gate, x);
    record_step(t, s, "gate", m->gate.bias ? "x W_gate^T + b_gate" : "x W_gate^T", RECORD_BATCH, gate);
    rapt_tensor *up = rapt_linear_forward(t, &m->dense1, x);
    record_step(t, s, "up", m->dense1.bias ? "x W_up^T + b_up" : "x W_up^T", RECORD_BATCH, up);
    rapt_tensor *product = rapt_op_swiglu(t, gate, up);
    record_step(t, s, "product", "silu(gate) * up", RECORD_BATCH, product);
    product = dropped_step(t, m, s, product);
    rapt_tensor *y = rapt_linear_forward(t, &m->dense2, product);
    record_step(t, s, "output", m->dense2.bias ? "product W_down^T + b_down" : "product W_down^T", RECORD_BATCH, y);
    return y;
}

static rapt_tensor *plain_steps(rapt_tape *t, const rapt_ffn *m, record_scope s, rapt_tensor *x)
{
    static const char *const formulas[] = {[RAPT_FFN_RELU] = "relu(hidden)", [RAPT_FFN_GELU] = "gelu(hidden)",
                                           [RAPT_FFN_GELU_TANH] = "gelu_tanh(hidden)"};
    rapt_tensor *hidden = rapt_linear_forward(t, &m->dense1, x);
    record_step(t, s, "hidden", m->dense1.bias ? "x W_1^T + b_1" : "x W_1^T", RECORD_BATCH, hidden);
    rapt_tensor *active = rapt_op_activate(t, hidden, activations[m->kind]);
    record_step(t, s, "activation", formulas[m->kind], RECORD_BATCH, active);
    active = dropped_step(t, m, s, active);
    rapt_tensor *y = rapt_linear_forward(t, &m->dense2, active);
    record_step(t, s, "output", m->dense2.bias ? "activation W_2^T + b_2" : "activation W_2^T", RECORD_BATCH, y);
    return y;
}

static rapt_tensor *forward_steps(rapt_tape *t, const rapt_ffn *m, rapt_tensor *x)
{
    record_scope s = record_scope_of(m->dense1.weight->value.name, 2);
    return m->kind == RAPT_FFN_SWIGLU ? gated_steps(t, m, s, x) : plain_steps(t, m, s, x);
}

rapt_tensor *rapt_ffn_forward(rapt_tape *t, const rapt_ffn *m, rapt_tensor *x)
{
    if (record_on(t))
        return forward_steps(t, m, x);
    return rapt_linear_forward(t, &m->dense2, hidden_of(t, m, x));
}
