/* train/folder/run_state.c: counters to a checkpoint, and back. */
#include "train/folder/run_state.h"

#include "train/folder/log.h"

checkpoint_state run_state_of(const run *r, double seconds)
{
    const run_counters *c = &r->counters;
    checkpoint_state s = {.step = c->step, .recipe_hash = r->recipe_hash, .nll = c->nll, .book = c->book, .tokens = c->tokens,
                          .grad_norm = c->grad_norm, .best_val_loss = c->best_val_loss, .best_score = c->best_score,
                          .val_loss = c->val_loss, .seconds = seconds, .waited = c->waited, .stale = c->stale,
                          .reductions = c->reductions, .changed_after = c->changed_after, .adam_from = c->adam_from,
                          .fixed_hash = r->fixed_hash,
                          .reward_chosen = r->recipe->data.preferences ? c->rewards.chosen : NAN,
                          .reward_rejected = r->recipe->data.preferences ? c->rewards.rejected : NAN,
                          .reward_correct = c->rewards.correct};
    recipe_tuned_text(r->recipe, s.tuned);
    return s;
}

void run_state_take(run *r, const checkpoint_state *s)
{
    r->counters = (run_counters){.step = s->step, .nll = s->nll, .book = s->book, .tokens = s->tokens,
                                 .grad_norm = s->grad_norm, .val_loss = s->val_loss, .scores = TRAIN_NO_SCORES,
                                 .best_val_loss = s->best_val_loss, .best_score = s->best_score,
                                 .best_step = log_best_step(r->options->out, r->recipe->train.best_by), .waited = s->waited,
                                 .stale = s->stale, .reductions = s->reductions, .seconds = s->seconds,
                                 .changed_after = s->changed_after, .adam_from = s->adam_from};
    if (r->recipe->data.preferences)
        r->counters.rewards = (reward_sums){s->reward_chosen, s->reward_rejected, s->reward_correct};
}
