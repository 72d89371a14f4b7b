/* base/posix/posix_clock.c: the monotonic clock of POSIX, and local time. */
#define _GNU_SOURCE
#include "base/clock.h"

#include <errno.h>

double clock_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double clock_cpu_seconds(void)
{
    struct timespec spent;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
    return (double)spent.tv_sec + 1e-9 * (double)spent.tv_nsec;
}

void clock_sleep(double seconds)
{
    struct timespec rest = {.tv_sec = (time_t)seconds, .tv_nsec = (long)(1e9 * (seconds - (double)(time_t)seconds))};
    while (nanosleep(&rest, &rest) != 0 && errno == EINTR)
        ;
}

bool clock_local(time_t moment, struct tm *local)
{
    return localtime_r(&moment, local) != NULL;
}
