/* bench/bench_group_steps.c: training steps of a recipe in `rapt-bench group`: first each rank alone with its share of a
 * step's batches, all at once, then together. An ordinary training run, in a temporary folder that is removed. */
#include "bench/bench_group.h"

#include "base/clock.h"
#include "base/disk.h"
#include "base/file.h"
#include "bench/bench_times.h"
#include "group/group_ops.h"
#include "rapt/train.h"

#include <stdio.h>
#include <stdlib.h>

#define NEVER 1000000000
#define WARMUP 2 /* steps */
#define LEAST_STEPS 5

typedef struct steps_bench {
    rapt_group *g;           /* NULL: alone */
    double seconds, start, last;
    uint64_t step;
    bench_times ms;
    rapt_memory_plan plan;
    group_stats before, after; /* statistics before and after the steps that are counted */
} steps_bench;

static void steps_plan(void *context, const rapt_memory_plan *plan)
{
    ((steps_bench *)context)->plan = *plan;
}

static void steps_progress(void *context, const rapt_progress *p)
{
    steps_bench *b = context;
    double now = clock_seconds();
    if (p->step == b->step)
        return;
    b->step = p->step;
    if (p->step == WARMUP) {
        b->start = now;
        b->before = b->g ? group_statistics(b->g) : b->before;
    }
    if (p->step > WARMUP) {
        bench_times_add(&b->ms, 1e3 * (now - b->last));
        b->after = b->g ? group_statistics(b->g) : b->after;
    }
    b->last = now;
}

static bool steps_are_enough(void *context)
{
    const steps_bench *b = context;
    return b->ms.count >= LEAST_STEPS && b->last - b->start >= b->seconds;
}

static rapt_code steps_train(steps_bench *b, const rapt_recipe *recipe, int threads, rapt_error *err)
{
    bool first = !b->g || rapt_group_rank(b->g) == 0;
    char *out;
    rapt_code code = file_make_temporary("bench", &out, err);
    if (code)
        return code;
    rapt_train_options o = rapt_train_options_default();
    o.recipe = recipe, o.out = out, o.threads = threads, o.group = b->g, o.context = b;
    if (first) {
        o.stop = steps_are_enough;
        o.on_plan = steps_plan;
        o.on_progress = steps_progress;
    }
    code = rapt_train(&o, err);
    if (code == RAPT_ERR_INTERRUPTED) { /* as wanted */
        *err = (rapt_error){0};
        code = RAPT_OK;
    }
    disk_remove_all(out);
    free(out);
    return code;
}

/* A plain copy of the recipe, which shares its texts, for a run that does not end and does not report. */
static rapt_recipe endless(const rapt_recipe *recipe)
{
    rapt_recipe r = *recipe;
    r.train.steps = r.train.report_every = r.train.checkpoint_every = NEVER;
    r.train.sample_every = r.train.patience = 0;
    r.train.eval_bleu = r.train.keep_untrained = false;
    return r;
}

/* The longest of the ranks' medians. */
static rapt_code steps_alone(rapt_group *g, const rapt_recipe *recipe, double seconds, int threads, double *ms, rapt_error *err)
{
    const int64_t ranks = rapt_group_size(g);
    steps_bench b = {.seconds = seconds};
    rapt_recipe share = endless(recipe);
    double *all = malloc((size_t)ranks * sizeof *all);
    share.train.accumulate = (share.train.accumulate + ranks - 1) / ranks;
    share.train.shards = (share.train.shards + ranks - 1) / ranks;
    rapt_code code = all ? steps_train(&b, &share, threads, err) : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for times");
    double median = bench_times_at(&b.ms, 0.5);
    code = group_agree(g, code, err);
    if (!code)
        code = group_share(g, &median, sizeof median, all, err);
    *ms = 0;
    for (int64_t i = 0; i < ranks && !code; i++)
        *ms = all[i] > *ms ? all[i] : *ms;
    bench_times_free(&b.ms);
    free(all);
    return code;
}

static rapt_code steps_together(rapt_group *g, const rapt_recipe *recipe, double seconds, int threads, group_steps *found,
                                rapt_error *err)
{
    steps_bench b = {.g = g, .seconds = seconds};
    rapt_recipe r = endless(recipe);
    rapt_code code = steps_train(&b, &r, threads, err);
    double count = (double)b.ms.count;
    found->parameters = b.plan.parameter_count;
    found->tokens = b.plan.step_tokens;
    found->repeats = b.ms.count;
    found->ms = bench_times_at(&b.ms, 0.5);
    if (count > 0) {
        found->waited = (b.after.waited - b.before.waited) / (1e-3 * bench_times_sum(&b.ms));
        found->sent = (double)(b.after.sent - b.before.sent) / count;
    }
    bench_times_free(&b.ms);
    return code;
}

rapt_code bench_group_recipe(rapt_group *g, const bench_options *o, rapt_recipe *recipe, rapt_error *err)
{
    rapt_code code = rapt_recipe_read(o->recipe, recipe, err);
    if (o->precision == RAPT_TYPE_BF16)
        recipe->train.precision = o->precision;
    code = code ? code : rapt_recipe_check(recipe, o->recipe, err);
    return group_agree(g, code, err);
}

rapt_code bench_group_steps(rapt_group *g, const rapt_recipe *recipe, double seconds, int threads, group_steps *found,
                            rapt_error *err)
{
    *found = (group_steps){0};
    rapt_code code = steps_alone(g, recipe, seconds, threads, &found->alone_ms, err);
    return code ? code : steps_together(g, recipe, seconds, threads, found, err);
}
