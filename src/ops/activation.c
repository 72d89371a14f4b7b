/* ops/activation.c: GELU, its tanh form, SiLU, and the gate of SwiGLU. For feed-forward networks of language models. ReLU is in
 * elementwise.c; linear_op.c fuses activations into a GEMM.
 *
 * A recorded forward pass computes the derivative f'(x) together with f(x), at little cost, because both need the same
 * exponential. Backward: dx = f'(x) dy. SwiGLU: dgate = dy up silu'(gate), dup = dy silu(gate), recomputed from gate. */
#include "ops/linear_parts.h"

#include "base/rows.h"
#include "ops/elements.h"
#include "tape/observe_op.h"
#include "tape/profile_op.h"

#define COST 4 /* per element, in elementary operations */

/* As observed; the last one ends the list of activations. */
static const char *const formulas[] = {
    [RAPT_ACTIVATION_RELU] = "relu(hidden)", [RAPT_ACTIVATION_GELU] = "gelu(hidden)",
    [RAPT_ACTIVATION_GELU_TANH] = "gelu_tanh(hidden)", [RAPT_ACTIVATION_SILU] = "silu(hidden)"};
ROWS_FIT(formulas, RAPT_ACTIVATIONS, 0);

bool activation_unknown(rapt_activation a)
{
    return a >= sizeof formulas / sizeof *formulas;
}

/* The switches have no default, so that compilers warn if an activation is missing. */
bool activation_smooth(rapt_activation a)
{
    switch (a) {
    case RAPT_ACTIVATION_IDENTITY:
    case RAPT_ACTIVATION_RELU: break;
    case RAPT_ACTIVATION_GELU:
    case RAPT_ACTIVATION_GELU_TANH:
    case RAPT_ACTIVATION_SILU: return true;
    }
    return false;
}

void activation_elements(const kernels *k, const void *run, size_t at, size_t n)
{
    const activation_run *r = run;
    rapt_real *slope = r->slope ? r->slope + at : NULL;
    switch (r->activation) {
    case RAPT_ACTIVATION_IDENTITY:
    case RAPT_ACTIVATION_RELU: break; /* not smooth */
    case RAPT_ACTIVATION_GELU: k->gelu(n, r->x + at, r->y + at, slope); break;
    case RAPT_ACTIVATION_GELU_TANH: k->gelu_tanh(n, r->x + at, r->y + at, slope); break;
    case RAPT_ACTIVATION_SILU: k->silu(n, r->x + at, r->y + at, slope); break;
    }
}

static void activation_run_block(const kernels *k, const void *context, size_t at, size_t n, int worker)
{
    (void)worker;
    activation_elements(k, context, at, n);
}

typedef struct activation_node {
    tape_node node;
    rapt_tensor *x, *y;
    rapt_real *slope;
} activation_node;

static void activation_backward(rapt_tape *t, tape_node *node)
{
    activation_node *a = (activation_node *)node;
    bool accumulate;
    rapt_real *dx = a->y->grad_filled ? tape_grad(t, a->x, &accumulate) : NULL;
    profile_op(t, "activation", 0, 3.0 * (double)rapt_tensor_size(a->x));
    if (dx)
        elements_chain(t, rapt_tensor_size(a->x), a->slope, a->y->grad, dx, accumulate);
}

static rapt_tensor *activate(rapt_tape *t, rapt_tensor *x, rapt_activation activation)
{
    size_t n = rapt_tensor_size(x);
    rapt_tensor *y = tape_output_like(t, x, tape_wants(t, x));
    activation_node *node = y && y->requires_grad ? tape_alloc(t, 1, sizeof *node) : NULL;
    rapt_real *slope = node ? tape_elements(t, n) : NULL;
    if (tape_failed(t))
        return &t->poison;
    profile_op(t, "activation", 0, (slope ? 3.0 : 2.0) * (double)n);
    elements_run(t, n, COST, activation_run_block, &(activation_run){activation, x->data, y->data, slope});
    if (node) {
        *node = (activation_node){.x = x, .y = y, .slope = slope};
        tape_record(t, &node->node, activation_backward);
    }
    return y;
}

rapt_tensor *rapt_op_activate(rapt_tape *t, rapt_tensor *x, rapt_activation activation)
{
    if (tape_failed(t))
        return &t->poison;
    if (activation_unknown(activation))
        return rapt_tape_fail(t, RAPT_ERR_VALUE, "activate: there is no activation %d", (int)activation);
    if (activation == RAPT_ACTIVATION_IDENTITY)
        return x;
    rapt_tensor *y = activation == RAPT_ACTIVATION_RELU ? rapt_op_relu(t, x) : activate(t, x, activation);
    const bool gate = activation == RAPT_ACTIVATION_GELU_TANH && observe_is(t, x, "gate");
    return observe_tensor(t, "activation", gate ? "gelu_tanh(gate)" : formulas[activation], OBSERVE_ROWS, y);
}

/* ---- SwiGLU ------------------------------------------------------------------------------------------------- */

typedef struct swiglu_node {
    tape_node node;
    rapt_tensor *gate, *up, *y;
} swiglu_node;

static void swiglu_block(const kernels *k, const void *context, size_t at, size_t n, int worker)
{
    const swiglu_node *s = context;
    (void)worker;
    k->swiglu(n, s->gate->data + at, s->up->data + at, s->y->data + at);
}

typedef struct swiglu_gradients {
    const swiglu_node *s;
    rapt_real *dgate, *dup; /* or NULL */
    bool add_gate, add_up;
    rapt_real *gate_scratch, *up_scratch; /* a block for each worker */
} swiglu_gradients;

/* The place where the gradient of a block is computed: its destination, or scratch memory that is added to it. */
static rapt_real *first_place(rapt_real *gradient, bool add, rapt_real *scratch, size_t at, int worker)
{
    return gradient && !add ? gradient + at : scratch + (size_t)worker * ELEMENTS_BLOCK;
}

static void swiglu_backward_block(const kernels *k, const void *context, size_t at, size_t n, int worker)
{
    const swiglu_gradients *g = context;
    const swiglu_node *s = g->s;
    rapt_real *dgate = first_place(g->dgate, g->add_gate, g->gate_scratch, at, worker);
    rapt_real *dup = first_place(g->dup, g->add_up, g->up_scratch, at, worker);
    k->swiglu_backward(n, s->gate->data + at, s->up->data + at, s->y->grad + at, dgate, dup);
    if (g->dgate && g->add_gate)
        k->add(n, g->dgate + at, dgate, g->dgate + at);
    if (g->dup && g->add_up)
        k->add(n, g->dup + at, dup, g->dup + at);
}

static void swiglu_backward(rapt_tape *t, tape_node *node)
{
    swiglu_node *s = (swiglu_node *)node;
    swiglu_gradients g = {.s = s};
    if (!s->y->grad_filled)
        return;
    profile_op(t, "swiglu", 0, 5.0 * (double)rapt_tensor_size(s->y));
    g.dgate = tape_grad(t, s->gate, &g.add_gate);
    g.dup = tape_grad(t, s->up, &g.add_up);
    g.gate_scratch = elements_scratch(t);
    g.up_scratch = elements_scratch(t);
    if (!tape_failed(t))
        elements_run(t, rapt_tensor_size(s->y), COST, swiglu_backward_block, &g);
}

rapt_tensor *rapt_op_swiglu(rapt_tape *t, rapt_tensor *gate, rapt_tensor *up)
{
    char sg[96], su[96];
    if (tape_failed(t))
        return &t->poison;
    if (!rapt_tensor_same_shape(gate, up))
        return rapt_tape_fail(t, RAPT_ERR_SHAPE, "swiglu: gate %s and up %s differ", rapt_shape_text(gate, sg, sizeof sg),
                              rapt_shape_text(up, su, sizeof su));
    rapt_tensor *y = tape_output_like(t, gate, tape_wants(t, gate) || tape_wants(t, up));
    swiglu_node *node = tape_alloc(t, 1, sizeof *node);
    if (tape_failed(t))
        return &t->poison;
    *node = (swiglu_node){.gate = gate, .up = up, .y = y};
    profile_op(t, "swiglu", 0, 3.0 * (double)rapt_tensor_size(y));
    elements_run(t, rapt_tensor_size(y), COST, swiglu_block, node);
    if (y->requires_grad)
        tape_record(t, &node->node, swiglu_backward);
    return observe_tensor(t, "product", "silu(gate) * up", OBSERVE_ROWS, y);
}
