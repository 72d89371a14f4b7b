/* group/local.c: a transport between threads of one process. For tests, and for whoever tries things out. */
#include "rapt/group.h"

#include <stdlib.h>

static rapt_code local_open(void *context, int *rank, int *size, rapt_error *err)
{
    (void)context, (void)err;
    *rank = 0, *size = 1;
    return RAPT_OK;
}

static void local_close(void *context)
{
    (void)context;
}

static void local_abort(void *context, int status)
{
    (void)context, (void)status;
}

rapt_transport *rapt_group_local(int size, rapt_error *err)
{
    rapt_transport *all = calloc((size_t)size, sizeof *all);
    if (!all)
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %d transports", size);
    for (int i = 0; all && i < size; i++)
        all[i] = (rapt_transport){.open = local_open, .close = local_close, .abort = local_abort, .name = "threads"};
    return all;
}

void rapt_group_local_free(rapt_transport *transports)
{
    free(transports);
}
