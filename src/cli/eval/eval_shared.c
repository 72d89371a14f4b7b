/* cli/eval/eval_shared.c: what the evaluations of sentence pairs and of texts share. It defines functions of cmd_eval.h. */
#include "cli/eval/cmd_eval.h"

rapt_code eval_add_loss(const rapt_tape *t, const rapt_loss_sums *parts, rapt_loss_sums *sum, rapt_error *err)
{
    sum->nll += parts->nll;
    sum->tokens += parts->tokens;
    return rapt_tape_status(t, err);
}
