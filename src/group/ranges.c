/* group/ranges.c: which rank owns which range of a bucket. For the code that divides buckets, and for rank_exchange.c. */
#include "group/group_ops.h"

/* Reversed bits are their own inverse. */
static int reverse_range(int range, int size)
{
    int reversed = 0;
    if (size & (size - 1))
        return range;
    for (int bit = 1; bit < size; bit *= 2)
        reversed = 2 * reversed + ((range & bit) != 0);
    return reversed;
}

int group_owner(int range, int size)
{
    return reverse_range(range, size);
}

int group_range(int rank, int size)
{
    return reverse_range(rank, size);
}
