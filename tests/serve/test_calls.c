/* tests/serve/test_calls.c: requests of several calls for one model take turns; one that fails has no call after that.
 * labels: threads */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "folder.h"
#include "serve/openai_case.h"

#include "serve/module/calls.h"

static openai_case served_here;
static char made[32];        /* a letter for each call, in their order; written by the engine's thread alone */
static atomic_int ended;     /* runs */
static atomic_bool open_now; /* the gate of the engine's thread */

static int set_up(void **state)
{
    if (folder_make(state))
        return -1;
    case_open(&served_here, folder_path);
    return 0;
}

static int tear_down(void **state)
{
    case_close(&served_here);
    return folder_remove(state);
}

typedef struct lettered {
    call_run calls; /* first */
    char letter;
    size_t fails;   /* the call that does */
} lettered;

static rapt_code letter_compute(call_run *run, size_t i, rapt_error *err)
{
    const lettered *l = (const lettered *)run;
    const size_t at = strlen(made);
    assert_int_equal(i + 1, run->next);
    made[at] = l->letter;
    made[at + 1] = '\0';
    return i == l->fails ? rapt_fail(err, RAPT_ERR_VALUE, "call %zu fails", i) : RAPT_OK;
}

static void letter_end(call_run *run)
{
    calls_free(run);
    atomic_fetch_add(&ended, 1);
}

static void wait_at_gate(void *context, const rapt_model *model, int threads)
{
    (void)context, (void)model, (void)threads;
    while (!atomic_load(&open_now))
        usleep(100);
}

/* Queues a run of `count` calls for each letter while the engine's thread waits, and returns the order of all calls. */
static const char *order_of(lettered *runs, size_t count)
{
    rapt_error err = {0};
    rapt_engine_model *m = served_here.models[3].model;
    exchange *x = case_post("/", "{}");
    made[0] = '\0';
    atomic_store(&ended, 0);
    atomic_store(&open_now, false);
    assert_int_equal(rapt_engine_call(m, wait_at_gate, NULL, NULL, NULL, &err), RAPT_OK);
    for (size_t i = 0; i < count; i++) {
        call_run *run = &runs[i].calls;
        *run = (call_run){.x = x, .computes = m, .count = run->count, .compute = letter_compute, .end = letter_end};
        calls_init(run);
        calls_start(run);
    }
    atomic_store(&open_now, true);
    for (int i = 0; i < 30000 && atomic_load(&ended) < (int)count; i++)
        usleep(1000);
    assert_int_equal(atomic_load(&ended), count);
    exchange_release(x);
    return made;
}

static void requests_take_turns(void **state)
{
    (void)state;
    lettered runs[] = {{{.count = 5}, 'a', 9}, {{.count = 1}, 'b', 9}, {{.count = 3}, 'c', 9}};
    assert_string_equal(order_of(runs, 3), "abcacacaa");
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(runs[i].calls.error.status, 0);
    lettered none = {{.count = 0}, 'd', 9};
    assert_string_equal(order_of(&none, 1), "");
}

static void no_call_follows_a_failure(void **state)
{
    (void)state;
    lettered runs[] = {{{.count = 4}, 'a', 1}, {{.count = 3}, 'b', 9}};
    assert_string_equal(order_of(runs, 2), "ababb");
    assert_int_equal(runs[0].calls.error.status, 500);
    assert_string_equal(runs[0].calls.error.message, "call 1 fails");
    assert_int_equal(runs[1].calls.error.status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(requests_take_turns), cmocka_unit_test(no_call_follows_a_failure)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
