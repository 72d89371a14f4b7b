/* ops/attention_bias.c: relative position biases of attention scores (Shaw et al. 2018; Raffel et al. 2020, section 2.1), and
 * ALiBi's, which grow linearly (Press et al. 2022). For attention_head.c, attention_backward.c and attention_observed.c. Biases
 * get no gradient. */
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

/* As the formula says, with a rounding for each operation. Distances are below 2^31, the most positions of a text. */
static void attention_slope_row(rapt_real scale, rapt_real slope, int32_t position, int32_t count, rapt_real *row)
{
    for (int32_t j = 0; j < count; j++) {
        const int32_t away = position - j;
        row[j] = scale * row[j] - slope * (rapt_real)(away < 0 ? -away : away);
    }
}

void attention_bias_row(const attention_node *n, size_t head, size_t position, size_t count, rapt_real *row)
{
    if (n->bias.slopes) {
        attention_slope_row(n->scale, n->bias.slopes[head], (int32_t)position, (int32_t)count, row);
        return;
    }
    const ptrdiff_t reach = (ptrdiff_t)n->bias.reach, at = (ptrdiff_t)position;
    const rapt_real before = bias_at(&n->bias, head, -reach), behind = bias_at(&n->bias, head, reach);
    for (ptrdiff_t j = 0; j < (ptrdiff_t)count; j++)
        row[j] = n->scale * row[j] + (j <= at - reach ? before : j >= at + reach ? behind : bias_at(&n->bias, head, j - at));
}
