/* cli/eval/eval_compare.h: `rapt eval --compare`: the cost of types of weights: the same losses of another model, or of the same
 * model in fp32, and the largest change of a logit. */
#ifndef CLI_EVAL_EVAL_COMPARE_H
#define CLI_EVAL_EVAL_COMPARE_H

#include "cli/eval/cmd_eval.h"
#include "decode/model_tapes.h"
#include "decode/score_watch.h"
#include "rapt/data.h"

#include <jansson.h>

typedef struct eval_compare {
    const rapt_model *with; /* borrowed; it gives as many logits as the other model */
    model_tapes exact;      /* in fp32 */
    rapt_loss_sums sum;     /* on it */
    double change;          /* the largest change of a logit */
    double bleu, chrf;      /* scores of translations in fp32; NaN: there are none */
} eval_compare;

/* Whether the model m can be compared with a->compare: RAPT_ERR_VALUE, naming both, if their tasks or the sizes of their
 * vocabularies differ, or if the other model's context is shorter. Tokenizers are compared by the ids that they give for a file:
 * a Hugging Face folder has another kind of tokenizer than the model from which it was made, but gives the same ids. */
rapt_code eval_compare_check(const eval_arguments *a, const rapt_model *m, rapt_error *err);
/* Whether tokenizers of translators give the same ids for all of these pairs: RAPT_ERR_VALUE if they do not. */
rapt_code eval_compare_check_pairs(const eval_arguments *a, const rapt_model *m, const rapt_pairs *pairs, rapt_error *err);
/* The error of both functions above, and for texts. */
rapt_code eval_compare_fail_ids(const eval_arguments *a, rapt_error *err);

/* The models must have passed eval_compare_check. */
rapt_code eval_compare_make(eval_compare *c, const rapt_model *with, const rapt_translate_options *o, rapt_error *err);
void eval_compare_free(eval_compare *c);

/* Adds a batch: the logits of c->exact, their labels, and the logits of the other tape. */
rapt_code eval_compare_add(eval_compare *c, rapt_tensor *exact, const rapt_tensor *logits, rapt_tokens labels,
                           const rapt_loss_options *o, rapt_error *err);

/* A score_watch.fn, whose context is an eval_compare, for language models: computes a batch in fp32, and adds it. */
rapt_code eval_compare_watch(void *context, const score_batch *b, rapt_error *err);

/* Prints a line with the changes from fp32 to a loss `nll` over the same tokens. */
void eval_compare_print(const eval_compare *c, double nll);
/* Adds the same to a JSON object, as "fp32" and "largest_logit_change". */
void eval_compare_put(const eval_compare *c, json_t *o);

#endif
