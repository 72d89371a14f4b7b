/* cli/bench_profile.h: the table of `rapt bench train --profile`. */
#ifndef CLI_BENCH_PROFILE_H
#define CLI_BENCH_PROFILE_H

#include "rapt/profile.h"

/* Prints what t counted in `steps` steps that took `seconds` together. Measures the machine's peaks first. */
rapt_code bench_profile_print(rapt_tape *t, size_t steps, double seconds, bool json, rapt_error *err);

#endif
