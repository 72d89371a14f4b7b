/* examples/learn.h: small language models of real sentences, for the programs that compare what models learn: the English side of
 * data/en-fr.tsv as characters, a training loop, and the loss on sentences that no step has seen. Not part of the library. */
#ifndef LEARN_H
#define LEARN_H

#include <rapt.h>

enum { LEARN_TRAINED = 32, LEARN_BATCH = 16, LEARN_FEATURES = 64, LEARN_HEADS = 4 };

/* The sentences, one a line, as characters. Nine tenths are the training set. */
typedef struct learn_text {
    rapt_tokenizer *tokenizer;
    int32_t *ids;
    rapt_token_file *tokens;
    size_t vocabulary;
} learn_text;

/* Reads data/en-fr.tsv, where the program runs in the root of the sources; else tells why not, which is a failed check. */
bool learn_open(learn_text *x);
void learn_close(learn_text *x);

/* Chapter 16's model: two pre-norm blocks of LEARN_FEATURES features with LEARN_HEADS heads, tied, with learned positions and
 * without dropout. */
rapt_lm_config learn_config(const learn_text *x);

/* A model trained for `steps` steps on LEARN_BATCH windows of LEARN_TRAINED characters; seed 1 draws parameters and windows.
 * NULL where it fails, which is a failed check. `seconds` (which may be NULL) gets the mean time of a step. */
rapt_lm *learn_train(rapt_tape *t, const learn_text *x, const rapt_lm_config *config, size_t steps, double *seconds);

/* The loss on the validation set, nats a character: the mean of the labels of places first .. last - 1 in windows of `last`
 * characters, 16 windows at once. */
double learn_loss(rapt_tape *t, const learn_text *x, const rapt_lm *m, size_t first, size_t last);

/* Seconds of CPU time of this program so far, all threads together; what else the machine does hardly changes them. */
double learn_clock(void);

#endif
