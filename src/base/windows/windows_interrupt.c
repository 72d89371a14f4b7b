/* base/windows/windows_interrupt.c: events of the console. The system calls the handler in a thread of its own. */
#include "base/interrupt.h"

#include "base/windows/windows_console.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <windows.h>

static atomic_int caught; /* a sum of the constants of interrupt.h */
static _Atomic(interrupt_fn *) handler;

/* False: the system ends the program, as without a handler. */
static BOOL WINAPI on_console_event(DWORD event)
{
    const bool key = event == CTRL_C_EVENT || event == CTRL_BREAK_EVENT;
    if (!(atomic_load(&caught) & (key ? INTERRUPT_KEY : INTERRUPT_END)))
        return FALSE;
    atomic_load(&handler)(key ? SIGINT : SIGTERM);
    if (!key) /* the system ends the program when this returns, or else a few seconds later: time to save */
        Sleep(INFINITE);
    return TRUE;
}

void interrupt_catch(int which, interrupt_fn *fn)
{
    atomic_store(&handler, fn);
    if (atomic_fetch_or(&caught, which) == 0)
        SetConsoleCtrlHandler(on_console_event, TRUE);
}

void interrupt_default(int which)
{
    atomic_fetch_and(&caught, ~which);
    if (atomic_load(&caught) == 0)
        SetConsoleCtrlHandler(on_console_event, FALSE);
}

void interrupt_give_in(int number)
{
    windows_console_restore();
    ExitProcess(128 + (UINT)number);
}
