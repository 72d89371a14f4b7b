/* cli/cluster_cost.h: what a training step on several machines takes, by formulas. For `rapt info RECIPE --cluster`; nothing is
 * measured here. docs/cluster.md explains them; bench/smpi simulates the effects that they leave out. */
#ifndef CLI_CLUSTER_COST_H
#define CLI_CLUSTER_COST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One of several equal machines, with one process, and its link to the others. */
typedef struct cluster_machine {
    double flops;   /* a second, as training reaches them */
    double memory;  /* bytes a second that additions and Adam move */
    double network; /* bytes a second in each direction */
    double latency; /* seconds that a small message takes */
} cluster_machine;

/* A step of training. */
typedef struct cluster_job {
    double parameters;      /* that are trained */
    double looked_up;       /* among these: in no matrix product */
    double sparse;          /* among these: updated row by row, and so little to send that it is not counted */
    double embedding;       /* among these: in the embedding that is read first, and whose gradient is complete last */
    double tokens;          /* of a step */
    double activations;     /* bytes */
    uint32_t batches;       /* train.accumulate */
    uint32_t shards;        /* train.shards */
    bool bf16;              /* matrices are gathered in bf16 */
} cluster_job;

typedef struct cluster_cost {
    uint32_t batches;  /* batches of the machine that has most */
    double compute;    /* seconds of its forward and backward passes */
    double additions;  /* seconds of adding its shards */
    double reduce, gather; /* seconds on the wire, hidden behind the passes or not */
    double exposed;    /* seconds that it waits: the part of both that is not hidden, and the gradient norm */
    double adam;
    double step;       /* the sum of compute, additions, exposed and adam */
    double sent;       /* bytes a machine sends */
    double resident;   /* bytes: parameters, gradients, moments, activations */
} cluster_cost;

/* A step on `machines` of them, 1 to shards; shards at most batches. */
cluster_cost cluster_cost_of(const cluster_machine *m, const cluster_job *j, uint32_t machines);
/* The number of tokens of a batch whose backward pass takes as long as the reduction of all gradients. */
double cluster_cost_hides(const cluster_machine *m, const cluster_job *j);

#endif
