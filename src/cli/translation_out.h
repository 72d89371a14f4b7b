/* cli/translation_out.h: what is printed with a translation, or about a pair. For cmd_translate.c and eval_each.c. */
#ifndef CLI_TRANSLATION_OUT_H
#define CLI_TRANSLATION_OUT_H

#include "rapt/decode.h"

#include <jansson.h>
#include <stdio.h>

/* ---- alignment.c: alignments as text, for `rapt translate --alignment`. */

typedef enum alignment_kind { ALIGNMENT_NONE, ALIGNMENT_HARD, ALIGNMENT_SOFT, ALIGNMENT_WORDS } alignment_kind;

/* The kind that an option's value names, NONE for any other text. */
alignment_kind alignment_named(const char *text);

/* Prints a tab and then, for hard: for each target token j the source token i that it attends to most (the first among equals),
 * as pairs "i-j" from 0; for soft: rows of numbers with commas, a row for each target token, the last number of a row for the
 * source's end; for words: pairs as for hard, but of words. A word is a run of tokens up to the next that begins with a space;
 * their weights add up. The translation must have its tokens then. False: out of memory. */
bool alignment_print(alignment_kind kind, const rapt_model *m, const rapt_translation *t, const rapt_hypothesis *h, FILE *to);

/* Prints a tab and the names of tokens, with spaces between; in a name an open box stands for a space. False: out of memory. */
bool alignment_print_names(const rapt_tokenizer *k, const int32_t *ids, size_t count, FILE *to);

/* Prints a tab and the tokens of the source, a tab and the tokens of the hypothesis. False: out of memory. */
bool alignment_print_tokens(const rapt_model *m, const rapt_translation *t, const rapt_hypothesis *h, FILE *to);

/* ---- translation_json.c: a translation as one JSON object, for `rapt translate --json`. It has the members that the server's
 * POST /v1/translate has for a text, and the number of its line. */

typedef struct translation_json {
    const rapt_model *m;
    bool tokens, alignment, soft; /* the parts that were requested; soft: attention weights in place of links */
} translation_json;

/* The parts that lines of several commands have. NULL: out of memory. */
json_t *tokens_json(const rapt_tokenizer *k, const int32_t *ids, size_t count);     /* ids and texts, side by side */
json_t *log_probs_json(const double *log_probs, size_t count); /* numbers; null for one that is not finite */

/* NULL: out of memory. */
json_t *translation_json_of(const translation_json *j, size_t line, const rapt_translation *t);

#endif
