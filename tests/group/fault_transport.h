/* tests/group/fault_transport.h: a transport round another one, with faults: late messages, a rank that stops, calls that fail
 * or do not return. For test_group_faults.c. */
#ifndef TESTS_GROUP_FAULT_TRANSPORT_H
#define TESTS_GROUP_FAULT_TRANSPORT_H

#include "rapt/group.h"

#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#define FAULT_LATE 64 /* messages that are held back at once */
#define FAULT_FIRST_REQUEST 1000000

typedef struct fault_message {
    bool used, sent;
    int rank, tag, request, wait;
    const void *data;
    size_t bytes;
} fault_message;

typedef struct fault_transport {
    rapt_transport inner;
    int late;             /* a message leaves only after that many tests: until then its memory is read */
    long fail_send;       /* which send fails, from 1; 0: none */
    bool fail_open;
    atomic_bool silent;   /* nothing leaves or arrives any more, as after SIGSTOP or with a cut cable */
    atomic_bool hangs;    /* `test` does not return until it is false */
    atomic_int aborted;   /* the status that abort was called with */
    atomic_bool closed;
    long sends;
    fault_message messages[FAULT_LATE];
} fault_transport;

static rapt_code fault_open(void *context, int *rank, int *size, rapt_error *err)
{
    fault_transport *f = context;
    if (f->fail_open)
        return rapt_fail(err, RAPT_ERR_IO, "no network");
    return f->inner.open(f->inner.context, rank, size, err);
}

static rapt_code fault_send(void *context, int rank, int tag, const void *data, size_t bytes, int *request, rapt_error *err)
{
    fault_transport *f = context;
    int i = 0;
    if (f->fail_send && ++f->sends == f->fail_send)
        return rapt_fail(err, RAPT_ERR_IO, "the network is down");
    if (!f->late && !atomic_load(&f->silent))
        return f->inner.send(f->inner.context, rank, tag, data, bytes, request, err);
    while (f->messages[i].used)
        if (++i == FAULT_LATE)
            return rapt_fail(err, RAPT_ERR_MEMORY, "too many messages in flight");
    f->messages[i] = (fault_message){true, false, rank, tag, 0, f->late, data, bytes};
    *request = FAULT_FIRST_REQUEST + i;
    return RAPT_OK;
}

static rapt_code fault_receive(void *context, int rank, int tag, void *data, size_t bytes, int *request, rapt_error *err)
{
    fault_transport *f = context;
    return f->inner.receive(f->inner.context, rank, tag, data, bytes, request, err);
}

/* Messages of one tag keep their order: those before it leave first. */
static rapt_code fault_test_late(fault_transport *f, fault_message *m, bool *done, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    if (!m->sent && m->wait-- <= 0) {
        code = f->inner.send(f->inner.context, m->rank, m->tag, m->data, m->bytes, &m->request, err);
        m->sent = true;
    }
    if (code == RAPT_OK && m->sent)
        code = f->inner.test(f->inner.context, m->request, done, err);
    m->used = !*done;
    return code;
}

static rapt_code fault_test(void *context, int request, bool *done, rapt_error *err)
{
    fault_transport *f = context;
    *done = false;
    while (atomic_load(&f->hangs))
        usleep(1000);
    if (atomic_load(&f->silent))
        return RAPT_OK;
    if (request >= FAULT_FIRST_REQUEST)
        return fault_test_late(f, &f->messages[request - FAULT_FIRST_REQUEST], done, err);
    return f->inner.test(f->inner.context, request, done, err);
}

static void fault_progress(void *context)
{
    fault_transport *f = context;
    f->inner.progress(f->inner.context);
}

static void fault_abort(void *context, int status)
{
    fault_transport *f = context;
    atomic_store(&f->aborted, status);
    if (!atomic_load(&f->silent) && !atomic_load(&f->hangs))
        f->inner.abort(f->inner.context, status);
}

static void fault_close(void *context)
{
    fault_transport *f = context;
    atomic_store(&f->closed, true);
    f->inner.close(f->inner.context);
}

static inline rapt_transport fault_wrap(fault_transport *f, const rapt_transport *inner)
{
    memset(f, 0, sizeof *f);
    f->inner = *inner;
    return (rapt_transport){f, fault_open, fault_send, fault_receive, fault_test, fault_progress, fault_abort, fault_close,
                            "faulty threads"};
}

#endif
