/* cli/bench/bench_profile.h: the table of `rapt bench train --profile` and `rapt bench decode --profile`. */
#ifndef CLI_BENCH_BENCH_PROFILE_H
#define CLI_BENCH_BENCH_PROFILE_H

#include "rapt/profile.h"

/* The machine's peaks. */
typedef struct bench_machine {
    double gflops, gbytes;
} bench_machine;

/* Prints what t counted in `steps` steps that took `seconds` together, and its shares of what the machine does. */
rapt_code bench_profile_print(rapt_tape *t, size_t steps, double seconds, const bench_machine *m, bool json, rapt_error *err);

#endif
