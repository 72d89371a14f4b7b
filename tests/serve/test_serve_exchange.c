/* test_serve_exchange.c: a request and its response without a socket: what is read of a target, what the transport gets and when
 * it is told, who frees it, and threads that write, hang up and let go at the same time.
 * labels: threads */
#define _GNU_SOURCE
#include "serve/module/exchange_work.h"
#include "serve/module/reply.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static exchange *get(const char *target)
{
    return exchange_new("GET", target, NULL, NULL);
}

static void test_target(void **state)
{
    (void)state;
    exchange *x = get("/v1/mod%65ls/a%20b+c?x=1&y=a+b%26&x=2&flag&=z");
    assert_non_null(x);
    assert_string_equal(exchange_path(x), "/v1/models/a b+c");
    assert_string_equal(exchange_query(x, "x"), "1");
    assert_string_equal(exchange_query(x, "y"), "a b&");
    assert_string_equal(exchange_query(x, "flag"), "");
    assert_null(exchange_query(x, "z"));
    assert_int_equal(strlen(exchange_id(x)), 16);
    assert_int_equal(strspn(exchange_id(x), "0123456789abcdef"), 16);
    exchange_release(x);
    x = get("http://host:80/p?q=1");
    assert_string_equal(exchange_path(x), "/p");
    exchange_release(x);
    x = get("*");
    assert_string_equal(exchange_path(x), "*");
    exchange_release(x);
}

static void test_wrong_targets(void **state)
{
    static const char *const wrong[] = {"", "a", "/%", "/%4", "/%4x", "/%00", "/?a=%00", "/?%zz=1", "http://host", "**"};
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_null(get(wrong[i]));
}

static void test_request(void **state)
{
    size_t size;
    (void)state;
    exchange *x = get("/");
    assert_string_equal(exchange_body(x, &size), "");
    assert_int_equal(size, 0);
    assert_true(exchange_set_header(x, "Content-Type", "a"));
    assert_true(exchange_set_header(x, "content-type", "b"));
    assert_true(exchange_add_body(x, "12", 2));
    assert_true(exchange_add_body(x, "3\0", 2));
    assert_string_equal(exchange_header(x, "CONTENT-TYPE"), "a");
    assert_null(exchange_header(x, "Content"));
    assert_memory_equal(exchange_body(x, &size), "123\0", 5);
    assert_int_equal(size, 4);
    exchange_release(x);
}

/* Takes all that is there, up to 63 bytes. */
static bool took(exchange *x, const char *wanted, bool at_end)
{
    char bytes[64] = "";
    bool end = false;
    const size_t n = exchange_take(x, bytes, sizeof bytes - 1, &end);
    return n == strlen(wanted) && memcmp(bytes, wanted, n) == 0 && end == at_end;
}

static void test_whole(void **state)
{
    const char *type, *name, *value;
    size_t size;
    (void)state;
    exchange *x = get("/");
    assert_int_equal(exchange_status(x, &type), 0);
    exchange_add_header(x, "A", "1");
    exchange_reply(x, 201, "text/x", "hello", 5);
    exchange_add_header(x, "B", "2"); /* too late, as all that follows */
    exchange_reply(x, 500, "text/y", "no", 2);
    assert_false(exchange_write(x, "no", 2));
    assert_int_equal(exchange_status(x, &type), 201);
    assert_string_equal(type, "text/x");
    assert_true(exchange_response_header(x, 0, &name, &value));
    assert_string_equal(name, "A");
    assert_string_equal(value, "1");
    assert_false(exchange_response_header(x, 1, &name, &value));
    assert_true(exchange_is_whole(x, &size));
    assert_int_equal(size, 5);
    assert_true(took(x, "hello", true));
    exchange_release(x);
}

static void count_call(void *context)
{
    ++*(int *)context;
}

/* What is counted for a response is counted until nobody has it any more; a body that is handed over is not copied. */
static void test_whole_response_counts_until_freed(void **state)
{
    (void)state;
    admission memory;
    admission_init(&memory, 1000);
    int freed = 0;
    size_t size, largest;
    char *body = malloc(6);
    assert_non_null(body);
    memcpy(body, "hello", 6);
    exchange *x = get("/");
    exchange_at_free(x, count_call, &freed, &memory);
    assert_int_equal(exchange_asks(x, ADMISSION_MAKING, 100), ADMISSION_GIVEN);
    assert_int_equal(admission_given(&memory, &largest), 100);
    exchange_hold(x);
    exchange_reply_with(x, 200, "text/plain", body, 5);
    assert_int_equal(admission_given(&memory, &largest), 5);
    char *taken = exchange_take_whole(x, &size);
    assert_ptr_equal(taken, body);
    assert_int_equal(size, 5);
    free(taken);
    exchange_release(x);
    assert_int_equal(freed, 0);
    assert_int_equal(admission_given(&memory, &largest), 5);
    exchange_release(x);
    assert_int_equal(freed, 1);
    assert_int_equal(admission_given(&memory, &largest), 0);
    assert_int_equal(largest, 100);
    admission_destroy(&memory);
    x = get("/");
    exchange_reply(x, 204, "", "", 0);
    exchange_reply_with(x, 200, "text/plain", malloc(5), 5); /* too late: freed */
    taken = exchange_take_whole(x, &size);
    assert_int_equal(size, 0);
    free(taken);
    exchange_release(x);
}

/* Bytes that are lent take no memory of the server's; they are released once, whoever has them last. */
static void test_held_bodies(void **state)
{
    (void)state;
    static const char bytes[] = "hello, and more";
    const size_t all = sizeof bytes - 1;
    admission memory;
    admission_init(&memory, 1000);
    int released = 0;
    size_t size, largest;
    const char *type;
    const exchange_held body = {bytes, all, count_call, &released};
    exchange_held taken;
    exchange *x = get("/");
    exchange_at_free(x, NULL, NULL, &memory);
    assert_int_equal(exchange_asks(x, ADMISSION_MAKING, 100), ADMISSION_GIVEN);
    exchange_reply_held(x, 200, "text/x", body);
    assert_int_equal(admission_given(&memory, &largest), 0);
    assert_true(exchange_is_whole(x, &size));
    assert_int_equal(size, all);
    assert_true(exchange_take_held(x, &taken));
    assert_ptr_equal(taken.bytes, bytes);
    assert_false(exchange_take_held(x, &taken));
    exchange_release(x);
    assert_int_equal(released, 0); /* whoever has taken it releases it */
    admission_destroy(&memory);

    x = get("/");
    exchange_reply_held(x, 200, "text/x", body);
    exchange_reply_held(x, 500, "text/y", body); /* too late */
    assert_int_equal(released, 1);
    assert_int_equal(exchange_status(x, &type), 200);
    char part[6] = "";
    bool end;
    assert_int_equal(exchange_take(x, part, 5, &end), 5);
    assert_string_equal(part, "hello");
    assert_false(end);
    assert_true(took(x, ", and more", true));
    assert_int_equal(released, 2);
    assert_int_equal(exchange_take(x, part, 5, &end), 0);
    assert_true(end);
    exchange_release(x);
    assert_int_equal(released, 2);

    x = get("/"); /* nobody takes it */
    exchange_reply_held(x, 200, "text/x", body);
    exchange_release(x);
    assert_int_equal(released, 3);
    x = get("/");
    exchange_reply(x, 200, "text/x", "a", 1);
    assert_false(exchange_take_held(x, &taken));
    exchange_release(x);
}

static void test_result_headers(void **state)
{
    (void)state;
    for (int status = 200; status <= 500; status += 100) {
        const char *name, *value;
        exchange *x = get("/");
        exchange_add_result_header(x, "B", "2");
        exchange_add_header(x, "A", "1");
        exchange_reply(x, status, "text/x", "", 0);
        assert_true(exchange_response_header(x, 0, &name, &value));
        assert_string_equal(name, "A");
        assert_int_equal(exchange_response_header(x, 1, &name, &value), status < 400);
        assert_string_equal(value, status < 400 ? "2" : "1");
        assert_false(exchange_response_header(x, 2, &name, &value));
        exchange_release(x);
    }
}

/* A response for which memory ran out has the shape of its path. */
static void test_no_memory_has_a_shape(void **state)
{
    static const char *const shapes[][2] = {{"/v1/models", "\"type\":\"server_error\""}, {"/v2/usage", "{\"message\":"},
                                            {"/languages", "{\"error\":\"out of memory"}};
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const char *type;
        size_t size;
        exchange *x = get(shapes[i][0]);
        reply_json(x, 200, NULL);
        assert_int_equal(exchange_status(x, &type), 503);
        assert_string_equal(type, "application/json");
        char *body = exchange_take_whole(x, &size);
        assert_non_null(strstr(body, shapes[i][1]));
        free(body);
        exchange_release(x);
    }
}

static void test_parts(void **state)
{
    int wakes = 0, ends = 0;
    const exchange_transport transport = {.wake = count_call};
    size_t size;
    (void)state;
    exchange *x = exchange_new("POST", "/", &transport, &wakes);
    exchange_at_end(x, count_call, &ends);
    wakes = 0;
    assert_false(exchange_write(x, "early", 5));
    exchange_begin(x, 200, "text/event-stream");
    assert_true(wakes >= 1);
    assert_false(exchange_is_whole(x, &size));
    assert_true(took(x, "", false));
    wakes = 0;
    assert_true(exchange_write(x, "ab", 2));
    assert_true(exchange_write(x, "cd", 2));
    assert_int_equal(wakes, 2);
    assert_true(took(x, "abcd", false));
    assert_int_equal(ends, 0);
    exchange_end(x);
    exchange_end(x);
    assert_int_equal(ends, 1);
    assert_true(took(x, "", true));
    exchange_detach(x);
    wakes = 0;
    assert_false(exchange_write(x, "late", 4));
    assert_int_equal(wakes, 0);
    exchange_release(x);
    assert_int_equal(ends, 1);
}

/* What a client does not read is kept as far as there is memory, which comes back when it is read; beyond that it is given up,
 * and never waited for. */
static void test_unread(void **state)
{
    enum { LIMIT = 8 * EXCHANGE_UNREAD };
    static char part[EXCHANGE_UNREAD];
    admission memory;
    size_t largest;
    int ends = 0;
    bool end;
    (void)state;
    admission_init(&memory, LIMIT);
    exchange *x = get("/");
    exchange_at_free(x, NULL, NULL, &memory);
    exchange_at_end(x, count_call, &ends);
    exchange_begin(x, 200, "text/plain");
    assert_true(exchange_write(x, part, sizeof part));
    assert_int_equal(admission_given(&memory, &largest), 0);
    for (int i = 0; i < 5; i++)
        assert_true(exchange_write(x, part, sizeof part));
    assert_in_range(admission_given(&memory, &largest), 6 * EXCHANGE_UNREAD, LIMIT);
    for (int i = 0; i < 6; i++)
        assert_int_equal(exchange_take(x, part, sizeof part, &end), sizeof part);
    assert_false(end);
    assert_int_equal(admission_given(&memory, &largest), 0);
    for (int i = 0; i < 6; i++)
        assert_true(exchange_write(x, part, sizeof part));
    assert_false(exchange_gone(x));
    assert_false(exchange_is_dropped(x));
    for (int i = 0; i < 4; i++)
        exchange_write(x, part, sizeof part);
    assert_true(exchange_is_dropped(x));
    assert_true(exchange_gone(x));
    assert_int_equal(ends, 1);
    assert_false(exchange_write(x, part, 1));
    exchange_release(x);
    assert_int_equal(ends, 1);
    assert_int_equal(admission_given(&memory, &largest), 0);
    assert_true(largest <= LIMIT);
    admission_destroy(&memory);
}

/* When a response in parts has ended, only what its client has left of it counts; it is given back once. */
static void test_ended_stream_counts_what_is_left(void **state)
{
    enum { LIMIT = 64 * EXCHANGE_UNREAD, MADE = 4 * EXCHANGE_UNREAD };
    static const size_t parts[] = {0, 1, 3}; /* of half EXCHANGE_UNREAD */
    static char part[EXCHANGE_UNREAD / 2];
    (void)state;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        admission memory;
        size_t largest, left = parts[i] * sizeof part;
        bool end;
        admission_init(&memory, LIMIT);
        exchange *x = get("/");
        exchange_at_free(x, NULL, NULL, &memory);
        assert_int_equal(exchange_asks(x, ADMISSION_MAKING, MADE), ADMISSION_GIVEN);
        exchange_begin(x, 200, "text/plain");
        for (size_t n = 0; n < parts[i]; n++)
            assert_true(exchange_write(x, part, sizeof part));
        assert_false(exchange_lags(x) && left <= EXCHANGE_UNREAD);
        assert_in_range(admission_given(&memory, &largest), MADE, MADE + 2 * left);
        exchange_end(x);
        assert_true(exchange_lags(x));
        assert_in_range(admission_given(&memory, &largest), left, 3 * left);
        exchange_end(x);
        exchange_drop(x);
        while (exchange_take(x, part, sizeof part, &end))
            ;
        assert_true(end);
        assert_in_range(admission_given(&memory, &largest), 0, left < EXCHANGE_UNREAD ? left : EXCHANGE_UNREAD);
        exchange_release(x);
        assert_int_equal(admission_given(&memory, &largest), 0);
        admission_destroy(&memory);
    }
}

/* Nor is there any where others have it, or where none is counted. */
static void test_no_memory_for_unread(void **state)
{
    enum { LIMIT = 8 * EXCHANGE_UNREAD };
    static char part[EXCHANGE_UNREAD];
    admission memory;
    admission_ticket other = {0};
    (void)state;
    admission_init(&memory, LIMIT);
    assert_int_equal(admission_set(&memory, &other, ADMISSION_MAKING, LIMIT), ADMISSION_GIVEN);
    for (int counted = 0; counted < 2; counted++) {
        exchange *x = get("/");
        exchange_at_free(x, NULL, NULL, counted ? &memory : NULL);
        exchange_begin(x, 200, "text/plain");
        assert_true(exchange_write(x, part, sizeof part));
        assert_false(exchange_write(x, part, 1));
        assert_true(exchange_is_dropped(x));
        exchange_release(x);
    }
    admission_return(&memory, &other);
    admission_destroy(&memory);
}

static void test_no_answer(void **state)
{
    const char *type;
    (void)state;
    exchange *x = get("/");
    exchange_hold(x);
    exchange_hold(x);
    exchange_release(x);
    assert_int_equal(exchange_status(x, &type), 0);
    exchange_release(x); /* the last who could have answered */
    assert_int_equal(exchange_status(x, &type), 500);
    exchange_release(x);
    x = get("/");
    exchange_hold(x);
    exchange_begin(x, 200, "text/plain");
    exchange_release(x);
    assert_true(exchange_is_dropped(x));
    exchange_detach(x);
    exchange_release(x);
}

static void test_notes(void **state)
{
    const char *name;
    double value;
    (void)state;
    exchange *x = get("/");
    assert_string_equal(exchange_model(x), "");
    exchange_note_model(x, "gpt2");
    exchange_note(x, "tokens", 3);
    for (int i = 0; i < 100; i++)
        exchange_note(x, "more", i);
    assert_true(exchange_noted(x, 0, &name, &value));
    assert_string_equal(name, "tokens");
    assert_true(value == 3);
    assert_false(exchange_noted(x, 100, &name, &value));
    assert_string_equal(exchange_model(x), "gpt2");
    exchange_release(x);
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

enum { ROUNDS = 2000, PARTS = 20 };

/* The transport's context: freed with it, so that a call after exchange_detach is one into freed memory. */
typedef struct ear {
    atomic_long wakes;
} ear;

static void hear(void *context)
{
    atomic_fetch_add(&((ear *)context)->wakes, 1);
}

static bool ear_is_gone(void *context)
{
    return atomic_load(&((ear *)context)->wakes) < 0;
}

static void *write_parts(void *context)
{
    exchange *x = context;
    exchange_begin(x, 200, "text/plain");
    for (int i = 0; i < PARTS && !exchange_gone(x); i++)
        exchange_write(x, "part", 4);
    exchange_end(x);
    exchange_release(x);
    return NULL;
}

/* The transport leaves at any moment; with a build for address and thread sanitizers. */
static void test_threads(void **state)
{
    static const exchange_transport transport = {hear, ear_is_gone};
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        pthread_t thread;
        char bytes[PARTS * 4];
        bool end = false;
        size_t got = 0;
        ear *e = calloc(1, sizeof *e);
        exchange *x = exchange_new("GET", "/", &transport, e);
        exchange_hold(x);
        assert_int_equal(pthread_create(&thread, NULL, write_parts, x), 0);
        const size_t enough = (size_t)(round % (PARTS + 1)) * 4;
        while (!end && got < enough)
            got += exchange_take(x, bytes, sizeof bytes - got, &end);
        exchange_detach(x);
        free(e);
        exchange_release(x);
        pthread_join(thread, NULL);
        assert_true(got >= enough || got == PARTS * 4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_target),    cmocka_unit_test(test_wrong_targets), cmocka_unit_test(test_request),
        cmocka_unit_test(test_whole),     cmocka_unit_test(test_parts),         cmocka_unit_test(test_unread),
        cmocka_unit_test(test_no_memory_for_unread), cmocka_unit_test(test_ended_stream_counts_what_is_left),
        cmocka_unit_test(test_no_answer), cmocka_unit_test(test_notes),         cmocka_unit_test(test_threads),
        cmocka_unit_test(test_whole_response_counts_until_freed), cmocka_unit_test(test_no_memory_has_a_shape),
        cmocka_unit_test(test_held_bodies), cmocka_unit_test(test_result_headers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
