/* train/shards/rows_share.c: sends rows between processes and adds them. A message has, for each subtree of a process, the number
 * of rows, their ids, and their elements, each beginning at a multiple of 8 bytes. */
#include "train/shards/step_ranks.h"

#include "group/group_ops.h"

#include <stdlib.h>
#include <string.h>

#define UNIT sizeof(uint64_t)

void rows_share_free(rows_share *s)
{
    for (size_t i = 0; i < sizeof s->rows / sizeof *s->rows; i++)
        packed_rows_free(&s->rows[i]);
    buffer_free(&s->message);
}

static size_t in_units(size_t bytes)
{
    return (bytes + UNIT - 1) / UNIT * UNIT;
}

static bool append_in_units(buffer *b, const void *data, size_t bytes)
{
    static const char zeros[UNIT];
    return buffer_append(b, data, bytes) && buffer_append(b, zeros, in_units(bytes) - bytes);
}

static bool rows_share_write(rows_share *s, const shard_sums *own, size_t param, size_t width)
{
    s->message.size = 0;
    for (size_t k = 0; k < shard_sums_count(own); k++) {
        const packed_rows *rows = shard_sums_rows(own, k, param);
        const uint64_t count = rows->count;
        if (!append_in_units(&s->message, &count, sizeof count) ||
            !append_in_units(&s->message, rows->ids, rows->count * sizeof *rows->ids) ||
            !append_in_units(&s->message, rows->rows, rows->count * width * sizeof *rows->rows))
            return false;
    }
    return true;
}

/* Puts the rows of the next node onto the stack, and adds nodes that are complete. */
static bool rows_share_push(rows_share *s, size_t *depth, shard_node n, const packed_rows *from, size_t width, const kernels *k)
{
    static const packed_rows none;
    packed_rows *spare = &s->rows[sizeof s->rows / sizeof *s->rows - 1];
    s->nodes[*depth] = n;
    bool ok = packed_rows_copy(&s->rows[(*depth)++], from ? from : &none, width);
    for (; ok && *depth > 1 && shard_sums_are_children(s->nodes[*depth - 2], s->nodes[*depth - 1], s->shards); --*depth) {
        packed_rows *left = &s->rows[*depth - 2], before = *left;
        ok = packed_rows_add(spare, left, &s->rows[*depth - 1], width, k);
        *left = *spare;
        *spare = before;
        s->nodes[*depth - 2].end = n.end;
    }
    return ok;
}

/* The nodes of one process, out of its message. */
static bool rows_share_read(rows_share *s, size_t *depth, int rank, char *message, size_t width, const kernels *k)
{
    shard_node nodes[SHARD_MAX_SUBTREES];
    size_t count = shard_subtrees(rank, rapt_group_size(s->group), s->shards, nodes);
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++) {
        uint64_t rows;
        memcpy(&rows, message, sizeof rows);
        message += sizeof rows;
        packed_rows from = {.count = rows, .ids = (uint32_t *)message};
        message += in_units(rows * sizeof *from.ids);
        from.rows = (rapt_real *)message;
        message += in_units(rows * width * sizeof *from.rows);
        ok = rows_share_push(s, depth, nodes[i], &from, width, k);
    }
    return ok;
}

rapt_code rows_share_sum(rows_share *s, shard_sums *own, const kernels *k, const rapt_param *p, rapt_error *err)
{
    const int size = rapt_group_size(s->group);
    const size_t width = rapt_tensor_size(&p->value) / p->value.shape[0];
    size_t depth = 0, *sizes = calloc((size_t)size, sizeof *sizes);
    char *all = NULL, *message;
    bool ok = sizes && rows_share_write(s, own, p->index, width);
    rapt_code code = ok ? group_share_all(s->group, s->message.data, s->message.size, &all, sizes, err) : RAPT_ERR_MEMORY;
    message = all;
    for (int rank = 0; !code && ok && rank < size; rank++) {
        ok = rows_share_read(s, &depth, rank, message, width, k);
        message += sizes[rank];
    }
    if (!ok)
        code = rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the gradient of \"%s\"", p->value.name);
    if (!code)
        shard_sums_use_rows(own, p->index, &s->rows[0]);
    free(all);
    free(sizes);
    return code;
}
