/* train/ranks/handshake.h: whether the ranks of a group would train the same model, compared before anything is written. For the
 * set-up in train.c. Each rank compares itself with rank 0; if one differs, the run fails on all ranks (RAPT_ERR_VALUE), and the
 * message names that rank, its host, and the difference. A process alone has nothing to compare. */
#ifndef TRAIN_RANKS_HANDSHAKE_H
#define TRAIN_RANKS_HANDSHAKE_H

#include "train/run.h"

/* Raised with every change of docs/number-format.md that changes results. */
#define HANDSHAKE_NUMBER_FORMAT 2

/* Compares version and number format, then the recipe and what else decides the length of the run, and checks that each rank gets
 * a shard. */
rapt_code handshake_recipe(run *r, rapt_error *err);
/* Compares what the task has read, and what it has made of it. */
rapt_code handshake_data(run *r, rapt_error *err);
/* The parameters that the run starts from, and whether the processors compute alike: exactly, a small product. */
rapt_code handshake_numbers(run *r, rapt_error *err);

/* During the run: whether all ranks still have the same parameters, whole ones (step_params). They differ if the memory, the
 * processor or the network of a machine is faulty; a model that is saved then may be wrong. */
rapt_code handshake_same_parameters(run *r, rapt_error *err);

/* ---- for tests ------------------------------------------------------------------------------------------------- */

/* Version and number format as text. */
typedef struct handshake_program {
    char text[96];
} handshake_program;

handshake_program handshake_program_of(const char *version, int number_format, size_t bytes_of_number);

#endif
