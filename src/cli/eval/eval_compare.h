/* cli/eval/eval_compare.h: `rapt eval --compare`: what types of weights cost: the same losses of another model, or of the same
 * one, in fp32, and the largest change of a logit. */
#ifndef CLI_EVAL_EVAL_COMPARE_H
#define CLI_EVAL_EVAL_COMPARE_H

#include "cli/eval/eval_tape.h"

#include <jansson.h>

typedef struct eval_compare {
    const rapt_model *with; /* borrowed; its networks give as many logits as those of the other model */
    eval_tape exact;    /* in fp32 */
    rapt_loss_sums sum; /* on it */
    double change;      /* of a logit, the largest */
    double bleu, chrf;  /* of translations in fp32; NaN: there are none */
} eval_compare;

/* RAPT_ERR_VALUE where the models' tasks or vocabularies differ. */
rapt_code eval_compare_make(eval_compare *c, const rapt_model *with, const rapt_model *m, const rapt_translate_options *o,
                            rapt_error *err);
void eval_compare_free(eval_compare *c);

/* Adds a batch: the logits of c->exact, with its labels, and those of the other tape. */
rapt_code eval_compare_add(eval_compare *c, rapt_tensor *exact, const rapt_tensor *logits, rapt_tokens labels,
                           const rapt_loss_options *o, rapt_error *err);

/* Prints a line that says what changed from fp32 to a loss `nll` over as many tokens. */
void eval_compare_print(const eval_compare *c, double nll);
/* Adds the same to a JSON object, as "fp32" and "largest_logit_change". */
void eval_compare_put(const eval_compare *c, json_t *o);

#endif
