/* tests/train/train_ranks.h: runs of several processes, which are threads here, with messages between them in memory. To be
 * included after train_folder.h. Rank 0 stands in the test's folder; each other rank in one below, "rank1" and so on, as on a
 * machine that does not see the run's folder: it has copies of the input files, and nothing may be written there. */
#ifndef TESTS_TRAIN_TRAIN_RANKS_H
#define TESTS_TRAIN_TRAIN_RANKS_H

#include "options.h"
#include "rapt/group.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

enum { MAX_RANKS = 8 };

typedef struct train_rank {
    rapt_transport transport;
    int rank;
    rapt_recipe recipe;
    rapt_train_options options;
    rapt_code code;
    rapt_error err;
    bool placed; /* in its folder */
} train_rank;

typedef struct train_ranks {
    int count;
    rapt_transport *transports;
    train_rank list[MAX_RANKS];
} train_ranks;

static inline void *train_rank_run(void *context)
{
    train_rank *r = context;
    char folder[32];
    rapt_group_options o = GROUP(.wait = 120);
    snprintf(folder, sizeof folder, "rank%d", r->rank);
    r->placed = unshare(CLONE_FS) == 0 && (r->rank == 0 || chdir(folder) == 0); /* a working folder of this thread's own */
    r->options.recipe = &r->recipe;
    r->options.group = rapt_group_new(&r->transport, &o, &r->err);
    r->code = r->options.group ? rapt_train(&r->options, &r->err) : r->err.code;
    rapt_group_free(r->options.group);
    return NULL;
}

/* `count` ranks of `recipe` and the options `o`, with copies of the files of a list; to be changed before they run. */
static inline train_ranks *ranks_make(int count, const char *changes, rapt_train_options o, const char *files)
{
    char command[256];
    train_ranks *t = calloc(1, sizeof *t);
    assert_non_null(t);
    t->count = count;
    t->transports = rapt_group_local(count, NULL);
    assert_non_null(t->transports);
    for (int i = 0; i < count; i++) {
        t->list[i] = (train_rank){.transport = t->transports[i], .rank = i, .recipe = lm_recipe(changes), .options = o};
        t->list[i].options.size = sizeof o;
        t->list[i].options.threads = 1 + i % 2;
        snprintf(command, sizeof command, "rm -rf rank%d && mkdir rank%d && cp %s rank%d", i, i, files, i);
        if (i > 0)
            assert_int_equal(system(command), 0);
    }
    return t;
}

static inline void ranks_run(train_ranks *t)
{
    pthread_t threads[MAX_RANKS];
    for (int i = 0; i < t->count; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, train_rank_run, &t->list[i]), 0);
    for (int i = 0; i < t->count; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < t->count; i++)
        assert_true(t->list[i].placed);
}

/* All have ended alike, and only rank 0 has written: `files` files are in each other rank's folder. */
static inline void ranks_end_alike(train_ranks *t, rapt_code code, int files)
{
    char folder[32];
    for (int i = 0; i < t->count; i++) {
        if (i > 0)
            assert_string_equal(t->list[i].err.message, t->list[0].err.message);
        assert_int_equal(t->list[i].code, t->list[0].code);
        snprintf(folder, sizeof folder, "rank%d", i);
        if (i > 0)
            assert_int_equal(folder_entries(folder), files);
    }
    if (t->list[0].code != code)
        fail_msg("code %d: %s", (int)t->list[0].code, t->list[0].err.message);
}

static inline void ranks_free(train_ranks *t)
{
    for (int i = 0; i < t->count; i++)
        rapt_recipe_free(&t->list[i].recipe);
    rapt_group_local_free(t->transports);
    free(t);
}

/* Trains with `count` ranks: one is a run without a group. */
static inline void train_with(int count, const char *changes, rapt_train_options o, const char *files)
{
    if (count == 1) {
        train(changes, o);
        return;
    }
    train_ranks *t = ranks_make(count, changes, o, files);
    ranks_run(t);
    ranks_end_alike(t, RAPT_OK, 1 + (strchr(files, ' ') != NULL));
    ranks_free(t);
}

#endif
