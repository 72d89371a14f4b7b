/* train/task/pair_data.h: the sentence pairs of a run, from files or from the program, and what a pass has of each corpus. For
 * task_translation.c; not the data sets that are made of them. */
#ifndef TRAIN_TASK_PAIR_DATA_H
#define TRAIN_TASK_PAIR_DATA_H

#include "train/run.h"

#include "data/dataset.h"

typedef struct pair_data {
    const rapt_pairs *pairs, *valid; /* valid may be NULL */
    rapt_pairs *own_pairs, *own_valid; /* read from files; NULL: the program's */
    double *weights;      /* of the corpora of `pairs`; NULL: pairs of the program */
    rapt_corpus *corpora; /* once pair_data_weigh has counted them; NULL: pairs of the program */
    size_t count;
} pair_data;

/* Takes the program's pairs, or reads files. */
rapt_code pair_data_read(const run *r, pair_data *d, rapt_error *err);
void pair_data_free(pair_data *d);

/* Gives the training set the weights of data.weights, and counts the pairs of each corpus. */
rapt_code pair_data_weigh(const run *r, pair_data *d, rapt_dataset *train, rapt_error *err);
/* Target tokens of a pass, mean over passes. */
double pair_data_pass_tokens(const rapt_dataset *train);

/* Hash of pairs, and of their number: otherwise a pair could move from the end of one file to the beginning of the other
 * unnoticed. */
uint64_t pair_data_hash_all(const rapt_pairs *p, uint64_t hash);
/* The hash of all pairs, and, if corpora have weights, of how many each has. */
uint64_t pair_data_hash(const run *r, const pair_data *d, uint64_t hash);

#endif
