/* train/first_loss.c: warns of a first loss far above ln V: training must first undo such an initialization. */
#include "train/first_loss.h"

#include <math.h>

#define ABOVE 0.1 /* of ln V */
#define MIN_ABOVE 0.7 /* nats: logits of a variance of 1 cost half a nat in any vocabulary, more than 0.1 ln V in a small one */

void first_loss_check(const run *r)
{
    const rapt_model *m = r->model;
    bool translation = m->task == RAPT_TASK_TRANSLATION;
    const size_t entries = translation ? m->translation.net->config.target_vocab : m->language.net->config.vocab;
    const double loss = r->counters.nll / (double)r->counters.tokens, even = log((double)entries);
    if (r->init || !(loss > even + fmax(ABOVE * even, MIN_ABOVE)))
        return;
    run_warn(r, "the first loss is %.2f; a model that guesses evenly has %.2f, ln %zu: the initial values are too large "
             "(model.embedding_std is %g; 0 leaves it to rapt)", loss, even, entries, r->recipe->model.embedding_std);
}
