/* cli/machine_peak.h: what this machine can compute at most. For `rapt info --cluster` and the benchmarks. */
#ifndef CLI_MACHINE_PEAK_H
#define CLI_MACHINE_PEAK_H

#include "rapt/tape.h"

/* GFLOP/s of GEMM in that precision on `threads` threads with all operands in registers or the first cache. 0 with `err` set:
 * failed. */
double machine_peak(int threads, rapt_type precision, rapt_error *err);

#endif
