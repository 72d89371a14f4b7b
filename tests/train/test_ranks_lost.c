/* tests/train/test_ranks_lost.c: a group that fails while its ranks work on their own: the run ends with the group's failure,
 * which says which rank is lost, and not as one that was asked to stop; and it ends soon.
 * labels: threads */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "train_folder.h"
#include "train_ranks.h"

#include <stdatomic.h>

#ifdef __SANITIZE_THREAD__ /* a step that takes seconds */
#define MANY "train.accumulate=6000 "
#else
#define MANY "train.accumulate=60000 "
#endif
#define SHARDS "train.accumulate=4 train.shards=4 train.batch=1 "

static train_ranks *all;
static double begun, step_seconds, lost; /* times */
static atomic_bool stop; /* which both ranks ask */
static bool met;

/* Rank 1 drops out. */
static void lose_rank(void)
{
    lost = clock_seconds();
    all->transports[1].abort(all->transports[1].context, 1);
}

/* While rank 0 is in the phase `context`; until it is asked next whether to stop, it is time to tell the others that it works. */
static void lose_in_phase(void *context, const char *what, size_t done, size_t count)
{
    (void)done, (void)count;
    if (met || strcmp(what, context) != 0)
        return;
    met = true;
    lose_rank();
    usleep(1100000);
}

static bool stop_is_set(void *context)
{
    (void)context;
    return stop;
}

static void stop_after_step_3(void *context, const rapt_progress *p)
{
    (void)context;
    if (p->step == 3)
        stop = true;
}

static void check_lost(const char *changes, rapt_train_options o)
{
    met = false;
    stop = false;
    o.out = "m";
    put_words("text.txt", 6000);
    all = ranks_make(2, changes, o, "text.txt");
    begun = clock_seconds();
    ranks_run(all);
    assert_string_equal(all->list[0].err.message, "rank 1 has ended the group");
    ranks_end_alike(all, RAPT_ERR_IO, 1);
    ranks_free(all);
}

static void lost_in_phase(const char *changes, const char *phase, rapt_train_options o)
{
    print_message("%s\n", phase);
    o.on_phase = lose_in_phase;
    o.context = (void *)phase;
    check_lost(changes, o);
    assert_true(met);
}

static void in_set_up(void **state)
{
    (void)state;
    lost_in_phase(SHARDS, "reading the data", (rapt_train_options){0});
    lost_in_phase(SHARDS "tokenizer.type=bpe tokenizer.vocab_size=300", "learning a vocabulary", (rapt_train_options){0});
    lost_in_phase(SHARDS, "tokenizing the text", (rapt_train_options){0});
    assert_false(file_exists("m"));
}

static void in_a_report(void **state)
{
    (void)state;
    lost_in_phase(SHARDS, "validating", (rapt_train_options){0});
    assert_false(file_exists("m/train.jsonl"));
}

/* A stopped run leaves a partial line in its log, but not one whose group has failed meanwhile. */
static void after_a_stop(void **state)
{
    (void)state;
    lost_in_phase(SHARDS, "validating", (rapt_train_options){.stop = stop_is_set, .on_progress = stop_after_step_3});
    assert_true(stop);
    assert_false(file_exists("m/train.jsonl"));
}

static void *lose_in_step_2(void *context)
{
    (void)context;
    usleep((unsigned)(0.2e6 * step_seconds));
    lose_rank();
    return NULL;
}

static void time_step_1(void *context, const rapt_progress *p)
{
    pthread_t *thread = context;
    if (p->step != 1)
        return;
    step_seconds = clock_seconds() - begun;
    assert_int_equal(pthread_create(thread, NULL, lose_in_step_2, NULL), 0);
}

/* The batches that are left of a step are not computed. */
static void in_a_step(void **state)
{
    (void)state;
    pthread_t thread;
    check_lost(MANY "train.shards=4", (rapt_train_options){.on_progress = time_step_1, .context = &thread});
    const double seconds = clock_seconds() - lost;
    print_message("a step takes %.2f s; the end came %.2f s after the failure\n", step_seconds, seconds);
    pthread_join(thread, NULL);
    assert_true(seconds < 0.4 * step_seconds);
}

#define IN_A_FOLDER(test) cmocka_unit_test_setup_teardown(test, folder_enter, folder_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {IN_A_FOLDER(in_set_up), IN_A_FOLDER(in_a_report), IN_A_FOLDER(after_a_stop),
                                       IN_A_FOLDER(in_a_step)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
