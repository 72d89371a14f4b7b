/* train/task/validation_bleu.h: how well the model in training translates the validation set. For task_translation.c. */
#ifndef TRAIN_TASK_VALIDATION_BLEU_H
#define TRAIN_TASK_VALIDATION_BLEU_H

#include "train/run.h"

/* BLEU and chrF, BLEU with the tokenization of rapt_bleu_tokenize_for, of greedy translations of the validation fraction of p
 * (rapt_pairs_in_validation) against its targets, in lower case if the tokenizer lower-cases. With the book's reduction also the
 * book's BLEU, against targets that are prepared as in the book. */
rapt_code validation_bleu(run *r, const rapt_pairs *p, double fraction, train_scores *scores, rapt_error *err);

#endif
