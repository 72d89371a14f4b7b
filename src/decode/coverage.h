/* decode/coverage.h: the coverage penalty of finished hypotheses. For segment_runs.c. */
#ifndef DECODE_COVERAGE_H
#define DECODE_COVERAGE_H

#include "decode/source_segments.h"
#include "search/search.h"

/* Adds `penalty` times sum_i log(min(sum_j p_ij, 1)) to the score of each hypothesis, where p_ij is the attention of target token
 * j to source token i, both with <eos> (Wu et al. 2016, eq. 14), and puts the best first. A pass for each hypothesis. */
rapt_code coverage_rank(rapt_tape *t, const rapt_model *m, const source_segment *source, double penalty, search_result *found,
                        rapt_error *err);

#endif
