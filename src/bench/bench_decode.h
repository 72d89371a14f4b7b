/* bench/bench_decode.h: the two kinds of `rapt-bench decode`. */
#ifndef BENCH_BENCH_DECODE_H
#define BENCH_BENCH_DECODE_H

#include "bench/bench.h"

rapt_code bench_decode_text(const bench_options *o, rapt_error *err);                      /* gpt2 */
/* a2, a3; RAPT_ERR_NOT_FOUND for other names. */
rapt_code bench_decode_sentences(const char *name, const bench_options *o, rapt_error *err);

#endif
