/* tape/tape_keep.c: passes whose memory outlives them, and pools for several tapes. For programs whose tensors live as long as
 * somebody refers to them, such as bindings of other languages. */
#include "tape/tape_core.h"

#include <stdatomic.h>
#include <stdlib.h>

struct rapt_kept_pass {
    arena step; /* once the pass is over; before that, the tape has it */
    atomic_size_t references; /* one is the tape's while the pass is the current one */
};

rapt_kept_pass *rapt_tape_keep(rapt_tape *t, rapt_error *err)
{
    if (!t->kept) {
        t->kept = calloc(1, sizeof *t->kept);
        if (!t->kept) {
            rapt_fail(err, RAPT_ERR_MEMORY, "out of memory to keep a pass");
            return NULL;
        }
        atomic_init(&t->kept->references, 1);
    }
    atomic_fetch_add(&t->kept->references, 1);
    return t->kept;
}

void rapt_kept_pass_release(rapt_kept_pass *pass)
{
    if (!pass || atomic_fetch_sub(&pass->references, 1) > 1)
        return;
    arena_free(&pass->step);
    free(pass);
}

/* Empties the memory of passes, of which the next has new memory. */
static void renew_step(rapt_tape *t, bool small_pages)
{
    const size_t peak = t->step.peak;
    arena_init(&t->step, t->step.chunk_size);
    t->step.peak = peak;
    t->step.small_pages = small_pages;
}

void tape_end_kept(rapt_tape *t)
{
    rapt_kept_pass *kept = t->kept;
    t->kept = NULL;
    if (!kept) {
        if (t->step.small_pages) { /* nobody kept this pass: from now on huge pages pay again */
            arena_free(&t->step);
            renew_step(t, false);
        }
        return;
    }
    kept->step = t->step; /* before the reference is given up: another thread may release the last one at once */
    if (atomic_fetch_sub(&kept->references, 1) == 1) {
        free(kept); /* nobody keeps the memory any more: the tape reuses it */
        return;
    }
    renew_step(t, true); /* each kept pass takes what it touches, not a huge page */
}

rapt_pool *rapt_pool_new(int threads, rapt_error *err)
{
    pool *p = pool_new(threads, err);
    if (p)
        pool_share(p);
    return p;
}

void rapt_pool_free(rapt_pool *p)
{
    pool_free(p);
}
