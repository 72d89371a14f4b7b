/* train/step_passes.c: counts a step's batches and passes, and cuts a batch. Passes, and gradients of shards, are step.c's. */
#include "train/step_passes.h"

uint64_t step_passes(const rapt_recipe *k)
{
    const int64_t a = k->train.accumulate, s = k->train.shards;
    return (uint64_t)(s > a ? s : a);
}

uint64_t step_draws(const rapt_recipe *k)
{
    return k->train.draw_by == RAPT_RECIPE_DRAW_BY_STEP ? 1 : (uint64_t)k->train.accumulate;
}

static size_t step_rows(const rapt_recipe *k)
{
    return (size_t)k->train.batch * (size_t)k->train.accumulate;
}

size_t step_drawn_rows(const rapt_recipe *k)
{
    return step_rows(k) / (size_t)step_draws(k);
}

size_t step_pass_rows(const rapt_recipe *k)
{
    return step_rows(k) / (size_t)step_passes(k);
}

static rapt_tokens step_token_rows(rapt_tokens x, size_t first, size_t count)
{
    if (x.ids) {
        x.ids += first * x.time;
        x.lens = x.lens ? x.lens + first : NULL;
        x.batch = count;
    }
    return x;
}

void step_part(train_batch *b, uint64_t part, uint64_t parts)
{
    static const int32_t no_labels[1] = {0};
    const size_t rows = b->labels.batch, first = (size_t)(part * rows / parts), end = (size_t)((part + 1) * rows / parts);
    const bool none = first == end;
    const size_t from = none ? 0 : first, count = none ? 1 : end - first;
    b->source = step_token_rows(b->source, from, count);
    b->source_lens = b->source_lens ? b->source_lens + from : NULL;
    b->inputs = step_token_rows(b->inputs, from, count);
    b->labels = step_token_rows(b->labels, from, count);
    b->valid_lens = none ? no_labels : b->valid_lens + from;
    b->examples += from;
    b->tokens = 0;
    for (size_t i = 0; i < count; i++)
        b->tokens += (size_t)b->valid_lens[i];
}
