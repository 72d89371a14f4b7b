/* nn/embedding.c: the lookup table, nn.Embedding with all its options. */
#include "rapt/nn.h"

#include "nn/names.h"
#include "tape/observe_op.h"

#include <string.h>

static void start_values(const rapt_params *set, rapt_param *w, size_t entries, size_t d, const rapt_embedding_options *o)
{
    bool numbers = rapt_params_seed(set) != RAPT_SEED_SHAPES;
    if (o->vectors && numbers)
        memcpy(w->value.data, o->vectors, entries * d * sizeof *o->vectors);
    if (o->embed.has_padding && !o->vectors && numbers)
        memset(w->value.data + (size_t)o->embed.padding_idx * d, 0, d * sizeof(rapt_real));
    if (o->freeze) {
        w->frozen = true;
        w->value.requires_grad = false;
    }
}

void rapt_embedding_init(rapt_embedding *m, rapt_params *set, const char *prefix, size_t entries, size_t d,
                         const rapt_embedding_options *options)
{
    rapt_embedding_options o = options ? *options : (rapt_embedding_options){0};
    rapt_init normal = {RAPT_INIT_NORMAL, o.std != 0 ? o.std : 1};
    if (o.embed.has_padding && (o.embed.padding_idx < 0 || (size_t)o.embed.padding_idx >= entries))
        rapt_params_fail(set, RAPT_ERR_VALUE, "embedding %s: padding_idx %d, there are %zu entries", prefix,
                         o.embed.padding_idx, entries);
    m->weight = rapt_params_add(set, name_join(prefix, "weight").text, 2, (size_t[]){entries, d}, normal);
    m->options = o.embed;
    if (rapt_params_error(set)->code)
        return;
    start_values(set, m->weight, entries, d, &o);
    if (o.sparse)
        rapt_param_make_sparse(set, m->weight);
}

rapt_tensor *rapt_embedding_forward(rapt_tape *t, const rapt_embedding *m, rapt_tokens tokens)
{
    observe_scope outer = observe_enter(t, m->weight->value.name, 2);
    return observe_leave(t, outer, rapt_op_embed(t, m->weight, tokens, &m->options));
}
