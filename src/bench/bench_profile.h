/* bench/bench_profile.h: the table of `rapt-bench train --profile` and `rapt-bench decode --profile`. */
#ifndef BENCH_BENCH_PROFILE_H
#define BENCH_BENCH_PROFILE_H

#include "rapt/profile.h"

/* The machine's peaks. */
typedef struct bench_machine {
    double gflops, gbytes;
} bench_machine;

/* Prints the operations that t counted in `steps` steps, which took `seconds` together, and their shares of the machine's
 * peaks. */
rapt_code bench_profile_print(rapt_tape *t, size_t steps, double seconds, const bench_machine *m, bool json, rapt_error *err);

#endif
