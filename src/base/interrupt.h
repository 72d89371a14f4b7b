/* base/interrupt.h: what asks a program to end: Ctrl-C, kill, the end of a terminal. For programs, not for the library. */
#ifndef BASE_INTERRUPT_H
#define BASE_INTERRUPT_H

enum {
    INTERRUPT_KEY = 1,     /* SIGINT: Ctrl-C */
    INTERRUPT_END = 2,     /* SIGTERM; on Windows: the console is closed, the user logs off, the machine shuts down */
    INTERRUPT_HANGUP = 4,  /* SIGHUP, unless it is ignored, as under nohup */
    INTERRUPT_FORWARD = 8, /* SIGUSR1 */
};

/* Called with the number of the signal (SIGINT or SIGTERM on Windows) while any code runs: only what a signal handler may do is
 * allowed. */
typedef void interrupt_fn(int number);

/* From now on `fn` is called for each of `which`, a sum of the constants above; calls of the system that wait are not broken
 * off. */
void interrupt_catch(int which, interrupt_fn *fn);
/* From now on they end the program at once. */
void interrupt_default(int which);
/* Called by an interrupt_fn: ends the program as if nobody had caught the signal. */
void interrupt_give_in(int number);

#endif
