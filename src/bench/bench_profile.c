/* bench/bench_profile.c: the output of `rapt-bench train --profile`: each operation's share of a step, and how near it comes
 * to this machine's peak of arithmetic or memory traffic. tape/profile.c counts. */
#include "bench/bench.h"

#include "bench/bench_profile.h"
#include "tape/tape_core.h"

#include <stdio.h>
#include <stdlib.h>

static int by_time(const void *a, const void *b)
{
    double x = ((const rapt_profile_entry *)a)->seconds, y = ((const rapt_profile_entry *)b)->seconds;
    return (x < y) - (x > y);
}

/* Whether arithmetic bounds an operation: its GEMMs would take longer than its memory traffic. */
static bool computes(const rapt_profile_entry *e, const bench_machine *m)
{
    return e->flops / m->gflops > e->bytes / m->gbytes;
}

static void bench_profile_print_row(const rapt_profile_entry *e, size_t steps, double step_seconds, const bench_machine *m)
{
    bool by_flops = computes(e, m);
    double rate = (by_flops ? e->flops : e->bytes) / e->seconds * 1e-9;
    printf("%-16s %-8s %8.1f %9.3f %6.1f %%  %8.1f %-7s %6.1f %%\n", e->op, e->backward ? "backward" : "",
           (double)e->calls / (double)steps, e->seconds / (double)steps * 1e3,
           100 * e->seconds / (double)steps / step_seconds, rate, by_flops ? "GFLOP/s" : "GB/s",
           100 * rate / (by_flops ? m->gflops : m->gbytes));
}

static json_t *row_json(const rapt_profile_entry *e, size_t steps, double step_seconds, const bench_machine *m)
{
    bool by_flops = computes(e, m);
    double rate = (by_flops ? e->flops : e->bytes) / e->seconds * 1e-9;
    return json_pack("{s:s, s:b, s:f, s:f, s:f, s:f, s:f, s:s, s:f}", "op", e->op, "backward", e->backward, "calls",
                     (double)e->calls / (double)steps, "ms", e->seconds / (double)steps * 1e3, "share",
                     e->seconds / (double)steps / step_seconds, "gflops", e->flops / e->seconds * 1e-9, "gbytes_s",
                     e->bytes / e->seconds * 1e-9, "bound", by_flops ? "compute" : "memory", "peak_share",
                     rate / (by_flops ? m->gflops : m->gbytes));
}

/* Loops of several threads: products, mostly. What is between them one thread does alone. */
static void bench_profile_print_loops(const pool_times *loops, size_t steps, double step_seconds)
{
    const double each[] = {loops->inside - loops->waiting, loops->waiting, step_seconds * (double)steps - loops->inside};
    static const char *const names[] = {"in loops", "waiting for them", "between loops"};
    for (int i = 0; i < 3; i++)
        printf("%-25s %8.1f %9.3f %6.1f %%\n", names[i], (double)loops->loops / (double)steps, each[i] / (double)steps * 1e3,
               100 * each[i] / (double)steps / step_seconds);
}

static void profile_print_table(const rapt_profile_entry *list, size_t count, size_t steps, double step_seconds,
                                const bench_machine *m, const pool_times *loops)
{
    double named = 0;
    printf("%-16s %-8s %8s %9s %8s  %16s %8s\n", "operation", "", "calls", "ms a step", "share", "rate", "of peak");
    for (size_t i = 0; i < count; i++) {
        bench_profile_print_row(&list[i], steps, step_seconds, m);
        named += list[i].seconds;
    }
    printf("%-16s %-8s %8s %9.3f %6.1f %%\n", "all else", "", "", (step_seconds - named / (double)steps) * 1e3,
           100 * (1 - named / (double)steps / step_seconds));
    bench_profile_print_loops(loops, steps, step_seconds);
    printf("a step takes %.3f ms; at most, this machine computes %.1f GFLOP/s and moves %.1f GB/s\n", step_seconds * 1e3,
           m->gflops, m->gbytes);
}

static rapt_code bench_profile_print_json(const rapt_profile_entry *list, size_t count, size_t steps, double step_seconds,
                                          const bench_machine *m, const pool_times *loops, rapt_error *err)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(rows, row_json(&list[i], steps, step_seconds, m));
    json_t *o = json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:o}", "step_ms", step_seconds * 1e3, "peak_gflops", m->gflops,
                          "peak_gbytes_s", m->gbytes, "loops", (double)loops->loops / (double)steps, "loops_ms",
                          loops->inside / (double)steps * 1e3, "waiting_ms", loops->waiting / (double)steps * 1e3, "profile",
                          rows);
    rapt_code code = bench_print_json(o, err);
    json_decref(o);
    return code;
}

rapt_code bench_profile_print(rapt_tape *t, size_t steps, double seconds, const bench_machine *m, bool json, rapt_error *err)
{
    size_t count;
    const rapt_profile_entry *entries = rapt_tape_profile_entries(t, &count);
    rapt_profile_entry *list = malloc((count + 1) * sizeof *list);
    if (!list)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a profile");
    for (size_t i = 0; i < count; i++)
        list[i] = entries[i];
    qsort(list, count, sizeof *list, by_time);
    const pool_times loops = pool_measured(t->team.pool);
    rapt_code code = RAPT_OK;
    if (json)
        code = bench_profile_print_json(list, count, steps, seconds / (double)steps, m, &loops, err);
    else
        profile_print_table(list, count, steps, seconds / (double)steps, m, &loops);
    free(list);
    return code;
}
