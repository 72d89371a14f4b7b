/* train/task/validation_bleu.h: how well the model in training translates the validation set. For task_translation.c. */
#ifndef TRAIN_TASK_VALIDATION_BLEU_H
#define TRAIN_TASK_VALIDATION_BLEU_H

#include "train/run.h"

/* BLEU (13a) of greedy translations of the validation fraction of p (see rapt_pairs_in_validation), against the targets as they
 * stand there, lower-cased where the tokenizer lower-cases. */
rapt_code validation_bleu(const run *r, const rapt_pairs *p, double fraction, double *bleu, rapt_error *err);

#endif
