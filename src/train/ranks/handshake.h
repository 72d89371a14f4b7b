/* train/ranks/handshake.h: whether the ranks of a group would train the same model: compared before anything is written. For the
 * set-up in train.c. Each rank compares itself with rank 0; where one differs, the run fails on all of them (RAPT_ERR_VALUE) and
 * the message names that rank, its host, and what differs. Alone, there is nothing to compare. */
#ifndef TRAIN_RANKS_HANDSHAKE_H
#define TRAIN_RANKS_HANDSHAKE_H

#include "train/run.h"

/* Raised with every change of docs/number-format.md that changes results. */
#define HANDSHAKE_NUMBER_FORMAT 2

/* Version and number format, then the recipe and what else decides how long the run is; and that each rank gets a shard. */
rapt_code handshake_recipe(run *r, rapt_error *err);
/* What the task has read, and made of it. */
rapt_code handshake_data(run *r, rapt_error *err);
/* The parameters that the run starts from, and whether the processors compute alike: exactly, a small product. */
rapt_code handshake_numbers(run *r, rapt_error *err);

/* Later on: whether all ranks still have the same parameters, whole ones (step_params). Where the memory, the processor or the
 * network of a machine is faulty, they differ, and what would be saved may be wrong. */
rapt_code handshake_same_parameters(run *r, rapt_error *err);

/* ---- for tests ------------------------------------------------------------------------------------------------- */

/* What version and number format come to as text. */
typedef struct handshake_program {
    char text[96];
} handshake_program;

handshake_program handshake_program_of(const char *version, int number_format, size_t bytes_of_number);

#endif
