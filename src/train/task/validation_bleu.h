/* train/task/validation_bleu.h: how well the model in training translates the validation set. For task_translation.c. */
#ifndef TRAIN_TASK_VALIDATION_BLEU_H
#define TRAIN_TASK_VALIDATION_BLEU_H

#include "train/run.h"

/* BLEU, tokenized as rapt_bleu_tokenize_for has it, and with the book's reduction the book's, of greedy translations of the
 * validation fraction of p (see rapt_pairs_in_validation), against the targets as they stand there, lower-cased where the
 * tokenizer lower-cases; for the book's, prepared as its text. */
rapt_code validation_bleu(run *r, const rapt_pairs *p, double fraction, train_scores *scores, rapt_error *err);

#endif
