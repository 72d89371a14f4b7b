/* ops/linear_observed.c: the names of linear layers on an observed tape (rapt/observe.h). The weight's name tells the layer:
 * "encoder.0.ffn.dense1.weight" belongs to dense1. */
#include "ops/linear_parts.h"

#include <string.h>

typedef struct linear_role {
    const char *layer, *what, *axes;
    const char *formula, *biased; /* without and with a bias */
    bool memory;                  /* for keys and values from another sequence than the queries */
} linear_role;

static const linear_role linear_roles[] = {
    {"q", "q", OBSERVE_QUERIES, "x W_q^T", "x W_q^T + b_q", false},
    {"k", "k", OBSERVE_KEYS, "x W_k^T", "x W_k^T + b_k", false},
    {"v", "v", OBSERVE_KEYS, "x W_v^T", "x W_v^T + b_v", false},
    {"k", "k", OBSERVE_KEYS, "memory W_k^T", "memory W_k^T + b_k", true},
    {"v", "v", OBSERVE_KEYS, "memory W_v^T", "memory W_v^T + b_v", true},
    {"o", "output", OBSERVE_QUERIES, "concat W_o^T", "concat W_o^T + b_o", false},
    {"dense1", "hidden", OBSERVE_ROWS, "x W_1^T", "x W_1^T + b_1", false},
    {"dense2", "output", OBSERVE_ROWS, "activation W_2^T", "activation W_2^T + b_2", false},
    {"gate", "gate", OBSERVE_ROWS, "x W_gate^T", "x W_gate^T + b_gate", false},
    {"up", "up", OBSERVE_ROWS, "x W_up^T", "x W_up^T + b_up", false},
    {"down", "output", OBSERVE_ROWS, "product W_down^T", "product W_down^T + b_down", false},
    {"output", "output", OBSERVE_LOGITS, "x W^T", "x W^T + b", false},
    {"embedding", "output", OBSERVE_LOGITS, "x W^T", "x W^T + b", false}, /* a tied model */
};

static const linear_role *linear_role_of(const char *layer, bool memory)
{
    for (size_t i = 0; layer && i < sizeof linear_roles / sizeof *linear_roles; i++)
        if (strcmp(linear_roles[i].layer, layer) == 0 && linear_roles[i].memory == memory)
            return &linear_roles[i];
    return NULL;
}

rapt_tensor *linear_observe(rapt_tape *t, const rapt_linear_args *in, bool memory, rapt_tensor *y)
{
    if (!observe_here(t) || tape_failed(t))
        return y;
    const linear_role *role = linear_role_of(observe_layer(t, in->w->value.name), memory);
    if (!role)
        return y;
    const char *formula = in->b ? role->biased : role->formula;
    observe_from(t, (observe_source){.inputs = {in->x}, .parameters = {&in->w->value, in->b ? &in->b->value : NULL}});
    if (strcmp(role->axes, OBSERVE_LOGITS) == 0)
        return observe_logits(t, formula, y);
    return observe_tensor(t, role->what, formula, role->axes, y);
}
