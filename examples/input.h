/* examples/input.h: the two inputs that the programs of the book share: a batch of the usual size with random tokens,
 * and four windows of a sales textbook. Not part of the library. */
#ifndef INPUT_H
#define INPUT_H

#include <rapt.h>

/* 32 sentences of 50 tokens, drawn at random from a vocabulary of 10,000; they live as long as the set. */
rapt_tokens input_batch_tokens(rapt_params *set);
/* The sentences as vectors with 512 features, positions added: [32, 50, 512]. Adds the parameters "batch...." to the set. */
rapt_tensor *input_batch(rapt_tape *t, rapt_params *set);

enum { SALES_BATCH = 4, SALES_TIME = 16, SALES_FEATURES = 64, SALES_VOCABULARY = 100070 };

/* Four windows of 16 tokens of the sales textbook, as cl100k_base numbers them, and what follows each token. They live
 * as long as the set. */
rapt_tokens input_sales_tokens(rapt_params *set);
rapt_tokens input_sales_labels(rapt_params *set);
/* The windows with their tokens numbered anew, 0, 1, ..., in the order in which they appear: a vocabulary of 53 for small
 * models. They live as long as the set. */
typedef struct input_windows {
    rapt_tokens inputs, labels;
    size_t vocabulary;
} input_windows;
input_windows input_sales_numbered(rapt_params *set);
/* The words of the first window. */
extern const char *const input_sales_words[SALES_TIME];
/* Its vectors, positions added: [4, 16, 64]. Adds the parameters "sales...." to the set. */
rapt_tensor *input_sales(rapt_tape *t, rapt_params *set);

#endif
