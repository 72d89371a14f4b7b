/* train/ranks/ranks_plan.c: combines the memory plans of all ranks. Threads, kernels and moments differ from rank to rank; data
 * and model do not. */

#include "group/group_ops.h"
#include "train/ranks/ranks_work.h"

#include <stdlib.h>

enum { SIZES = 6 };

static void plan_sizes(rapt_memory_plan *plan, size_t *sizes[SIZES])
{
    sizes[0] = &plan->parameters;
    sizes[1] = &plan->gradients;
    sizes[2] = &plan->moments;
    sizes[3] = &plan->activations;
    sizes[4] = &plan->evaluation;
    sizes[5] = &plan->batches;
}

/* Each size of the plan becomes the largest of all ranks'. */
static rapt_code take_largest(const run *r, rapt_memory_plan *plan, uint64_t *all, rapt_error *err)
{
    size_t *sizes[SIZES];
    uint64_t mine[SIZES];
    plan_sizes(plan, sizes);
    for (size_t i = 0; i < SIZES; i++)
        mine[i] = *sizes[i];
    rapt_code code = group_share(r->group, mine, sizeof mine, all, err);
    for (size_t i = 0; !code && i < SIZES * (size_t)r->ranks; i++)
        if (all[i] > *sizes[i % SIZES])
            *sizes[i % SIZES] = (size_t)all[i];
    return code;
}

rapt_code ranks_tell_plan(run *r, rapt_error *err)
{
    if (!r->group)
        return RAPT_OK;
    uint64_t *all = calloc((size_t)r->ranks, SIZES * sizeof *all);
    rapt_code code = ranks_agree(r, all ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a memory plan"), err);
    if (!code)
        code = take_largest(r, &r->plan, all, err);
    free(all);
    if (!code && run_is_first(r) && r->options->on_plan)
        r->options->on_plan(r->options->context, &r->plan);
    return code;
}
