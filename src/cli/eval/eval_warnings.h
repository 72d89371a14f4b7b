/* cli/eval/eval_warnings.h: what of a file of sentence pairs a model reads otherwise than it stands there. For `rapt eval`. */
#ifndef CLI_EVAL_EVAL_WARNINGS_H
#define CLI_EVAL_EVAL_WARNINGS_H

#include "cli/eval/cmd_eval.h"

#include "rapt/data.h"

/* Says on stderr how many words of the sources are unknown, and how many pairs are cut; nothing with --quiet. With --strict the
 * first unknown word is RAPT_ERR_VALUE; long pairs are the data set's business then. */
rapt_code eval_warn(const eval_arguments *a, const rapt_model *m, const rapt_pairs *pairs, rapt_error *err);

#endif
