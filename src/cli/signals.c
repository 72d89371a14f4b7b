/* cli/signals.c: signals that interrupt `rapt train`, `generate`, `chat` and `convert`; other commands keep the default
 * actions. */
#include "cli/signals.h"

#include "base/clock.h"
#include "base/interrupt.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

/* `timeout` and other programs that forward a signal may send it twice: that does not count as a second Ctrl-C. */
#define ONE_CTRL_C_MS 500

static atomic_int caught;
static atomic_llong first; /* time of the first signal in ms; 0: no signal yet */

static void on_signal(int number)
{
    long long now = (long long)(clock_seconds() * 1e3), before = 0;
    if (atomic_compare_exchange_strong(&first, &before, now))
        atomic_store(&caught, number);
    else if (number == SIGINT && now - before > ONE_CTRL_C_MS)
        interrupt_give_in(number);
}

void signals_catch(void)
{
    interrupt_catch(INTERRUPT_KEY | INTERRUPT_END | INTERRUPT_HANGUP, on_signal);
}

void signals_catch_forwarded(void)
{
    interrupt_catch(INTERRUPT_FORWARD, on_signal);
}

void signals_catch_turn(void)
{
    atomic_store(&caught, 0);
    atomic_store(&first, 0);
    interrupt_catch(INTERRUPT_KEY, on_signal);
}

void signals_release(void)
{
    interrupt_default(INTERRUPT_KEY);
}

void signals_leave(void)
{
    interrupt_default(INTERRUPT_KEY | INTERRUPT_END | INTERRUPT_HANGUP);
}

bool signals_stop(void *context)
{
    (void)context;
    return atomic_load(&caught) != 0;
}

int signals_status(void)
{
    return 128 + atomic_load(&caught);
}
