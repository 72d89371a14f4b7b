/* cli/info_cluster.c: the rows of the table, and the advice from them. cluster_cost.c has the formulas. */
#include "cli/cmd_info.h"

#include "cli/machine_peak.h"
#include "cli/cli.h"
#include "cli/cluster_cost.h"
#include "train/step_passes.h"

#include <math.h>
#include <stdio.h>

#define MEMORY 20e9       /* bytes a second of a machine's memory, assumed for two channels: Adam and sums are a small part of a
                             step */
#define LATENCY 50e-6     /* seconds; TCP in one building */
#define REACHED 0.7       /* the share of the peak that training steps reach: docs/performance.md */
#define PAYLOAD 0.94      /* a share of a network's rate: the headers of Ethernet, IP and TCP take the rest */
#define PAYS 0.8          /* efficiency */
#define MACHINES 11       /* rows: 1 to 1,024 */
#define FEW_TOKENS 768    /* tokens of a batch: with fewer, a pass takes longer per token */

/* The recipe as it would be for a number of machines: if train.accumulate is lower than that, the same tokens are in more
 * batches. */
typedef struct cluster_row {
    uint32_t machines;
    cluster_job job;
    cluster_cost cost;
    double tokens_per_s, efficiency;
} cluster_row;

typedef struct cluster_table {
    cluster_machine machine;
    cluster_row rows[MACHINES];
    size_t count, pays; /* rows; the last one that pays */
    bool measured;      /* the machine's flop/s */
} cluster_table;

static cluster_job cluster_job_of(const rapt_recipe *k, const rapt_memory_plan *p, uint32_t machines)
{
    uint32_t batches = (uint32_t)step_passes(k), shards = (uint32_t)k->train.shards;
    cluster_job j = {.parameters = (double)p->trained_count, .looked_up = (double)p->looked_up,
                     .sparse = (double)p->sparse, .tokens = p->step_tokens, .activations = (double)p->activations,
                     .batches = batches > machines ? batches : machines, .shards = shards > machines ? shards : machines,
                     .bf16 = k->train.precision == RAPT_TYPE_BF16};
    j.activations *= (double)batches / j.batches;
    j.looked_up = fmin(j.looked_up, j.parameters);
    j.sparse = fmin(j.sparse, j.looked_up);
    j.embedding = (double)p->source_vocab * (double)k->model.d_model - j.sparse;
    j.embedding = fmax(0, fmin(j.embedding, j.parameters - j.sparse));
    return j;
}

/* Windows or sentences of a step: no machine can get less than one. */
static double examples_of(const rapt_recipe *k, const rapt_memory_plan *p)
{
    if (k->task == RAPT_TASK_TRANSLATION && k->train.batch_tokens > 0)
        return p->step_tokens / (double)k->data.max_len;
    return (double)(k->train.batch * k->train.accumulate);
}

static void make_rows(cluster_table *t, const rapt_recipe *k, const rapt_memory_plan *p)
{
    for (uint32_t n = 1; t->count < MACHINES && (n == 1 || n <= examples_of(k, p)); n *= 2) {
        cluster_row *row = &t->rows[t->count];
        *row = (cluster_row){.machines = n, .job = cluster_job_of(k, p, n)};
        row->cost = cluster_cost_of(&t->machine, &row->job, n);
        row->tokens_per_s = p->step_tokens / row->cost.step;
        row->efficiency = t->rows[0].cost.step / (n * row->cost.step);
        if (row->efficiency >= PAYS && t->pays == t->count - (t->count > 0))
            t->pays = t->count;
        t->count++;
    }
}

/* ---- as JSON ---------------------------------------------------------------------------------------------------- */

static json_t *cluster_row_json(const cluster_row *r)
{
    return json_pack("{s:i, s:i, s:i, s:f, s:f, s:f, s:f, s:f, s:I, s:I}", "machines", (int)r->machines, "accumulate",
                     (int)r->job.batches, "shards", (int)r->job.shards, "batch_tokens", r->job.tokens / r->job.batches, "step_s",
                     r->cost.step, "exposed_s", r->cost.exposed, "tokens_per_s", r->tokens_per_s, "efficiency", r->efficiency,
                     "sent", (json_int_t)r->cost.sent, "memory", (json_int_t)r->cost.resident);
}

static json_t *cluster_table_json(const cluster_table *t, const rapt_memory_plan *p)
{
    json_t *rows = json_array();
    for (size_t i = 0; rows && i < t->count; i++)
        json_array_append_new(rows, cluster_row_json(&t->rows[i]));
    return json_pack("{s:I, s:f, s:f, s:b, s:f, s:f, s:i, s:o}", "parameters", (json_int_t)p->parameter_count, "step_tokens",
                     p->step_tokens, "flops", t->machine.flops, "flops_measured", t->measured, "network_bytes_per_s",
                     t->machine.network, "hidden_from_tokens", cluster_cost_hides(&t->machine, &t->rows[0].job), "pays_off",
                     (int)t->rows[t->pays].machines, "rows", rows);
}

/* ---- as text ---------------------------------------------------------------------------------------------------- */

static void print_row(const cluster_row *r)
{
    char sent[32], memory[32];
    printf("%8u  %10u  %6u  %12.0f  %10.3g  %10.0f  %8.0f %%  %6.0f %%  %9s  %9s\n", r->machines, r->job.batches, r->job.shards,
           r->job.tokens / r->job.batches, r->cost.step, r->tokens_per_s, 100 * r->efficiency,
           100 * r->cost.exposed / r->cost.step, cli_bytes(r->cost.sent, sent), cli_bytes(r->cost.resident, memory));
}

/* The number of tokens of a step from which on two machines pay off. */
static double pays_from(const cluster_table *t, const rapt_recipe *k, const rapt_memory_plan *p)
{
    cluster_job one = cluster_job_of(k, p, 1), two = cluster_job_of(k, p, 2);
    double factor = 1;
    for (; factor < 1e9; factor *= 1.02) {
        one.tokens = two.tokens = p->step_tokens * factor;
        if (cluster_cost_of(&t->machine, &one, 1).step >= PAYS * 2 * cluster_cost_of(&t->machine, &two, 2).step)
            break;
    }
    return p->step_tokens * factor;
}

static void print_advice(const cluster_table *t, const rapt_recipe *k, const rapt_memory_plan *p)
{
    const cluster_row *best = &t->rows[t->pays];
    double batch = best->job.tokens / best->job.batches;
    if (best->machines == 1) {
        printf("A second machine does not pay off: for that a step would need %.0f tokens on this network.\n",
               pays_from(t, k, p));
        return;
    }
    printf("Up to %u machines pay off (efficiency of at least %.0f %%)", best->machines, 100 * PAYS);
    if (k->train.shards != best->job.shards || step_passes(k) != best->job.batches)
        printf(",\nwith train.shards %u", best->job.shards);
    if (step_passes(k) != best->job.batches)
        printf(" and train.accumulate %u in the recipe, of batches of %.0f tokens", best->job.batches, batch);
    puts(".");
    if (batch < FEW_TOKENS)
        printf("Batches of fewer than %d tokens take longer a token than this table says.\n", FEW_TOKENS);
}

static void info_cluster_print(const cluster_table *t, const rapt_recipe *k, const rapt_memory_plan *p)
{
    const cluster_machine *m = &t->machine;
    double hides = cluster_cost_hides(m, &t->rows[0].job);
    printf("model         %zu parameters; a step has %.0f target tokens\n", p->parameter_count, p->step_tokens);
    printf("a machine     %.4g GFLOP/s in training%s, %.4g MB/s to the network in each direction\n\n", m->flops / 1e9,
           t->measured ? " (this one: 70 % of its measured peak)" : "", m->network / 1e6);
    puts("machines  accumulate  shards  batch tokens    s a step    tokens/s   efficiency     waits       sent     memory");
    for (size_t i = 0; i < t->count; i++)
        print_row(&t->rows[i]);
    putchar('\n');
    print_advice(t, k, p);
    printf("A batch's backward pass hides the reduction of gradients from %.0f tokens on, the forward pass the gathering of\n"
           "parameters from %.0f.\n", hides, (k->train.precision == RAPT_TYPE_BF16 ? 1 : 2) * hides);
}

int info_cluster(const info_arguments *a, const rapt_recipe *k, const rapt_memory_plan *plan)
{
    rapt_error err = {0};
    cluster_table t = {.machine = {.flops = a->flops, .memory = MEMORY, .network = PAYLOAD * a->network / 8, .latency = LATENCY},
                       .measured = a->flops == 0};
    if (t.measured)
        t.machine.flops = REACHED * 1e9 * machine_peak(a->threads, k->train.precision, &err);
    if (t.machine.flops == 0)
        return cli_fail(&err);
    make_rows(&t, k, plan);
    if (a->json)
        return info_print_json(cluster_table_json(&t, plan));
    info_cluster_print(&t, k, plan);
    return 0;
}
