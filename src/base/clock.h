/* base/clock.h: seconds since some fixed moment, for progress and benchmarks, and local time. Never part of a result. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdbool.h>
#include <time.h>

/* The clock is one that nobody sets. */
double clock_seconds(void);
/* Seconds of all CPUs that this process has computed. */
double clock_cpu_seconds(void);
/* Returns after that time, whatever signals arrive. */
void clock_sleep(double seconds);
/* What localtime() gives, in the caller's memory. False: the year is too large. */
bool clock_local(time_t moment, struct tm *local);

#endif
