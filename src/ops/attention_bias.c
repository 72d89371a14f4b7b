/* ops/attention_bias.c: relative position biases of attention scores (Shaw et al. 2018; Raffel et al. 2020, section 2.1), for
 * attention_head.c and attention_observed.c. For inference: there is no backward pass. */
#include "ops/attention_op.h"

bool attention_bias_fits(const rapt_relative_bias *b, size_t heads)
{
    return !b->weight || (b->weight->value.ndim == 2 && b->weight->value.shape[1] == heads && b->bucket);
}

/* The bias of the key that is `distance` positions after the query. */
static rapt_real bias_at(const rapt_relative_bias *b, size_t head, ptrdiff_t distance)
{
    const ptrdiff_t reach = (ptrdiff_t)b->reach, clipped = distance > reach ? reach : distance < -reach ? -reach : distance;
    return b->weight->value.data[b->bucket[clipped + reach] * b->weight->value.shape[1] + head];
}

void attention_bias_row(const attention_node *n, size_t head, size_t position, size_t count, rapt_real *row)
{
    const ptrdiff_t reach = (ptrdiff_t)n->bias.reach, at = (ptrdiff_t)position;
    const rapt_real before = bias_at(&n->bias, head, -reach), behind = bias_at(&n->bias, head, reach);
    for (ptrdiff_t j = 0; j < (ptrdiff_t)count; j++)
        row[j] = n->scale * row[j] + (j <= at - reach ? before : j >= at + reach ? behind : bias_at(&n->bias, head, j - at));
}
