/* group/group_small.c: operations that are waited for at once. They overtake operations in flight. */
#include "group/group_core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Why group_new_op returned NULL. */
static rapt_code why_none(const rapt_group *g)
{
    return group_broken(g) ? g->failure.code : RAPT_ERR_MEMORY;
}

static rapt_code submit_and_wait(rapt_group *g, group_op *op, rapt_error *err)
{
    op->small = true;
    return group_wait(g, group_submit(g, op), err);
}

/* Range i of `all` is rank i's; its own is there already. */
static rapt_code gather_natural(rapt_group *g, void *all, const size_t *bounds, size_t size_of, rapt_error *err)
{
    group_op *op = group_new_op(g, err);
    if (!op)
        return why_none(g);
    op->data = all;
    op->bounds = bounds;
    op->size_of = size_of;
    op->natural = true;
    rank_exchange_prepare_gather(op);
    return submit_and_wait(g, op, err);
}

rapt_code group_share(rapt_group *g, const void *mine, size_t bytes, void *all, rapt_error *err)
{
    if (bytes > 0)
        memmove((char *)all + (size_t)g->rank * bytes, mine, bytes);
    return gather_natural(g, all, NULL, bytes, err);
}

rapt_code group_share_all(rapt_group *g, const void *mine, size_t bytes, char **all, size_t *sizes, rapt_error *err)
{
    *all = NULL;
    size_t *bounds = calloc((size_t)g->size + 1, sizeof *bounds);
    if (!bounds)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %d ranks", g->size);
    rapt_code code = group_share(g, &bytes, sizeof bytes, sizes, err);
    for (int r = 0; r < g->size && code == RAPT_OK; r++)
        bounds[r + 1] = bounds[r] + sizes[r];
    if (code == RAPT_OK && !(*all = malloc(bounds[g->size] + 1)))
        code = rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu bytes of all ranks", bounds[g->size]);
    code = group_agree(g, code, err);
    if (code == RAPT_OK) {
        if (bytes > 0)
            memcpy(*all + bounds[g->rank], mine, bytes);
        code = gather_natural(g, *all, bounds, 1, err);
    }
    if (code != RAPT_OK) {
        free(*all);
        *all = NULL;
    }
    free(bounds);
    return code;
}

rapt_code group_broadcast(rapt_group *g, int root, void *data, size_t bytes, rapt_error *err)
{
    group_op *op = group_new_op(g, err);
    if (!op)
        return why_none(g);
    op->data = data;
    op->bytes = bytes;
    op->root = root;
    rank_exchange_prepare_broadcast(op);
    return submit_and_wait(g, op, err);
}

rapt_code group_collect(rapt_group *g, void *data, const size_t *bounds, size_t size_of, rapt_error *err)
{
    group_op *op = group_new_op(g, err);
    if (!op)
        return why_none(g);
    op->data = data;
    op->bounds = bounds;
    op->size_of = size_of;
    rank_exchange_prepare_collect(op);
    return submit_and_wait(g, op, err);
}

/* ---- agreement -------------------------------------------------------------------------------------------- */

/* The result if the group has failed with `why`. This rank's own failure takes precedence, except a request to stop, which may
 * itself come from the group's failure. */
static rapt_code not_agreed(rapt_code own, const rapt_error *why, rapt_error *err)
{
    if (own == RAPT_ERR_INTERRUPTED && err)
        *err = (rapt_error){0};
    if (own == RAPT_OK || own == RAPT_ERR_INTERRUPTED)
        rapt_fail(err, why->code, "%s", why->message);
    return why->code;
}

/* The failure of the lowest rank that has one, from that rank. */
static rapt_code tell_failure(rapt_group *g, int rank, rapt_code code, rapt_error *err)
{
    char message[sizeof err->message] = "";
    rapt_error why = {0};
    if (rank == g->rank)
        snprintf(message, sizeof message, "%s", err && err->code != RAPT_OK ? err->message : rapt_code_name(code));
    if (group_broadcast(g, rank, message, sizeof message, &why) != RAPT_OK)
        return not_agreed((rapt_code)g->codes[g->rank], &why, err);
    if (err)
        *err = (rapt_error){0};
    if (g->size == 1)
        return rapt_fail(err, code, "%s", message);
    return rapt_fail(err, code, "rank %d on %s: %s", rank, group_host(g, rank), message);
}

rapt_code group_agree(rapt_group *g, rapt_code code, rapt_error *err)
{
    int32_t mine = (int32_t)code;
    rapt_error why = {0};
    if (group_share(g, &mine, sizeof mine, g->codes, &why) != RAPT_OK)
        return not_agreed(code, &why, err);
    int failed = 0;
    while (failed < g->size && g->codes[failed] == RAPT_OK)
        failed++;
    return failed == g->size ? RAPT_OK : tell_failure(g, failed, (rapt_code)g->codes[failed], err);
}
