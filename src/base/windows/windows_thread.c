/* base/windows/windows_thread.c: threads of Windows. A mutex and a condition are a pointer each, which need no freeing. */
#include "base/thread.h"

#include "base/clock.h"

#include <process.h>
#include <stdlib.h>
#include <windows.h>

#define STACK ((unsigned)8 << 20)

_Static_assert(sizeof(SRWLOCK) == sizeof(thread_mutex), "windows_lock_of");
_Static_assert(sizeof(CONDITION_VARIABLE) == sizeof(thread_condition), "windows_variable_of");

static SRWLOCK *windows_lock_of(thread_mutex *m)
{
    return (SRWLOCK *)(void *)&m->lock;
}

static CONDITION_VARIABLE *windows_variable_of(thread_condition *c)
{
    return (CONDITION_VARIABLE *)(void *)&c->variable;
}

typedef struct thread_work {
    thread_fn *run;
    void *context;
} thread_work;

static unsigned __stdcall windows_thread_main(void *work)
{
    const thread_work own = *(thread_work *)work;
    free(work);
    own.run(own.context);
    return 0;
}

bool thread_start(thread_handle *t, thread_fn *run, void *context)
{
    thread_work *work = malloc(sizeof *work);
    if (!work)
        return false;
    *work = (thread_work){run, context};
    *t = (void *)_beginthreadex(NULL, STACK, windows_thread_main, work, STACK_SIZE_PARAM_IS_A_RESERVATION, NULL);
    if (!*t)
        free(work);
    return *t != NULL;
}

/* No thread gets signals here: the system starts one of its own for Ctrl-C. */
bool thread_start_without_signals(thread_handle *t, thread_fn *run, void *context)
{
    return thread_start(t, run, context);
}

void thread_join(thread_handle t)
{
    WaitForSingleObject(t, INFINITE);
    CloseHandle(t);
}

void thread_detach(thread_handle t)
{
    CloseHandle(t);
}

uintptr_t thread_self(void)
{
    return GetCurrentThreadId();
}

void thread_yield(void)
{
    SwitchToThread();
}

void thread_mutex_init(thread_mutex *m)
{
    InitializeSRWLock(windows_lock_of(m));
}

void thread_mutex_free(thread_mutex *m)
{
    (void)m;
}

void thread_lock(thread_mutex *m)
{
    AcquireSRWLockExclusive(windows_lock_of(m));
}

bool thread_try_lock(thread_mutex *m)
{
    return TryAcquireSRWLockExclusive(windows_lock_of(m));
}

void thread_unlock(thread_mutex *m)
{
    ReleaseSRWLockExclusive(windows_lock_of(m));
}

void thread_condition_init(thread_condition *c)
{
    InitializeConditionVariable(windows_variable_of(c));
}

void thread_condition_free(thread_condition *c)
{
    (void)c;
}

void thread_wait(thread_condition *c, thread_mutex *m)
{
    SleepConditionVariableSRW(windows_variable_of(c), windows_lock_of(m), INFINITE, 0);
}

bool thread_wait_until(thread_condition *c, thread_mutex *m, double moment)
{
    const double longest = 1e6, left = moment - clock_seconds(); /* seconds; a call takes milliseconds in 32 bits */
    const double seconds = left < 0 ? 0 : left < longest ? left : longest;
    return SleepConditionVariableSRW(windows_variable_of(c), windows_lock_of(m), (DWORD)(1e3 * seconds + 0.999), 0) ||
           seconds == longest;
}

void thread_wake_one(thread_condition *c)
{
    WakeConditionVariable(windows_variable_of(c));
}

void thread_wake_all(thread_condition *c)
{
    WakeAllConditionVariable(windows_variable_of(c));
}
