/* train/shards/packed_rows.c: lists of the rows of a sparse gradient, and their sums. */
#include "train/shards/shard_sums.h"

#include "base/buffer.h"

#include <string.h>

static bool packed_rows_reserve(packed_rows *p, size_t count, size_t width)
{
    return ARRAY_RESERVE(&p->ids, &p->id_capacity, count) && ARRAY_RESERVE(&p->rows, &p->row_capacity, count * width);
}

bool packed_rows_take(packed_rows *to, rapt_param *p)
{
    const size_t rows = p->value.shape[0], width = rapt_tensor_size(&p->value) / rows;
    uint8_t *used = p->state->row_used, *end = used + rows, *next = used;
    size_t count = 0;
    for (; (next = memchr(next, 1, (size_t)(end - next))); next++)
        count++;
    if (!packed_rows_reserve(to, count, width))
        return false;
    to->count = 0;
    for (next = used; (next = memchr(next, 1, (size_t)(end - next))); next++) {
        size_t row = (size_t)(next - used);
        memcpy(to->rows + to->count * width, p->value.grad + row * width, width * sizeof *to->rows);
        memset(p->value.grad + row * width, 0, width * sizeof *to->rows);
        to->ids[to->count++] = (uint32_t)row;
        *next = 0;
    }
    return true;
}

void packed_rows_put(const packed_rows *from, rapt_param *p)
{
    const size_t width = rapt_tensor_size(&p->value) / p->value.shape[0];
    for (size_t i = 0; i < from->count; i++) {
        memcpy(p->value.grad + from->ids[i] * width, from->rows + i * width, width * sizeof *from->rows);
        p->state->row_used[from->ids[i]] = 1;
    }
}

/* x + 0, which equals x except that -0 becomes +0. */
static void add_zero(size_t n, const rapt_real *x, rapt_real *y)
{
    for (size_t i = 0; i < n; i++)
        y[i] = x[i] + (rapt_real)0;
}

bool packed_rows_add(packed_rows *sum, const packed_rows *a, const packed_rows *b, size_t width, const kernels *k)
{
    size_t i = 0, j = 0;
    if (!packed_rows_reserve(sum, a->count + b->count, width))
        return false;
    sum->count = 0;
    while (i < a->count || j < b->count) {
        const bool left = j == b->count || (i < a->count && a->ids[i] <= b->ids[j]);
        const bool right = i == a->count || (j < b->count && b->ids[j] <= a->ids[i]);
        rapt_real *to = sum->rows + sum->count * width;
        sum->ids[sum->count++] = left ? a->ids[i] : b->ids[j];
        if (left && right)
            k->add(width, a->rows + i * width, b->rows + j * width, to);
        else
            add_zero(width, left ? a->rows + i * width : b->rows + j * width, to);
        i += left;
        j += right;
    }
    return true;
}

bool packed_rows_copy(packed_rows *to, const packed_rows *from, size_t width)
{
    if (!packed_rows_reserve(to, from->count, width))
        return false;
    to->count = from->count;
    if (from->count > 0) {
        memcpy(to->ids, from->ids, from->count * sizeof *to->ids);
        memcpy(to->rows, from->rows, from->count * width * sizeof *to->rows);
    }
    return true;
}

void packed_rows_free(packed_rows *p)
{
    free(p->ids);
    free(p->rows);
    *p = (packed_rows){0};
}
