/* train/ranks/ranks_work.c: keeps ranks in touch while they work alone. A rank that works tells the others so once a second, in
 * an operation that ranks which have ended their work join at once. So all ranks soon know if one of them is asked to stop. */
#include "train/ranks/ranks_work.h"

#include "base/clock.h"
#include "base/thread.h"
#include "group/group_ops.h"

#include <stdlib.h>

#define INTERVAL 1.0 /* seconds */

static bool caller_asks(const run *r)
{
    return stop_asked((stop_check){r->options->stop, r->options->context});
}

/* *busy: whether a rank still works. */
static rapt_code exchange_words(run *r, run_word mine, bool *busy, rapt_error *err)
{
    const run_word *words = r->work.words;
    rapt_code code = group_share(r->group, &mine, sizeof mine, r->work.words, err);
    *busy = false;
    for (int i = 0; !code && i < r->ranks; i++) {
        *busy = *busy || words[i].busy;
        r->stop_agreed = r->stop_agreed || words[i].stop;
    }
    r->work.told = clock_seconds();
    return code;
}

rapt_code ranks_join(run *r, rapt_group *group, rapt_error *err)
{
    r->ranks = 1;
    r->work.of = r;
    if (!group || rapt_group_size(group) == 1)
        return RAPT_OK;
    r->group = group;
    r->rank = rapt_group_rank(group);
    r->ranks = rapt_group_size(group);
    r->work.words = calloc((size_t)r->ranks, sizeof *r->work.words);
    r->work.bounds = calloc((size_t)r->ranks + 1, sizeof *r->work.bounds);
    const bool ok = r->work.words && r->work.bounds;
    const rapt_code code = ok ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a run of %d processes", r->ranks);
    return ranks_agree(r, code, err);
}

void ranks_begin(run *r)
{
    r->work.open = r->group != NULL;
    r->work.thread = thread_self();
    r->work.told = clock_seconds();
}

rapt_code ranks_end(run *r, rapt_code code, rapt_error *err)
{
    rapt_error own = {0};
    rapt_code told = RAPT_OK;
    bool busy = r->work.open;
    r->work.open = false;
    while (busy && !told)
        told = exchange_words(r, (run_word){.busy = 0, .stop = caller_asks(r)}, &busy, &own);
    if (!told)
        return ranks_agree(r, code, err);
    if (code == RAPT_ERR_INTERRUPTED) /* by ranks_stop_asked, maybe; the group's failure is why */
        *err = (rapt_error){0};
    return code && code != RAPT_ERR_INTERRUPTED ? code : rapt_fail(err, told, "%s", own.message);
}

rapt_code ranks_each(run *r, ranks_task *work, rapt_error *err)
{
    ranks_begin(r);
    return ranks_end(r, work(r, err), err);
}

rapt_code ranks_first(run *r, ranks_task *work, rapt_error *err)
{
    ranks_begin(r);
    return ranks_end(r, r->rank == 0 ? work(r, err) : RAPT_OK, err);
}

/* Other threads of the rank may ask too; they only learn what the caller wants. If the group has failed, the work ends: ranks_end
 * fails with the group's failure, which stays. */
bool ranks_stop_asked(run *r)
{
    const bool own = r->work.thread == thread_self();
    bool asks = r->work.open && caller_asks(r), busy;
    if (!r->work.open || !own)
        return asks || (own && r->stop_agreed);
    if (!r->stop_agreed && (asks || clock_seconds() - r->work.told >= INTERVAL) &&
        exchange_words(r, (run_word){.busy = 1, .stop = asks}, &busy, NULL) != RAPT_OK)
        r->stop_agreed = true;
    return r->stop_agreed;
}

rapt_code ranks_agree(const run *r, rapt_code code, rapt_error *err)
{
    return r->group ? group_agree(r->group, code, err) : code;
}

rapt_code ranks_lost(const run *r, rapt_error *err)
{
    return r->group && group_broken(r->group) ? group_agree(r->group, RAPT_OK, err) : RAPT_OK;
}

rapt_code ranks_give(const run *r, void *data, size_t bytes, rapt_error *err)
{
    return r->group ? group_broadcast(r->group, 0, data, bytes, err) : RAPT_OK;
}

rapt_code ranks_give_text(const run *r, char **text, size_t *size, rapt_error *err)
{
    uint64_t bytes = *size;
    rapt_code code = ranks_give(r, &bytes, sizeof bytes, err);
    if (code || !r->group)
        return code;
    if (r->rank > 0) {
        *size = (size_t)bytes;
        *text = calloc(*size + 1, 1);
        code = *text ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for what rank 0 gives to all");
    }
    code = ranks_agree(r, code, err);
    return code ? code : ranks_give(r, *text, *size, err);
}
