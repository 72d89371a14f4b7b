/* group/local.c: a transport between threads of one process, or between ranks that one thread polls. For tests and experiments: a
 * message is copied when it is sent, and again when it is received, each time by the thread of the rank that owns the memory, so
 * that a rank can drop out at any moment. */
#include "rapt/group.h"

#include "base/thread.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define SENT 0 /* the request of every message that was sent: done from the start */

typedef struct local_message {
    struct local_message *next;
    int from, tag;
    size_t bytes;
    char data[];
} local_message;

/* A receive that was posted. Requests are numbered from 1 on. */
typedef struct local_receive {
    bool used, done;
    uint64_t order; /* of posting */
    int from, tag;
    char *data;
    size_t bytes;
} local_receive;

typedef struct local_hub local_hub;

typedef struct local_rank {
    local_hub *hub;
    int rank;
    thread_mutex mutex;
    local_message *arrived, **arrived_end; /* guarded by mutex */
    /* the rest is the rank's own */
    local_message *unexpected; /* that no receive was posted for, in order */
    local_receive *receives;
    int count;
    uint64_t posted;
} local_rank;

struct local_hub {
    int size;
    atomic_int ended_by; /* 1 + the rank that called abort; 0: none */
    local_rank ranks[];
};

static rapt_code check_ended(const local_rank *r, rapt_error *err)
{
    int by = atomic_load(&r->hub->ended_by);
    return by ? rapt_fail(err, RAPT_ERR_IO, "rank %d has ended the group", by - 1) : RAPT_OK;
}

static rapt_code local_open(void *context, int *rank, int *size, rapt_error *err)
{
    const local_rank *r = context;
    *rank = r->rank;
    *size = r->hub->size;
    return check_ended(r, err);
}

static rapt_code local_send(void *context, int rank, int tag, const void *data, size_t bytes, int *request, rapt_error *err)
{
    const local_rank *r = context;
    local_rank *to = &r->hub->ranks[rank];
    local_message *m = malloc(sizeof *m + bytes);
    if (!m)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a message of %zu bytes", bytes);
    *m = (local_message){.from = r->rank, .tag = tag, .bytes = bytes};
    memcpy(m->data, data, bytes);
    thread_lock(&to->mutex);
    *to->arrived_end = m;
    to->arrived_end = &m->next;
    thread_unlock(&to->mutex);
    *request = SENT;
    return check_ended(r, err);
}

/* ---- receiving -------------------------------------------------------------------------------------------- */

static rapt_code deliver(const local_rank *r, local_receive *to, local_message *m, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    if (m->bytes == to->bytes)
        memcpy(to->data, m->data, m->bytes);
    else
        code = rapt_fail(err, RAPT_ERR_FORMAT, "rank %d sent rank %d a message of %zu bytes, and %zu are expected", m->from,
                         r->rank, m->bytes, to->bytes);
    to->done = true;
    free(m);
    return code;
}

/* The first receive that was posted for it, or NULL. */
static local_receive *match_receive(const local_rank *r, const local_message *m)
{
    local_receive *first = NULL;
    for (int i = 0; i < r->count; i++) {
        local_receive *at = &r->receives[i];
        if (at->used && !at->done && at->from == m->from && at->tag == m->tag && (!first || at->order < first->order))
            first = at;
    }
    return first;
}

/* Sorts what has arrived. */
static rapt_code take_arrived(local_rank *r, rapt_error *err)
{
    rapt_code code = check_ended(r, err);
    thread_lock(&r->mutex);
    local_message *m = r->arrived;
    r->arrived = NULL;
    r->arrived_end = &r->arrived;
    thread_unlock(&r->mutex);
    local_message **end = &r->unexpected;
    while (m && *end)
        end = &(*end)->next;
    while (m) {
        local_message *next = m->next;
        local_receive *to = match_receive(r, m);
        if (to && code == RAPT_OK) {
            code = deliver(r, to, m, err);
        } else {
            m->next = NULL;
            *end = m;
            end = &m->next;
        }
        m = next;
    }
    return code;
}

static int free_request(local_rank *r)
{
    for (int i = 0; i < r->count; i++)
        if (!r->receives[i].used)
            return i;
    int count = r->count ? 2 * r->count : 32;
    local_receive *more = realloc(r->receives, (size_t)count * sizeof *more);
    if (!more)
        return -1;
    memset(more + r->count, 0, (size_t)(count - r->count) * sizeof *more);
    r->receives = more;
    int first = r->count;
    r->count = count;
    return first;
}

static rapt_code local_receive_from(void *context, int rank, int tag, void *data, size_t bytes, int *request, rapt_error *err)
{
    local_rank *r = context;
    int i = free_request(r);
    if (i < 0)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a message");
    local_receive *to = &r->receives[i];
    *to = (local_receive){true, false, r->posted++, rank, tag, data, bytes};
    *request = i + 1;
    for (local_message **at = &r->unexpected; *at; at = &(*at)->next) {
        local_message *m = *at;
        if (m->from == rank && m->tag == tag) {
            *at = m->next;
            return deliver(r, to, m, err);
        }
    }
    return take_arrived(r, err);
}

static rapt_code local_test(void *context, int request, bool *done, rapt_error *err)
{
    local_rank *r = context;
    *done = true;
    if (request == SENT)
        return check_ended(r, err);
    local_receive *at = &r->receives[request - 1];
    rapt_code code = at->done ? RAPT_OK : take_arrived(r, err);
    *done = at->done;
    if (at->done)
        at->used = false;
    return code;
}

/* ---- the rest --------------------------------------------------------------------------------------------- */

static void local_progress(void *context)
{
    (void)context;
}

static void local_abort(void *context, int status)
{
    const local_rank *r = context;
    int nobody = 0;
    (void)status;
    atomic_compare_exchange_strong(&r->hub->ended_by, &nobody, r->rank + 1);
}

static void local_close(void *context)
{
    (void)context;
}

rapt_transport *rapt_group_local(int size, rapt_error *err)
{
    if (size < 1) {
        rapt_fail(err, RAPT_ERR_VALUE, "a group of %d ranks asked for; it has at least one", size);
        return NULL;
    }
    rapt_transport *all = calloc((size_t)size, sizeof *all);
    local_hub *hub = all ? calloc(1, sizeof *hub + (size_t)size * sizeof hub->ranks[0]) : NULL;
    if (!hub) {
        free(all);
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a group of %d ranks", size);
        return NULL;
    }
    hub->size = size;
    for (int i = 0; i < size; i++) {
        local_rank *r = &hub->ranks[i];
        r->hub = hub;
        r->rank = i;
        thread_mutex_init(&r->mutex);
        r->arrived_end = &r->arrived;
        all[i] = (rapt_transport){r, local_open, local_send, local_receive_from, local_test, local_progress, local_abort,
                                  local_close, "threads of one process"};
    }
    return all;
}

static void free_messages(local_message *m)
{
    while (m) {
        local_message *next = m->next;
        free(m);
        m = next;
    }
}

void rapt_group_local_free(rapt_transport *transports)
{
    if (!transports)
        return;
    local_hub *hub = ((local_rank *)transports[0].context)->hub;
    for (int i = 0; i < hub->size; i++) {
        local_rank *r = &hub->ranks[i];
        free_messages(r->arrived);
        free_messages(r->unexpected);
        free(r->receives);
        thread_mutex_free(&r->mutex);
    }
    free(hub);
    free(transports);
}
