/* cli/eval/cmd_eval.h: what the files of `rapt eval` share. */
#ifndef CLI_EVAL_CMD_EVAL_H
#define CLI_EVAL_CMD_EVAL_H

#include "rapt/data.h"
#include "rapt/decode.h"
#include "rapt/io.h"

#include "cli/cli.h"

#include <jansson.h>

enum { EVAL_BY_SCRIPT = -1 }; /* the script of the targets in a file decides */

typedef struct eval_arguments {
    const char *model, *adapter, *compare_with;
    cli_heads without;
    char **files; /* [file_count], within argv */
    size_t file_count, limit;
    long long context;
    rapt_translate_options o;
    bool lowercase, json, loss_only, strict, quiet, compares, each, tokens;
    bool conversations; /* the files have them, whatever their names are */
    int loss_on;        /* a rapt_recipe_loss_on, of conversations */
    rapt_model *compare; /* the model to compare with, or NULL */
    int tokenize; /* a rapt_tokenize, or EVAL_BY_SCRIPT */
    const char *for_pairs, *for_text; /* a given option that only pairs have; a given option that only texts have; or NULL */
} eval_arguments;

/* Evaluates on the files, one after the other; unless a->compare is NULL, it must fit m (eval_compare_check). */
rapt_code eval_files(eval_arguments *a, rapt_model *m, rapt_error *err);

/* Evaluates on one file and prints the results: sentence pairs for translation models, a text or conversations for language
 * models. */
rapt_code eval_pairs(const eval_arguments *a, rapt_model *m, const char *file, rapt_error *err);
rapt_code eval_text(const eval_arguments *a, rapt_model *m, const char *file, rapt_error *err);
rapt_code eval_conversations(const eval_arguments *a, rapt_model *m, const char *file, rapt_error *err);

/* Prints a line for each line of the file of the pairs: the sum of the log-probabilities of its target's tokens, their mean and
 * number; or a JSON object. */
rapt_code eval_each(const eval_arguments *a, const rapt_model *m, const rapt_pairs *pairs, rapt_error *err);

/* ---- eval_warnings.c: the sentence pairs of a file that a model does not read as they are: unknown words, truncated pairs. For
 * `rapt eval`. */

/* Prints on stderr how many words of the sources are unknown, and how many pairs are truncated; nothing with --quiet. With
 * --strict the first unknown word is RAPT_ERR_VALUE; the data set then refuses long pairs. */
rapt_code eval_warn(const eval_arguments *a, const rapt_model *m, const rapt_pairs *pairs, rapt_error *err);

#endif
