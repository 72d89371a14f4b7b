/* train/ranks/run_moments.c: the moments of a run for checkpoints. The step decides which rank has which moments. */
#include "train/ranks/run_moments.h"

#include "train/shards/step_shards.h"

static size_t segment_of(const void *context, size_t param, size_t at, size_t *bounds)
{
    return step_shards_segment(context, param, at, bounds);
}

moments run_moments(const run *r)
{
    return (moments){.adam = r->adam, .average = r->average,
                     .group = r->group, .segment = segment_of, .context = r, .bounds = r->work.bounds};
}
