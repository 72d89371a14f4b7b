/* explain/explain_origin.c: the parameters with which an intermediate is computed, for models whose Hugging Face folder has other
 * names. For explain_text.c and explain_json.c. It knows names only; rapt/observe.h lists the names of intermediates. */
#include "explain/explanation.h"

#include "base/ends.h"
#include "io/model_core.h"
#include "tensor/params.h"

#include <stdio.h>
#include <string.h>

#define NAME 192

/* The layer whose parameters make an intermediate has the intermediate's name with another end. */
typedef struct layer_rule {
    const char *step, *layer; /* ends */
} layer_rule;

/* Rules for the same end are tried in this order: blocks.0.norm1 makes "blocks.0.norm1.output", even if there is a norm called
 * blocks.0.norm1.output. */
static const layer_rule RULES[] = {
    {".output", ""},
    {"", ""},
    {"attention.output", "attention.o"},
    {".q.normed", ".q_norm"},
    {".k.normed", ".k_norm"},
    {".hidden", ".dense1"},
    {"ffn.output", "ffn.dense2"},
    {"ffn.output", "ffn.down"},
    {"decoder.embedding", "encoder.embedding"}, /* if they are tied, they are one matrix */
    {"output", "embedding"},
    {"decoder.output", "encoder.embedding"},
};

/* A block has "encoder.0.relative.weight", or all of a stack share "encoder.relative.weight". */
static const rapt_param *relative_of(const rapt_params *set, const char *step)
{
    char name[NAME];
    const size_t stack = strcspn(step, "."), block = stack + 1 + strcspn(step + stack + 1, ".");
    snprintf(name, NAME, "%.*s.relative.weight", (int)block, step);
    const rapt_param *own = params_find(set, name);
    snprintf(name, NAME, "%.*s.relative.weight", (int)stack, step);
    return own ? own : params_find(set, name);
}

/* The first layer that has such a parameter; NULL: none. */
static const rapt_param *param_of(const rapt_params *set, const char *step, const char *last)
{
    char name[NAME];
    const rapt_param *p = NULL;
    for (size_t i = 0; i < sizeof RULES / sizeof *RULES && !p; i++) {
        const size_t kept = strlen(step) - (ends_in(step, RULES[i].step) ? strlen(RULES[i].step) : 0);
        if (ends_in(step, RULES[i].step) && snprintf(name, NAME, "%.*s%s.%s", (int)kept, step, RULES[i].layer, last) < NAME)
            p = params_find(set, name);
    }
    return p;
}

size_t explain_origins(const rapt_explanation *e, const rapt_intermediate *x, const rapt_param *with[EXPLAIN_ORIGINS])
{
    const rapt_params *set = e->model->params;
    const rapt_param *all[EXPLAIN_ORIGINS] = {NULL, NULL};
    size_t count = 0;
    if (x->gradient) {
        all[0] = params_find(set, x->name);
    } else if (ends_in(x->name, ".biased")) {
        all[0] = relative_of(set, x->name);
    } else {
        all[0] = param_of(set, x->name, "weight");
        all[1] = param_of(set, x->name, "bias");
    }
    for (size_t i = 0; i < EXPLAIN_ORIGINS; i++)
        if (all[i] && all[i]->origin)
            with[count++] = all[i];
    return count;
}
