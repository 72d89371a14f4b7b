/* bench/bench_group.h: what `rapt-bench group` measures on each rank. bench_group.c starts the ranks and prints the
 * results. */
#ifndef BENCH_BENCH_GROUP_H
#define BENCH_BENCH_GROUP_H

#include "bench/bench.h"
#include "rapt/group.h"
#include "rapt/recipe.h"

/* Numbers that all ranks have, each as many, added up and gathered as gradients and parameters are in a step. */
typedef struct group_exchange {
    size_t buckets, repeats;
    double ms, p10, p90;      /* time of an exchange */
    double sent, bound;       /* bytes that this rank sends in one, and the least that any algorithm sends */
    double ping_us;           /* until each rank has eight bytes of every other */
    double idle;              /* share of a CPU that a rank takes between exchanges, while it has nothing to do */
} group_exchange;

/* Training steps of a recipe: by each rank alone, all at the same time, and by all ranks together. */
typedef struct group_steps {
    size_t parameters, repeats;
    double tokens;             /* tokens of a step of all ranks */
    double alone_ms, ms;       /* time of a step with this rank's share of the batches alone; time of a step of all ranks */
    double waited;             /* share of `ms` in which the first rank waits for messages */
    double sent;               /* bytes that the first rank sends in a step */
} group_steps;

/* All ranks call each of these. A failure of one rank is a failure of all. */
rapt_code bench_exchange(rapt_group *g, size_t elements, double seconds, group_exchange *found, rapt_error *err);
/* Reads the recipe that the options name; the caller frees it, also after a failure. */
rapt_code bench_group_recipe(rapt_group *g, const bench_options *o, rapt_recipe *recipe, rapt_error *err);
rapt_code bench_group_steps(rapt_group *g, const rapt_recipe *recipe, double seconds, int threads, group_steps *found,
                            rapt_error *err);

#endif
