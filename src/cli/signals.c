/* cli/signals.c: signals that interrupt `rapt train`, `generate`, `chat` and `convert`; other commands keep the default
 * actions. */
#define _GNU_SOURCE
#include "cli/signals.h"

#include "base/clock.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

/* `timeout` and other programs that forward a signal may send it twice: that does not count as a second Ctrl-C. */
#define ONE_CTRL_C_MS 500

static volatile sig_atomic_t caught;
static atomic_llong first; /* time of the first signal in ms; 0: no signal yet */

static void on_signal(int number)
{
    long long now = (long long)(clock_seconds() * 1e3), before = 0;
    if (atomic_compare_exchange_strong(&first, &before, now))
        caught = number;
    else if (number == SIGINT && now - before > ONE_CTRL_C_MS) {
        signal(number, SIG_DFL);
        raise(number); /* delivered when this function returns */
    }
}

void signals_catch(void)
{
    struct sigaction catch = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, old;
    sigemptyset(&catch.sa_mask);
    sigaction(SIGINT, &catch, NULL);
    sigaction(SIGTERM, &catch, NULL);
    if (sigaction(SIGHUP, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
        sigaction(SIGHUP, &catch, NULL);
}

void signals_catch_forwarded(void)
{
    struct sigaction catch = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigemptyset(&catch.sa_mask);
    sigaction(SIGUSR1, &catch, NULL);
}

void signals_catch_turn(void)
{
    struct sigaction catch = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigemptyset(&catch.sa_mask);
    caught = 0;
    atomic_store(&first, 0);
    sigaction(SIGINT, &catch, NULL);
}

void signals_release(void)
{
    signal(SIGINT, SIG_DFL);
}

void signals_leave(void)
{
    struct sigaction old;
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    if (sigaction(SIGHUP, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
        signal(SIGHUP, SIG_DFL);
}

bool signals_stop(void *context)
{
    (void)context;
    return caught != 0;
}

int signals_status(void)
{
    return 128 + (int)caught;
}
