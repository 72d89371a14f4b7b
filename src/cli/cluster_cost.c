/* cli/cluster_cost.c: the formulas. The exchange is as in src/group: gradients in buckets, reduced during the last batch's
 * backward pass, and parameters gathered during the next step's first forward pass (LogGP: Alexandrov et al. 1995). */
#include "cli/cluster_cost.h"

#include "group/rank_exchange.h"
#include "group/shard_tree.h"
#include "train/shards/buckets.h"

#include <math.h>

#define NORM_BLOCK 8192  /* numbers for each sum of squares, a double */
#define ADDITION 12      /* bytes that one moves: two operands and a sum */
#define ADAM 28          /* gradient, parameter and two moments are read, three of them written */

/* A rank's part of the shards, at the machine that has most. */
typedef struct largest_part {
    uint32_t batches, shards;
    size_t pieces;  /* maximal subtrees, each sent by itself */
    size_t buffers; /* buffers of gradients that are held at the same time */
} largest_part;

static uint32_t first_batch(const cluster_job *j, uint32_t shard)
{
    return (uint32_t)((uint64_t)shard * j->batches / j->shards);
}

/* While subtree i is summed those before it are held: one buffer each, and for its own shards one a level. */
static size_t buffers_of(const shard_node *nodes, size_t count)
{
    size_t most = 0;
    for (size_t i = 0; i < count; i++) {
        size_t levels = 1;
        for (uint32_t n = nodes[i].end - nodes[i].first; n > 1; n = (n + 1) / 2)
            levels++;
        most = i + levels > most ? i + levels : most;
    }
    return most;
}

static largest_part largest_part_of(const cluster_job *j, uint32_t machines)
{
    largest_part most = {0};
    for (uint32_t r = 0; r < machines; r++) {
        shard_node nodes[SHARD_MAX_SUBTREES];
        uint32_t first = shard_first((int)r, (int)machines, j->shards), end = shard_first((int)r + 1, (int)machines, j->shards);
        size_t pieces = shard_subtrees((int)r, (int)machines, j->shards, nodes), buffers = buffers_of(nodes, pieces);
        uint32_t batches = first_batch(j, end) - first_batch(j, first);
        most.batches = batches > most.batches ? batches : most.batches;
        most.shards = end - first > most.shards ? end - first : most.shards;
        most.pieces = pieces > most.pieces ? pieces : most.pieces;
        most.buffers = buffers > most.buffers ? buffers : most.buffers;
    }
    return most;
}

/* Seconds of an exchange that a pass of `pass` seconds does not hide: at least the share `edge`, which has to wait for the end of
 * the backward pass, or for which the forward pass has to wait. */
static double exposed(double all, double pass, double edge, double rounds)
{
    return fmax(all * edge + rounds, all - pass * (1 - edge));
}

static bool halves_evenly(uint32_t n)
{
    return (n & (n - 1)) == 0;
}

/* The messages of a reduction, one after the other: to each partner of the halving, or to everybody. */
static double reduce_rounds(const cluster_job *j, uint32_t machines)
{
    return halves_evenly(machines) && halves_evenly(j->shards) ? log2(machines) : machines - 1;
}

/* Adds the bytes that are sent, the time they take, and the time that the machine waits for them. */
static void add_exchange(cluster_cost *c, const cluster_machine *m, const cluster_job *j, uint32_t machines, size_t pieces)
{
    double numbers = j->parameters - j->sparse, share = (machines - 1.0) / machines;
    double cuts = (double)buckets_wanted((size_t)numbers);
    double reduces = reduce_rounds(j, machines) * m->latency, gathers = ceil(log2(machines)) * m->latency;
    double edge = fmax(1 / cuts, j->embedding / numbers); /* a share of all bytes: a bucket, or the embedding */
    double matrices = j->parameters - j->looked_up, shared = 8 * numbers / NORM_BLOCK;
    double gradients = 4 * numbers * share * (double)pieces;
    double gathered = share * (4 * numbers - (j->bf16 ? 2 * matrices : 0));
    double batch = 2 * matrices * j->tokens / j->batches / m->flops; /* its forward pass; the backward pass takes twice as long */
    c->reduce = gradients / m->network + cuts * reduces / EXCHANGE_IN_FLIGHT;
    c->gather = gathered / m->network + cuts * gathers / EXCHANGE_IN_FLIGHT;
    c->exposed = exposed(c->reduce, 2 * batch, edge, reduces) + exposed(c->gather, batch, edge, gathers) +
                 2 * gathers + share * shared / m->network;
    c->sent = gradients + gathered + share * shared;
}

cluster_cost cluster_cost_of(const cluster_machine *m, const cluster_job *j, uint32_t machines)
{
    largest_part part = largest_part_of(j, machines);
    double numbers = j->parameters - j->sparse;
    cluster_cost c = {.batches = part.batches};
    c.compute = 6 * (j->parameters - j->looked_up) * j->tokens / j->batches * part.batches / m->flops;
    c.additions = (part.shards - 1.0) * ADDITION * numbers / m->memory;
    c.adam = ADAM * numbers / machines / m->memory;
    if (machines > 1)
        add_exchange(&c, m, j, machines, part.pieces);
    c.step = c.compute + c.additions + c.exposed + c.adam;
    c.resident = 4 * j->parameters + 4 * numbers * (double)part.buffers + 8 * numbers / machines + 12 * j->sparse +
                 j->activations;
    return c;
}

double cluster_cost_hides(const cluster_machine *m, const cluster_job *j)
{
    return (j->parameters - j->sparse) / (j->parameters - j->looked_up) * m->flops / m->network;
}
