/* group/halving.c: the sum of a bucket by recursive halving. In round k, ranks r and r ^ 2^k hold the sums of neighboring nodes
 * of the tree over shards. They swap halves of what they still have, and each adds the half that it keeps, which gives the sum of
 * the parent node. The nearest ranks come first, with the largest messages. Thakur, Rabenseifner and Gropp, "Optimization of
 * collective communication operations in MPICH", 2005. For any other number of ranks or shards: pairwise.c. */
#include "group/operation.h"

typedef struct halving {
    int partner;
    int kept, sent, count; /* first ranges, and how many ranges both have */
} halving;

/* The halves that round k swaps. */
static halving halving_round(const group_op *op, size_t round)
{
    halving h = {.kept = 0, .count = op->size};
    for (size_t k = 0; k <= round; k++) {
        int low = h.kept;
        h.count /= 2;
        h.partner = op->rank ^ (1 << k);
        h.kept = op->rank & (1 << k) ? low + h.count : low;
        h.sent = op->rank & (1 << k) ? low : low + h.count;
    }
    return h;
}

static size_t halving_bytes(const group_op *op, int first, int count)
{
    return operation_at(op, first + count) - operation_at(op, first);
}

static void halving_advance(group_op *op)
{
    char *sum = (char *)op->parts[0];
    for (; op->open == 0 && 1 << op->round < 2 * op->size; op->round++) {
        if (op->round > 0) {
            halving h = halving_round(op, op->round - 1);
            rapt_real *kept = (rapt_real *)(sum + operation_at(op, h.kept));
            op->add(halving_bytes(op, h.kept, h.count) / op->size_of, kept, (const rapt_real *)op->scratch, kept);
        }
        if (1 << op->round < op->size) {
            halving h = halving_round(op, op->round);
            operation_move(op, true, h.partner, op->scratch, halving_bytes(op, h.kept, h.count));
            operation_move(op, false, h.partner, sum + operation_at(op, h.sent), halving_bytes(op, h.sent, h.count));
        }
    }
}

void halving_prepare(group_op *op)
{
    op->advance = halving_advance;
    if (op->size > 1) {
        halving first = halving_round(op, 0);
        op->scratch_bytes = halving_bytes(op, first.kept, first.count);
    }
}
