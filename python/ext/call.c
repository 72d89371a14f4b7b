/* call.c: calls of the library without the interpreter's lock, which Ctrl-C and callbacks can end. */
#include <time.h>

#include "ext.h"

enum { ASK_NS = 20 * 1000 * 1000 };

/* Its address is another one in each thread. */
static _Thread_local char place;

static long long now(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (long long)t.tv_sec * 1000000000 + t.tv_nsec;
}

void ext_call_begin(ext_call *c, PyObject *should_stop)
{
    c->place = &place;
    c->should_stop = should_stop == Py_None ? NULL : should_stop;
    c->asked = 0;
    atomic_init(&c->stopped, false);
    c->thread = PyEval_SaveThread();
}

void ext_call_end(ext_call *c)
{
    PyEval_RestoreThread(c->thread);
    c->thread = NULL;
}

void ext_callback_begin(ext_call *c)
{
    PyEval_RestoreThread(c->thread);
    c->thread = NULL;
}

rapt_code ext_callback_end(ext_call *c, bool failed, rapt_error *err)
{
    if (failed)
        atomic_store(&c->stopped, true);
    c->thread = PyEval_SaveThread();
    return failed ? rapt_fail(err, RAPT_ERR_INTERRUPTED, "a callback raised an exception") : RAPT_OK;
}

/* Whether the caller's should_stop says so, or has raised; -1 likewise for signals. */
static bool ask(const ext_call *c)
{
    if (PyErr_CheckSignals() < 0)
        return true;
    if (!c->should_stop)
        return false;
    PyObject *answer = PyObject_CallNoArgs(c->should_stop);
    int is_true = answer ? PyObject_IsTrue(answer) : -1;
    Py_XDECREF(answer);
    return is_true != 0;
}

bool ext_call_stop(void *call)
{
    ext_call *c = call;
    if (atomic_load_explicit(&c->stopped, memory_order_relaxed))
        return true;
    if (c->place != &place)
        return false;
    long long time = now();
    if (c->asked && time - c->asked < ASK_NS && time >= c->asked)
        return false;
    bool first = !c->asked;
    c->asked = time;
    if (first && !c->should_stop) // short calls never take the lock
        return false;
    ext_callback_begin(c);
    ext_callback_end(c, ask(c), NULL);
    return atomic_load(&c->stopped);
}

rapt_code ext_lock(ext_call *c, ext_mutex *m, rapt_error *err)
{
    if (atomic_load(&m->holder) == c->place)
        return rapt_fail(err, RAPT_ERR_VALUE, "a callback cannot call what its own call is computing with");
    while (PyThread_acquire_lock_timed(m->lock, ASK_NS / 1000, 1) != PY_LOCK_ACQUIRED) {
        if (ext_call_stop(c))
            return rapt_fail(err, RAPT_ERR_INTERRUPTED, "the call was cancelled");
    }
    atomic_store(&m->holder, c->place);
    return RAPT_OK;
}

void ext_unlock(ext_mutex *m)
{
    atomic_store(&m->holder, NULL);
    PyThread_release_lock(m->lock);
}

bool ext_call_was_stopped(const ext_call *c)
{
    return atomic_load(&c->stopped);
}
