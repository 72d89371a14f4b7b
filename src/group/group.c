/* group/group.c: a group of one rank, which has nothing to exchange. */
#include "group/group_ops.h"

#include <stdlib.h>
#include <string.h>

struct rapt_group {
    rapt_transport transport;
};

rapt_group *rapt_group_new(const rapt_transport *transport, const rapt_group_options *options, rapt_error *err)
{
    (void)options;
    int rank, size;
    rapt_group *g = calloc(1, sizeof *g);
    if (!g) {
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a group");
        return NULL;
    }
    g->transport = *transport;
    rapt_code code = transport->open(transport->context, &rank, &size, err);
    if (code == RAPT_OK && size > 1)
        code = rapt_fail(err, RAPT_ERR_VALUE, "a group has one rank so far");
    if (code == RAPT_OK)
        return g;
    free(g);
    return NULL;
}

void rapt_group_free(rapt_group *g)
{
    if (g)
        g->transport.close(g->transport.context);
    free(g);
}

void rapt_group_abort(rapt_group *g, int status)
{
    if (g)
        g->transport.abort(g->transport.context, status);
    free(g);
}

int rapt_group_rank(const rapt_group *g)
{
    (void)g;
    return 0;
}

int rapt_group_size(const rapt_group *g)
{
    (void)g;
    return 1;
}

struct group_op {
    char unused;
};

group_op *group_reduce(rapt_group *g, uint32_t shards, const size_t *bounds, rapt_real *const *parts, rapt_error *err)
{
    (void)g, (void)shards, (void)bounds, (void)parts, (void)err;
    return calloc(1, sizeof(group_op));
}

group_op *group_gather(rapt_group *g, void *data, const size_t *bounds, size_t size_of, rapt_error *err)
{
    (void)g, (void)data, (void)bounds, (void)size_of, (void)err;
    return calloc(1, sizeof(group_op));
}

rapt_code group_wait(rapt_group *g, group_op *op, rapt_error *err)
{
    (void)g, (void)err;
    free(op);
    return RAPT_OK;
}

bool group_done(const group_op *op)
{
    (void)op;
    return true;
}

void group_halt(rapt_group *g)
{
    (void)g;
}

rapt_code group_share(rapt_group *g, const void *mine, size_t bytes, void *all, rapt_error *err)
{
    (void)g, (void)err;
    memmove(all, mine, bytes);
    return RAPT_OK;
}

rapt_code group_share_all(rapt_group *g, const void *mine, size_t bytes, char **all, size_t *sizes, rapt_error *err)
{
    (void)g;
    *all = malloc(bytes ? bytes : 1);
    if (!*all)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu bytes", bytes);
    memcpy(*all, mine, bytes);
    sizes[0] = bytes;
    return RAPT_OK;
}

rapt_code group_broadcast(rapt_group *g, int root, void *data, size_t bytes, rapt_error *err)
{
    (void)g, (void)root, (void)data, (void)bytes, (void)err;
    return RAPT_OK;
}

rapt_code group_collect(rapt_group *g, void *data, const size_t *bounds, size_t size_of, rapt_error *err)
{
    (void)g, (void)data, (void)bounds, (void)size_of, (void)err;
    return RAPT_OK;
}

rapt_code group_agree(rapt_group *g, rapt_code code, rapt_error *err)
{
    (void)g, (void)err;
    return code;
}

void group_doing(rapt_group *g, const char *what)
{
    (void)g, (void)what;
}

const char *group_host(const rapt_group *g, int rank)
{
    (void)g, (void)rank;
    return "";
}

group_stats group_statistics(rapt_group *g)
{
    (void)g;
    return (group_stats){0};
}
