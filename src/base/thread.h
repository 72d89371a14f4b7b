/* base/thread.h: threads, mutexes and conditions of the system. For all that computes on several threads or waits for one;
 * loops take the pool (base/pool.h). Nothing here fails but the start of a thread. */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#ifdef _WIN32
typedef struct thread_mutex {
    void *lock; /* an SRWLOCK */
} thread_mutex;
typedef struct thread_condition {
    void *variable; /* a CONDITION_VARIABLE */
} thread_condition;
typedef void *thread_handle;
#else
#include <pthread.h>
typedef pthread_mutex_t thread_mutex;
typedef pthread_cond_t thread_condition;
typedef pthread_t thread_handle;
#endif

typedef void *thread_fn(void *context); /* the value that it returns is lost */

/* False: the system gives no other thread. */
bool thread_start(thread_handle *t, thread_fn *run, void *context);
/* thread_start for a thread that gets no signals: they are for the threads of the program. */
bool thread_start_without_signals(thread_handle *t, thread_fn *run, void *context);
void thread_join(thread_handle t);
/* Instead of thread_join: nobody waits for its end. */
void thread_detach(thread_handle t);
/* Tells the threads that run now apart. */
uintptr_t thread_self(void);
/* Lets other threads have the CPU. */
void thread_yield(void);

void thread_mutex_init(thread_mutex *m);
void thread_mutex_free(thread_mutex *m);
void thread_lock(thread_mutex *m);
bool thread_try_lock(thread_mutex *m);
void thread_unlock(thread_mutex *m);

/* A thread waits with the mutex held, which is free meanwhile. It may also wake for no reason. */
void thread_condition_init(thread_condition *c);
void thread_condition_free(thread_condition *c);
void thread_wait(thread_condition *c, thread_mutex *m);
/* Until that moment of clock_seconds() at most. False: nothing has come until then. */
bool thread_wait_until(thread_condition *c, thread_mutex *m, double moment);
void thread_wake_one(thread_condition *c);
void thread_wake_all(thread_condition *c);

#endif
