/* cli/eval/eval_warnings.h: the sentence pairs of a file that a model does not read as they are: unknown words, truncated
 * pairs. For `rapt eval`. */
#ifndef CLI_EVAL_EVAL_WARNINGS_H
#define CLI_EVAL_EVAL_WARNINGS_H

#include "cli/eval/cmd_eval.h"

#include "rapt/data.h"

/* Prints on stderr how many words of the sources are unknown, and how many pairs are truncated; nothing with --quiet. With
 * --strict the first unknown word is RAPT_ERR_VALUE; the data set then refuses long pairs. */
rapt_code eval_warn(const eval_arguments *a, const rapt_model *m, const rapt_pairs *pairs, rapt_error *err);

#endif
