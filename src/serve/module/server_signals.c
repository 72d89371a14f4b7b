/* serve/module/server_signals.c: a signal handler has no context, so a process can have only one server. */
#define _GNU_SOURCE /* pipe2 */
#include "serve/module/server_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

enum { TO_END = 't', TO_RELOAD = 'h', IS_RELOADED = 'r', TO_SWEEP = 's' };

static int signal_pipe[2] = {-1, -1};
static const listener *signal_listener;
static atomic_bool signal_ends; /* one SIGTERM or SIGINT was there; lock-free, as handlers need */

static void wake(char byte)
{
    const int reason = errno;
    (void)!write(signal_pipe[1], &byte, 1); /* a full pipe wakes as well */
    errno = reason;
}

static void on_server_signal(int number)
{
    if (number == SIGHUP)
        wake(TO_RELOAD);
    else if (!atomic_exchange(&signal_ends, true))
        wake(TO_END);
    else {
        listener_unlink(signal_listener);
        _exit(1);
    }
}

rapt_code server_signals_open(rapt_error *err)
{
    return pipe2(signal_pipe, O_CLOEXEC | O_NONBLOCK) ? rapt_fail(err, RAPT_ERR_IO, "no pipe: %s", strerror(errno)) : RAPT_OK;
}

void server_signals_catch(const listener *l)
{
    struct sigaction catch = {.sa_handler = on_server_signal, .sa_flags = SA_RESTART};
    signal_listener = l;
    atomic_store(&signal_ends, false);
    sigemptyset(&catch.sa_mask);
    sigaddset(&catch.sa_mask, SIGTERM); /* one at a time, so that the socket is removed once */
    sigaddset(&catch.sa_mask, SIGINT);
    sigaction(SIGTERM, &catch, NULL);
    sigaction(SIGINT, &catch, NULL);
    sigaction(SIGHUP, &catch, NULL);
}

void server_signals_wake(void *context)
{
    (void)context;
    wake(TO_SWEEP);
}

void server_signals_wake_reloaded(void)
{
    wake(IS_RELOADED);
}

server_events server_signals_wait(int ms)
{
    struct pollfd p = {.fd = signal_pipe[0], .events = POLLIN};
    char bytes[64];
    ssize_t size;
    server_events e = {0};
    poll(&p, 1, ms);
    while ((size = read(signal_pipe[0], bytes, sizeof bytes)) > 0) {
        e.ends = e.ends || memchr(bytes, TO_END, (size_t)size);
        e.reloads = e.reloads || memchr(bytes, TO_RELOAD, (size_t)size);
        e.reloaded = e.reloaded || memchr(bytes, IS_RELOADED, (size_t)size);
    }
    return e;
}

/* Signals are without effect from here on: the process ends by itself. */
void server_signals_close(void)
{
    signal(SIGTERM, SIG_IGN);
    signal(SIGINT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    for (size_t i = 0; i < 2; i++)
        if (signal_pipe[i] >= 0)
            close(signal_pipe[i]);
    signal_pipe[0] = signal_pipe[1] = -1;
}
