/* cli/bench/bench_group.h: what `rapt bench group` measures on each rank. How it is started and printed is in bench_group.c. */
#ifndef CLI_BENCH_BENCH_GROUP_H
#define CLI_BENCH_BENCH_GROUP_H

#include "cli/bench/cmd_bench.h"
#include "rapt/group.h"
#include "rapt/recipe.h"

/* Numbers that all ranks have, each as many, added up and gathered as gradients and parameters are in a step. */
typedef struct group_exchange {
    size_t buckets, repeats;
    double ms, p10, p90;      /* of an exchange */
    double sent, bound;       /* bytes that this rank sends in one, and the least that any algorithm sends */
    double ping_us;           /* until each rank has eight bytes of every other */
    double idle;              /* share of a CPU that a rank takes between exchanges, while it waits for nothing */
} group_exchange;

/* Training steps of a recipe, by this rank without the others, which do the same, and by all of them. */
typedef struct group_steps {
    size_t parameters, repeats;
    double tokens;             /* of a step of all ranks */
    double alone_ms, ms;       /* of a step with this rank's share of the batches; of one of all ranks */
    double waited;             /* share of the latter in which the first rank waits for messages */
    double sent;               /* bytes that the first rank sends in one */
} group_steps;

/* Each is called by all ranks. A failure of one is everybody's. */
rapt_code bench_exchange(rapt_group *g, size_t elements, double seconds, group_exchange *found, rapt_error *err);
/* Reads the recipe that the options name; the caller frees it, also after a failure. */
rapt_code bench_group_recipe(rapt_group *g, const bench_options *o, rapt_recipe *recipe, rapt_error *err);
rapt_code bench_group_steps(rapt_group *g, const rapt_recipe *recipe, double seconds, int threads, group_steps *found,
                            rapt_error *err);

#endif
