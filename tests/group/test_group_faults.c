/* tests/group/test_group_faults.c: what a group does when something goes wrong: silent ranks, calls that fail or do not return,
 * late messages, ranks that give up. Every rank ends with a message that says who and why, within the time that was set.
 * labels: threads late */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "fault_transport.h"
#include "group_case.h"
#include "options.h"

#define MOST_RANKS 8
#define ELEMENTS 1000

typedef struct faulty {
    int size;
    rapt_transport *transports;
    fault_transport faults[MOST_RANKS];
    case_rank ranks[MOST_RANKS];
} faulty;

static faulty *new_faulty(int size, double wait)
{
    faulty *f = calloc(1, sizeof *f);
    f->size = size;
    f->transports = rapt_group_local(size, NULL);
    assert_non_null(f->transports);
    for (int i = 0; i < size; i++) {
        f->ranks[i].transport = fault_wrap(&f->faults[i], &f->transports[i]);
        f->ranks[i].options = GROUP(.wait = wait);
        f->ranks[i].context = &f->faults[i];
    }
    return f;
}

static void run_faulty(faulty *f, void (*body)(case_rank *r))
{
    assert_int_equal(case_run(f->ranks, f->size, body), 0);
    rapt_group_local_free(f->transports);
    free(f);
}

static void check_message(case_rank *r, const rapt_error *err, const char *expected)
{
    CASE_CHECK(r, strcmp(err->message, expected) == 0);
    if (strcmp(err->message, expected) != 0)
        fprintf(stderr, "    \"%s\", not \"%s\"\n", err->message, expected);
}

/* One sum of all ranks, bit for bit; the code and message of its failure else. */
static rapt_code sum_once(case_rank *r, size_t elements, rapt_error *err)
{
    int rank = rapt_group_rank(r->g), size = rapt_group_size(r->g);
    size_t *bounds = malloc(((size_t)size + 1) * sizeof *bounds);
    case_parts parts;
    for (int i = 0; i <= size; i++)
        bounds[i] = elements * (size_t)i / (size_t)size;
    case_fill_parts(&parts, rank, size, 8, elements);
    group_op *op = group_reduce(r->g, 8, bounds, parts.parts, err);
    rapt_code code = op ? group_wait(r->g, op, err) : err->code;
    CASE_CHECK(r, code != RAPT_OK || case_wrong(parts.parts[0], rank, size, 8, bounds) == 0);
    if (code != RAPT_OK)
        CASE_CHECK(r, group_halt(r->g));
    case_free_parts(&parts);
    free(bounds);
    return code;
}

/* ---- silence ---------------------------------------------------------------------------------------------- */

/* Rank 2 stops. All others name it, whomever they exchange with. */
static void silent_body(case_rank *r)
{
    rapt_error err = {0};
    char expected[200];
    int rank = rapt_group_rank(r->g), size = rapt_group_size(r->g);
    fault_transport *f = r->context;
    group_doing(r->g, "step 812");
    CASE_CHECK(r, sum_once(r, ELEMENTS, &err) == RAPT_OK);
    double begun = clock_seconds();
    if (rank == 2)
        atomic_store(&f->silent, true);
    CASE_CHECK(r, sum_once(r, ELEMENTS, &err) == RAPT_ERR_IO);
    double seconds = clock_seconds() - begun;
    CASE_CHECK(r, seconds > 0.6 && seconds < 10);
    if (rank == 2)
        snprintf(expected, sizeof expected, "none of the other %d ranks has answered for 1 s in step 812", size - 1);
    else
        snprintf(expected, sizeof expected, "rank 2 on %s has not answered for 1 s in step 812", group_host(r->g, 2));
    check_message(r, &err, expected);
    usleep(3000000); /* until all have seen it: who ends the group first would be what the others see */
    CASE_CHECK(r, group_broken(r->g));
    CASE_CHECK(r, group_agree(r->g, RAPT_OK, NULL) == RAPT_ERR_IO); /* it sticks */
    CASE_CHECK(r, group_gather(r->g, NULL, NULL, 1, NULL) == NULL);
    rapt_group_abort(r->g, 1);
}

static void silent_rank(void **state)
{
    (void)state;
    run_faulty(new_faulty(4, 1), silent_body);
    run_faulty(new_faulty(7, 1), silent_body);
}

/* Half of the ranks are cut off: both halves end, and neither blames one rank alone. Whether rank 2 or 3 was heard of last is a
 * matter of chance. */
static void cut_body(case_rank *r)
{
    rapt_error err = {0};
    char expected[200];
    int rank = rapt_group_rank(r->g);
    fault_transport *f = r->context;
    CASE_CHECK(r, group_agree(r->g, RAPT_OK, &err) == RAPT_OK);
    if (rank >= 2)
        atomic_store(&f->silent, true);
    CASE_CHECK(r, sum_once(r, ELEMENTS, &err) == RAPT_ERR_IO);
    if (rank >= 2) /* those that hear nobody */
        check_message(r, &err, "none of the other 3 ranks has answered for 1 s");
    else {
        int named = strncmp(err.message, "rank 3", 6) == 0 ? 3 : 2;
        snprintf(expected, sizeof expected, "rank %d on %s and 1 more have not answered for 1 s", named, group_host(r->g, 2));
        check_message(r, &err, expected);
    }
    usleep(3000000);
    rapt_group_abort(r->g, 1);
}

static void cut_off(void **state)
{
    (void)state;
    run_faulty(new_faulty(4, 1), cut_body);
}

/* Silence that ends in time delays only. */
static void pause_body(case_rank *r)
{
    rapt_error err = {0};
    fault_transport *f = r->context;
    CASE_CHECK(r, group_agree(r->g, RAPT_OK, &err) == RAPT_OK);
    if (rapt_group_rank(r->g) == 1) {
        atomic_store(&f->hangs, true); /* as a stopped process does: it knows nothing of the time that goes by */
        usleep(600000);
        atomic_store(&f->hangs, false);
    }
    CASE_CHECK(r, sum_once(r, ELEMENTS, &err) == RAPT_OK);
    rapt_group_free(r->g);
    CASE_CHECK(r, atomic_load(&f->closed));
}

static void short_pause(void **state)
{
    (void)state;
    run_faulty(new_faulty(4, 2), pause_body);
}

/* Rank 0 lets the others wait, now and then. */
static void suspended_body(case_rank *r)
{
    rapt_error err = {0};
    for (int i = 0; i < 10; i++) {
        if (rapt_group_rank(r->g) == 0)
            usleep(250000);
        CASE_CHECK(r, group_agree(r->g, RAPT_OK, &err) == RAPT_OK);
    }
    rapt_group_free(r->g);
}

/* All ranks are stopped for longer than the deadline, as a job is that has to make room, and go on: nobody was silent. */
static void suspended(void **state)
{
    int status = -1;
    (void)state;
    pid_t all = fork();
    if (all == 0)
        _exit(case_run(new_faulty(4, 1)->ranks, 4, suspended_body) != 0);
    for (int i = 0; i < 2; i++) {
        usleep(800000);
        kill(all, SIGSTOP);
        usleep(3000000);
        kill(all, SIGCONT);
    }
    assert_int_equal(waitpid(all, &status, 0), all);
    assert_int_equal(status, 0);
}

/* ---- late messages ---------------------------------------------------------------------------------------- */

/* Memory of a message is read long after the send: nothing may write to it before. */
static void late_body(case_rank *r)
{
    rapt_error err = {0};
    fault_transport *f = r->context;
    f->late = rapt_group_rank(r->g) % 3 * 5;
    for (int i = 0; i < 5; i++)
        CASE_CHECK(r, sum_once(r, ELEMENTS, &err) == RAPT_OK);
    CASE_CHECK(r, group_agree(r->g, RAPT_OK, &err) == RAPT_OK);
    rapt_group_free(r->g);
}

static void late_messages(void **state)
{
    (void)state;
    faulty *f = new_faulty(8, 30);
    for (int i = 0; i < 8; i++)
        f->faults[i].late = i % 3 * 5;
    run_faulty(f, late_body);
    f = new_faulty(5, 30);
    for (int i = 0; i < 5; i++)
        f->faults[i].late = i % 3 * 5;
    run_faulty(f, late_body);
}

/* ---- failing calls ---------------------------------------------------------------------------------------- */

static void failing_body(case_rank *r)
{
    rapt_error err = {0};
    rapt_code code = RAPT_OK;
    fault_transport *f = r->context;
    if (!r->g) {
        CASE_CHECK(r, r->err.code == RAPT_ERR_IO);
        atomic_store(&f->aborted, 1);
        f->inner.abort(f->inner.context, 1); /* the program's business, where there is no group */
        return;
    }
    for (int i = 0; i < 60 && code == RAPT_OK; i++)
        code = sum_once(r, ELEMENTS, &err);
    CASE_CHECK(r, code == RAPT_ERR_IO);
    check_message(r, &err, f->fail_send ? "the network is down" : "rank 1 has ended the group");
    rapt_group_abort(r->g, 3);
    CASE_CHECK(r, atomic_load(&f->aborted) == 3);
}

/* A send fails on rank 1, at start or later: the first of all failures is told there, and the others see that it has gone. */
static void failing_calls(void **state)
{
    (void)state;
    for (long n = 1; n < 40; n += n < 6 ? 1 : 7) {
        faulty *f = new_faulty(4, 20);
        f->faults[1].fail_send = n;
        run_faulty(f, failing_body);
    }
}

static void opening_body(case_rank *r)
{
    const fault_transport *f = r->context;
    CASE_CHECK(r, !r->g);
    if (f->fail_open)
        CASE_CHECK(r, r->err.code == RAPT_ERR_IO && strcmp(r->err.message, "no network") == 0);
    else
        CASE_CHECK(r, r->err.code == RAPT_ERR_VALUE && strstr(r->err.message, "4 processes were launched") &&
                      strstr(r->err.message, "finds 1"));
    CASE_CHECK(r, atomic_load(&f->closed) == !f->fail_open);
}

static void opening(void **state)
{
    (void)state;
    faulty *f = new_faulty(1, 1);
    f->faults[0].fail_open = true;
    run_faulty(f, opening_body);
    f = new_faulty(1, 1);
    f->ranks[0].options = GROUP(.launched = 4);
    run_faulty(f, opening_body);
}

/* ---- calls that do not return ----------------------------------------------------------------------------- */

static void hanging_body(case_rank *r)
{
    rapt_error err = {0};
    fault_transport *f = r->context;
    CASE_CHECK(r, group_agree(r->g, RAPT_OK, &err) == RAPT_OK);
    if (rapt_group_rank(r->g) == 1)
        atomic_store(&f->hangs, true);
    if (rapt_group_rank(r->g) == 0)
        group_agree(r->g, RAPT_OK, NULL); /* what the other has sent may arrive yet */
    CASE_CHECK(r, group_agree(r->g, RAPT_OK, &err) == RAPT_ERR_IO);
    if (rapt_group_rank(r->g) == 0) {
        CASE_CHECK(r, strstr(err.message, "rank 1 on ") != NULL);
        usleep(6000000); /* longer than the other takes to see it */
        rapt_group_abort(r->g, 1);
        return;
    }
    CASE_CHECK(r, strstr(err.message, "faulty threads has not returned from a call for 1 s") != NULL);
    CASE_CHECK(r, !group_halt(r->g)); /* the call may still use memory of operations */
    double begun = clock_seconds();
    rapt_group_abort(r->g, 4); /* its memory stays the thread's */
    CASE_CHECK(r, atomic_load(&f->aborted) == 4 && clock_seconds() - begun < 11);
}

static faulty *hung; /* found by leak checkers: the thread never ends */

static void hanging_call(void **state)
{
    (void)state;
    hung = new_faulty(2, 1);
    assert_int_equal(case_run(hung->ranks, 2, hanging_body), 0);
}

/* ---- giving up -------------------------------------------------------------------------------------------- */

/* Rank 0 gives up with sums in flight, frees their memory, and ends the group; the others learn of it. */
static void give_up_body(case_rank *r)
{
    rapt_error err = {0};
    size_t bounds[5] = {0, 100, 200, 300, 400};
    case_parts parts;
    int rank = rapt_group_rank(r->g);
    case_fill_parts(&parts, rank, 4, 4, 400);
    group_agree(r->g, RAPT_OK, NULL); /* all have made their groups */
    group_op *op = group_reduce(r->g, 4, bounds, parts.parts, &err);
    CASE_CHECK(r, op != NULL || rank > 0);
    if (rank > 0) {
        CASE_CHECK(r, group_agree(r->g, RAPT_OK, &err) != RAPT_OK);
        check_message(r, &err, "rank 0 has ended the group");
    }
    CASE_CHECK(r, group_halt(r->g));
    memset(parts.parts[0], 0xff, 400 * sizeof(float));
    case_free_parts(&parts);
    CASE_CHECK(r, group_broken(r->g) && group_agree(r->g, RAPT_OK, NULL) != RAPT_OK);
    if (rank == 0)
        rapt_group_abort(r->g, 1);
    else
        rapt_group_free(r->g);
    CASE_CHECK(r, !atomic_load(&((fault_transport *)r->context)->closed));
}

static void giving_up(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++)
        run_faulty(new_faulty(4, 20), give_up_body);
    rapt_group_free(NULL);
    rapt_group_abort(NULL, 1);
    rapt_group_local_free(NULL);
    assert_null(rapt_group_local(0, NULL));
}

static atomic_int told, ended; /* ranks that were told of a message of the wrong size; that know of a failure */

/* Ranks that do different things are told apart by the sizes of their messages. The one that sees it first may not have sent its
 * own, and ends when both know. */
static void different_body(case_rank *r)
{
    rapt_error err = {0};
    char mine[8] = "", all[32];
    int rank = rapt_group_rank(r->g);
    rapt_code code = group_share(r->g, mine, rank == 1 ? 8 : 4, all, &err);
    CASE_CHECK(r, code != RAPT_OK);
    if (code == RAPT_ERR_FORMAT && strstr(err.message, rank == 0 ? "rank 1 sent rank 0 a message of 8 bytes"
                                                                 : "rank 0 sent rank 1 a message of 4 bytes"))
        told++;
    for (ended++; ended < 2;)
        usleep(1000);
    rapt_group_abort(r->g, 1);
}

static void different_things(void **state)
{
    (void)state;
    run_faulty(new_faulty(2, 5), different_body);
    assert_true(told > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(suspended), /* first: it forks, while there is one thread */
        cmocka_unit_test(silent_rank),   cmocka_unit_test(cut_off), cmocka_unit_test(short_pause),
        cmocka_unit_test(late_messages), cmocka_unit_test(failing_calls), cmocka_unit_test(opening),
        cmocka_unit_test(giving_up),     cmocka_unit_test(different_things), cmocka_unit_test(hanging_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
