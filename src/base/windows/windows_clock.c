/* base/windows/windows_clock.c: the monotonic clock of Windows, and local time. */
#include "base/clock.h"

#include <stdint.h>
#include <windows.h>

double clock_seconds(void)
{
    LARGE_INTEGER now, frequency;
    QueryPerformanceFrequency(&frequency); /* a constant of the machine, which costs no system call */
    QueryPerformanceCounter(&now);
    const long long whole = now.QuadPart / frequency.QuadPart, rest = now.QuadPart % frequency.QuadPart;
    return (double)whole + (double)rest / (double)frequency.QuadPart;
}

static double windows_seconds(FILETIME t)
{
    return 1e-7 * (double)((uint64_t)t.dwHighDateTime << 32 | t.dwLowDateTime);
}

double clock_cpu_seconds(void)
{
    FILETIME begun, ended, kernel, user;
    GetProcessTimes(GetCurrentProcess(), &begun, &ended, &kernel, &user);
    return windows_seconds(kernel) + windows_seconds(user);
}

void clock_sleep(double seconds)
{
    const double longest = 1e6; /* seconds of one call, which takes milliseconds in 32 bits */
    for (const double until = clock_seconds() + seconds; seconds > 0; seconds = until - clock_seconds())
        Sleep((DWORD)(1e3 * (seconds < longest ? seconds : longest)) + 1); /* rounded up: it never returns too early */
}

bool clock_local(time_t moment, struct tm *local)
{
    return localtime_s(local, &moment) == 0;
}
