/* explain/input/pass_input.h: a text as tokens that fit a model, and a model's own greedy translation. For the commands that
 * inspect one pass: `rapt explain` and `rapt plot attention`. The only passes that it runs are the search's. */
#ifndef EXPLAIN_INPUT_PASS_INPUT_H
#define EXPLAIN_INPUT_PASS_INPUT_H

#include "decode/known_words.h"
#include "rapt/io.h"

/* The input of a pass. ids[count] is one more token, so that ids + 1 are the labels, [count]. */
typedef struct pass_tokens {
    int32_t *ids; /* [count + 1] */
    size_t count;
    unknown_list unknown; /* words of the text that are <unk> among the tokens */
} pass_tokens;

/* On failure the functions leave nothing to free; on success pass_tokens_free frees the tokens. RAPT_ERR_VALUE: a text is empty,
 * longer than the model takes, or has ids outside the model's vocabulary; with `strict`, also unknown words. */
void pass_tokens_free(pass_tokens *p);

/* The source of a translation model: the text's words and <eos>. */
rapt_code pass_read_source(const rapt_model *m, rapt_text text, bool strict, pass_tokens *source, rapt_error *err);
/* The decoder's input: <bos> and the text's words; ids[count] is <eos>. */
rapt_code pass_read_target(const rapt_model *m, rapt_text text, bool strict, pass_tokens *target, rapt_error *err);
/* The decoder's input at the last step of the greedy search; ids[count] is the token found there. */
rapt_code pass_translate(rapt_tape *t, const rapt_model *m, const pass_tokens *source, pass_tokens *target, rapt_error *err);
/* A language model's text, special tokens as such; the last one has no label. */
rapt_code pass_read_text(const rapt_model *m, rapt_text text, bool strict, pass_tokens *p, rapt_error *err);

#endif
