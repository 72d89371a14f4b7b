/* train/shards/step_share.c: packs and unpacks these messages, which have the same size on every process. */
#include "train/shards/step_ranks.h"

#include "group/group_ops.h"
#include "io/model_core.h"
#include "train/shards/shard_batches.h"

#include <stdlib.h>
#include <string.h>

/* The beginning of a message; then batch_sums [batches], then the touched flags [params]. */
typedef struct share_head {
    double waited; /* seconds since the run began */
    int32_t failed;
    uint8_t stop, checkpoint;
} share_head;

rapt_code step_share_make(step_share *s, const run *r, rapt_error *err)
{
    *s = (step_share){.params = rapt_params_count(r->model->params)};
    for (int rank = 0; rank < r->ranks; rank++) {
        size_t batches = (size_t)(shard_batches_first_of_rank(r, rank + 1) - shard_batches_first_of_rank(r, rank));
        s->batches = batches > s->batches ? batches : s->batches;
    }
    s->bytes = sizeof(share_head) + s->batches * sizeof(batch_sums) + s->params;
    s->bytes = (s->bytes + sizeof(double) - 1) / sizeof(double) * sizeof(double);
    s->mine = calloc(1, s->bytes);
    s->all = calloc((size_t)r->ranks, s->bytes);
    s->touched = calloc(s->params, 1);
    return s->mine && s->all && s->touched ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for shards");
}

void step_share_free(step_share *s)
{
    free(s->mine);
    free(s->all);
    free(s->touched);
    *s = (step_share){0};
}

batch_sums *step_share_batches(step_share *s)
{
    return (batch_sums *)(s->mine + sizeof(share_head));
}

static const share_head *head_of(const step_share *s, int rank)
{
    return (const share_head *)(s->all + (size_t)rank * s->bytes);
}

static void step_share_take(step_share *s, run *r, bool *failed)
{
    memset(s->touched, 0, s->params);
    r->waited_all = 0;
    for (int rank = 0; rank < r->ranks; rank++) {
        const share_head *head = head_of(s, rank);
        const uint8_t *touched = (const uint8_t *)head + sizeof *head + s->batches * sizeof(batch_sums);
        *failed = *failed || head->failed;
        r->stop_agreed = r->stop_agreed || head->stop;
        r->waited_all += head->waited;
        for (size_t i = 0; i < s->params; i++)
            s->touched[i] |= touched[i];
    }
    r->checkpoint_agreed = head_of(s, 0)->checkpoint;
}

rapt_code step_share_tell(step_share *s, run *r, const uint8_t *touched, rapt_code code, rapt_error *err)
{
    bool failed = false;
    share_head *head = (share_head *)s->mine;
    *head = (share_head){.waited = group_statistics(r->group).waited, .failed = code != RAPT_OK,
                         .stop = stop_asked((stop_check){r->options->stop, r->options->context}),
                         .checkpoint = r->checkpoint_wanted};
    memcpy(s->mine + sizeof *head + s->batches * sizeof(batch_sums), touched, s->params);
    rapt_error lost = {0}; /* err may have this process' own failure */
    rapt_code shared = group_share(r->group, s->mine, s->bytes, s->all, &lost);
    if (shared)
        return code ? code : rapt_fail(err, shared, "%s", lost.message);
    step_share_take(s, r, &failed);
    return failed ? group_agree(r->group, code, err) : RAPT_OK;
}

batch_sums step_share_batch(const step_share *s, const run *r, uint64_t i)
{
    int rank = 0;
    while (i >= shard_batches_first_of_rank(r, rank + 1))
        rank++;
    const batch_sums *sums = (const batch_sums *)(s->all + (size_t)rank * s->bytes + sizeof(share_head));
    return sums[i - shard_batches_first_of_rank(r, rank)];
}
