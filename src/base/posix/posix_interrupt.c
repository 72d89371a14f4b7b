/* base/posix/posix_interrupt.c: signals of POSIX. */
#define _GNU_SOURCE
#include "base/interrupt.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

static const struct {
    int bit, number;
} interrupts[] = {{INTERRUPT_KEY, SIGINT}, {INTERRUPT_END, SIGTERM}, {INTERRUPT_HANGUP, SIGHUP}, {INTERRUPT_FORWARD, SIGUSR1}};

static void set_handlers(int which, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART}, old;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof interrupts / sizeof *interrupts; i++) {
        const bool ignored = interrupts[i].bit == INTERRUPT_HANGUP &&
                             (sigaction(SIGHUP, NULL, &old) != 0 || old.sa_handler == SIG_IGN);
        if (which & interrupts[i].bit && !ignored)
            sigaction(interrupts[i].number, &action, NULL);
    }
}

void interrupt_catch(int which, interrupt_fn *fn)
{
    set_handlers(which, fn);
}

void interrupt_default(int which)
{
    set_handlers(which, SIG_DFL);
}

void interrupt_give_in(int number)
{
    signal(number, SIG_DFL);
    raise(number); /* delivered when the handler returns */
}
