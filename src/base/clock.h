/* base/clock.h: seconds since some fixed moment, for progress and benchmarks. Never part of a result. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

double clock_seconds(void);

#endif
