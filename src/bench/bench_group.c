/* bench/bench_group.c: `rapt-bench group`: how fast the processes of a group exchange the data of a training step, and how
 * near they come to the speed that they have apart. bench_exchange.c and bench_group_steps.c measure. */
#include "bench/bench_group.h"

#include "base/pool.h"
#include "base/thread.h"
#include "cli/cli.h"
#include "cli/group/cli_group.h"
#include "group/group_ops.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_SECONDS 5
#define DEFAULT_ELEMENTS ((size_t)8 << 20)

/* A rank: a process of mpirun, or a thread of this one. */
typedef struct bench_rank {
    bench_options o;
    int threads;
    rapt_group *g;
    const char *transport; /* its name */
    const rapt_transport *own; /* a thread's transport, from which it makes its group */
    group_exchange exchange;
    group_steps steps;
    thread_handle thread;
    rapt_code code;
    rapt_error err;
} bench_rank;

/* ---- printing --------------------------------------------------------------------------------------------------- */

static int hosts_of(const rapt_group *g)
{
    int count = 0;
    for (int i = 0; i < rapt_group_size(g); i++) {
        bool seen = false;
        for (int j = 0; j < i && !seen; j++)
            seen = strcmp(group_host(g, i), group_host(g, j)) == 0;
        count += !seen;
    }
    return count;
}

static json_t *exchange_json(const bench_rank *r)
{
    const group_exchange *x = &r->exchange;
    return json_pack("{s:s, s:i, s:i, s:s, s:I, s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "sys", "rapt", "ranks",
                     rapt_group_size(r->g), "hosts", hosts_of(r->g), "transport", r->transport, "elements",
                     (json_int_t)r->o.elements, "buckets", (json_int_t)x->buckets, "repeats", (json_int_t)x->repeats, "ms", x->ms,
                     "p10", x->p10, "p90", x->p90, "sent_mb", x->sent * 1e-6, "bound_mb", x->bound * 1e-6, "of_bound",
                     x->bound > 0 ? x->sent / x->bound : 1, "mb_s", x->sent / x->ms * 1e-3, "ping_us", x->ping_us, "idle_share",
                     x->idle);
}

static json_t *steps_json(const bench_rank *r)
{
    const group_steps *s = &r->steps;
    const int ranks = rapt_group_size(r->g);
    const double bound = 8.0 * (ranks - 1) / ranks * (double)s->parameters;
    return json_pack("{s:s, s:s, s:i, s:s, s:i, s:I, s:f, s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "sys", "rapt", "recipe",
                     r->o.recipe, "ranks", ranks, "transport", r->transport, "threads", r->threads, "params",
                     (json_int_t)s->parameters, "step_tokens", s->tokens, "steps", (json_int_t)s->repeats, "alone_ms",
                     s->alone_ms, "ms", s->ms, "tok_s", 1e3 * s->tokens / s->ms, "efficiency", s->alone_ms / s->ms, "exposed",
                     1 - s->alone_ms / s->ms, "waited", s->waited, "sent_mb", s->sent * 1e-6, "bound_mb", bound * 1e-6);
}

static void print_exchange(const json_t *x)
{
    printf("%.0f ranks on %.0f machine%s (%s): reduce-scatter and all-gather of %.0f elements in %.1f ms (median of %.0f), "
           "%.0f MB/s; each sends %.1f MB (least possible: %.1f); %.0f us for a message to all; %.1f %% of a CPU while idle\n",
           bench_number(x, "ranks"), bench_number(x, "hosts"), bench_number(x, "hosts") > 1 ? "s" : "",
           json_string_value(json_object_get(x, "transport")), bench_number(x, "elements"), bench_number(x, "ms"),
           bench_number(x, "repeats"), bench_number(x, "mb_s"), bench_number(x, "sent_mb"), bench_number(x, "bound_mb"),
           bench_number(x, "ping_us"), 100 * bench_number(x, "idle_share"));
}

static void print_steps(const json_t *x)
{
    printf("%s: %.0f parameters, %.0f tokens a step; %.1f ms a step (median of %.0f), %.0f tokens/s; a rank alone takes %.1f ms "
           "for its share: efficiency %.1f %%; %.1f %% of a step waited; each sends %.1f MB a step (least possible: %.1f)\n",
           json_string_value(json_object_get(x, "recipe")), bench_number(x, "params"), bench_number(x, "step_tokens"),
           bench_number(x, "ms"), bench_number(x, "steps"), bench_number(x, "tok_s"), bench_number(x, "alone_ms"),
           100 * bench_number(x, "efficiency"), 100 * bench_number(x, "waited"), bench_number(x, "sent_mb"),
           bench_number(x, "bound_mb"));
}

static rapt_code bench_group_print(const bench_rank *r, json_t *x, void (*print)(const json_t *), rapt_error *err)
{
    rapt_code code = x ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a result");
    if (!code && r->o.json)
        code = bench_print_json(x, err);
    else if (!code)
        print(x);
    fflush(stdout);
    json_decref(x);
    return code;
}

/* ---- a rank ----------------------------------------------------------------------------------------------------- */

static rapt_code bench_rank_exchange(bench_rank *r, rapt_error *err)
{
    rapt_code code = bench_exchange(r->g, r->o.elements, r->o.seconds, &r->exchange, err);
    return code || rapt_group_rank(r->g) > 0 ? code : bench_group_print(r, exchange_json(r), print_exchange, err);
}

static rapt_code bench_rank_steps(bench_rank *r, const rapt_recipe *recipe, rapt_error *err)
{
    rapt_code code = bench_group_steps(r->g, recipe, r->o.seconds, r->threads, &r->steps, err);
    return code || rapt_group_rank(r->g) > 0 ? code : bench_group_print(r, steps_json(r), print_steps, err);
}

static rapt_code bench_rank_measure(bench_rank *r, rapt_error *err)
{
    rapt_recipe recipe;
    rapt_recipe_defaults(&recipe);
    rapt_code code = r->o.recipe ? bench_group_recipe(r->g, &r->o, &recipe, err) : RAPT_OK;
    if (!code)
        code = bench_rank_exchange(r, err);
    if (!code && r->o.recipe)
        code = bench_rank_steps(r, &recipe, err);
    rapt_recipe_free(&recipe);
    return code;
}

static void *bench_rank_run(void *context)
{
    bench_rank *r = context;
    r->g = rapt_group_new(r->own, NULL, &r->err);
    r->code = r->g ? bench_rank_measure(r, &r->err) : r->err.code;
    if (r->code && r->g)
        group_halt(r->g);
    rapt_group_free(r->g);
    return NULL;
}

/* ---- all ranks -------------------------------------------------------------------------------------------------- */

/* Ranks that are threads of this process. */
static rapt_code bench_group_in_process(const bench_options *o, int ranks, rapt_error *err)
{
    rapt_transport *transports = rapt_group_local(ranks, err);
    bench_rank *all = calloc((size_t)ranks, sizeof *all);
    int threads = o->threads ? o->threads : pool_cpus("") / ranks, begun = 0;
    rapt_code code = !transports ? err->code : all ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for ranks");
    for (; begun < ranks && !code; begun++) {
        all[begun] = (bench_rank){.o = *o, .threads = threads > 0 ? threads : 1, .transport = "threads",
                                  .own = &transports[begun]};
        if (!thread_start(&all[begun].thread, bench_rank_run, &all[begun]))
            code = rapt_fail(err, RAPT_ERR_MEMORY, "cannot make a thread for each of %d ranks", ranks);
    }
    for (int i = 0; i < begun; i++) {
        thread_join(all[i].thread);
        if (all[i].code && !code) {
            code = all[i].code;
            *err = all[i].err;
        }
    }
    rapt_group_local_free(transports);
    free(all);
    return code;
}

/* This process is one of the ranks. */
static rapt_code bench_group_joined(const cli_group *group, const bench_options *o, rapt_error *err)
{
    bench_rank r = {.o = *o, .g = group->ranks, .transport = group->transport};
    rapt_code code = cli_group_threads(group, o->threads, o->json, &r.threads, err);
    if (!code && o->ranks)
        code = rapt_fail(err, RAPT_ERR_VALUE, "--ranks is for one process; mpirun has started %d", group->size);
    return code ? code : bench_rank_measure(&r, err);
}

int bench_group(const bench_options *o)
{
    rapt_error err = {0};
    cli_group group;
    bench_options filled = *o;
    filled.seconds = o->seconds > 0 ? o->seconds : DEFAULT_SECONDS;
    filled.elements = o->elements ? o->elements : DEFAULT_ELEMENTS;
    int status = cli_group_join(&group, 0);
    if (status)
        return status;
    rapt_code code = group.ranks ? bench_group_joined(&group, &filled, &err)
                                 : bench_group_in_process(&filled, o->ranks ? (int)o->ranks : 1, &err);
    return cli_group_leave(&group, code, 1, &err);
}
