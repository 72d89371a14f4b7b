/* test_http.c: HTTP as bytes: requests that are refused by name, limits, clients that are slow, hang up, do not read or come in
 * numbers, and the end of a server in the middle of all that. Each trap of libmicrohttpd 0.9.75 has a test here.
 * labels: threads */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include "http_case.h"
#include "serve/module/http_parts.h"

#include <cmocka.h>
#include <malloc.h>

static char answer[HTTP_ANSWER];

static int start(void **state)
{
    (void)state;
    atomic_store(&http_over, 0);
    atomic_store(&http_gone, 0);
    atomic_store(&http_dropped, 0);
    return http_case_start(http_case_options()) ? 0 : -1;
}

static int stop(void **state)
{
    (void)state;
    http_case_stop();
    return 0;
}

/* How often the HTTP thread looks whether there is something to send: these stand before the real ones (-Wl,--wrap). */
static atomic_int looks;
size_t __real_exchange_take(exchange *x, char *to, size_t size, bool *end);
size_t __wrap_exchange_take(exchange *x, char *to, size_t size, bool *end);
int __real_exchange_status(exchange *x, const char **type);
int __wrap_exchange_status(exchange *x, const char **type);

size_t __wrap_exchange_take(exchange *x, char *to, size_t size, bool *end)
{
    atomic_fetch_add(&looks, 1);
    return __real_exchange_take(x, to, size, end);
}

int __wrap_exchange_status(exchange *x, const char **type)
{
    atomic_fetch_add(&looks, 1);
    return __real_exchange_status(x, type);
}

/* ---- what is refused --------------------------------------------------------------------------------------------- */

#define POST "POST /echo HTTP/1.1\r\nHost: a\r\n"
#define LAST "Connection: close\r\n"

static void test_strict(void **state)
{
    static const struct {
        const char *request;
        int status;
        const char *code; /* NULL: libmicrohttpd says it in its own words */
    } cases[] = {
        {POST "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400, "content_length_with_transfer_encoding"},
        {POST "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n", 400, "content_length_with_transfer_encoding"},
        {POST "Content-Length: 4\r\nContent-Length: 5\r\n\r\nabcde", 400, "several_content_lengths"},
        {POST "Content-Length: 4\r\ncontent-length: 4\r\n\r\nabcd", 400, "several_content_lengths"},
        {POST "Content-Length: 4, 4\r\n\r\nabcd", 400, NULL},
        {POST "Content-Length: +4\r\n\r\nabcd", 400, NULL},
        {POST "Content-Length: -4\r\n\r\nabcd", 400, NULL},
        {POST "Content-Length: 0x4\r\n\r\nabcd", 400, NULL},
        {POST "Content-Length: 99999999999999999999999\r\n\r\nabcd", 413, NULL},
        {POST "Content-Length : 4\r\n\r\nabcd", 400, "header_name"},
        {POST "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n", 400, "header_name"},
        {POST "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 400, "transfer_encoding"},
        {POST "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n", 400, "transfer_encoding"},
        {POST "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", 400, "transfer_encoding"},
        {POST "Transfer-Encoding:\r\n\r\n0\r\n\r\n", 400, "transfer_encoding"},
        {POST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400, "several_transfer_encodings"},
        {POST "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n", 400, "several_transfer_encodings"},
        {"GET /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n", 400, "transfer_encoding"},
        {"POST /echo HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400, "transfer_encoding_in_http_1_0"},
        {"GET /echo HTTP/1.1\r\n\r\n", 400, "missing_host"},
        {"GET /echo HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400, "several_hosts"},
        {"GET /echo HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n", 400, "several_hosts"},
        {"GET /echo HTTP/1.1\r\nHost:\r\n\r\n", 400, "host"},
        {"GET /echo HTTP/1.1\r\nHost: a/b\r\n\r\n", 400, "host"},
        {"GET /echo HTTP/1.1\r\nHost: a b\r\n\r\n", 400, "host"},
        {"GET /echo HTTP/1.1\r\nHost: a@b\r\n\r\n", 400, "host"},
        {"GET /echo HTTP/1.1\r\nHost: a\r\nA b: c\r\n\r\n", 400, "header_name"},
        {POST "Content-Encoding: gzip\r\nContent-Length: 4\r\n\r\nabcd", 415, "content_encoding"},
        {"GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n", 400, "target"},
        {"GET /a%00b HTTP/1.1\r\nHost: a\r\n\r\n", 400, "target"},
        {"GET echo HTTP/1.1\r\nHost: a\r\n\r\n", 400, "target"},
        {"GET /echo HTTP/3.0\r\nHost: a\r\n\r\n", 505, NULL},
        {"GET /echo HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n", 400, NULL},
        {POST "Transfer-Encoding: chunked\r\n\r\nzz\r\n\r\n", 400, NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const bool closed = http_ask(cases[i].request, strlen(cases[i].request), answer);
        if (!closed || http_status_of(answer) != cases[i].status ||
            (cases[i].code && !http_check_is_strict() && !strstr(answer, cases[i].code)))
            fail_msg("%zu, %s: got \"%.200s\" for \"%s\"", i, closed ? "closed" : "open", answer, cases[i].request);
    }
}

static void test_accepted(void **state)
{
    static const struct {
        const char *request, *body;
    } cases[] = {
        {POST LAST "Content-Length: 4\r\n\r\nabcd", "\r\n\r\nabcd"},
        {POST LAST "Transfer-Encoding: Chunked\r\n\r\n2\r\nab\r\n2;x=y\r\ncd\r\n0\r\nTrailer: t\r\n\r\n", "\r\n\r\nabcd"},
        {"GET http://a/echo?x HTTP/1.1\r\nHost: a\r\n" LAST "\r\n", "X-Method: GET"},
        {"GET /echo HTTP/1.0\r\n\r\n", "X-Method: GET"},
        {"GET /echo HTTP/1.1\r\nHost: [::1]:8080\r\n" LAST "\r\n", "X-Method: GET"},
        {"PURGE /echo HTTP/1.1\r\nHost: a\r\n" LAST "\r\n", "X-Method: PURGE"},
        {"GET /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n" LAST "\r\nhi", "\r\n\r\nhi"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (http_check_is_strict() && strstr(cases[i].request, ";x=y"))
            continue; /* version 1.0 refuses extensions of chunks */
        assert_true(http_ask(cases[i].request, strlen(cases[i].request), answer));
        if (http_status_of(answer) != 200 || !strstr(answer, cases[i].body) || !strstr(answer, "X-Request-Id: "))
            fail_msg("got \"%.200s\" for \"%s\"", answer, cases[i].request);
    }
}

/* Nobody answers: it is a failure of ours, and said so. */
static void test_unanswered(void **state)
{
    static const char request[] = "GET /none HTTP/1.1\r\nHost: a\r\n" LAST "\r\n";
    (void)state;
    assert_true(http_ask(request, sizeof request - 1, answer));
    assert_int_equal(http_status_of(answer), 500);
}

/* A large field, and a hello of TLS on a port without. */
static void test_no_http(void **state)
{
    static const char hello[] = "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03";
    static char large[100000] = "GET /echo HTTP/1.1\r\nHost: a\r\nX: ";
    (void)state;
    assert_true(http_ask(hello, sizeof hello - 1, answer)); /* without a line end it is only late */
    memset(large + strlen(large), 'x', sizeof large - strlen(large) - 5);
    strcpy(large + sizeof large - 5, "\r\n\r\n");
    assert_true(http_ask(large, sizeof large - 1, answer));
    assert_true(http_status_of(answer) == 431 || !answer[0]);
}

static void test_sizes(void **state)
{
    static char body[65536];
    char head[256];
    (void)state;
    memset(body, 'a', sizeof body);
    /* at the limit, one beyond it, and much */
    const size_t sizes[] = {4096, 4097, 60000};
    for (size_t i = 0; i < 3; i++) {
        const int fd = http_connect();
        snprintf(head, sizeof head, POST LAST "Content-Length: %zu\r\n\r\n", sizes[i]);
        http_send_text(fd, head);
        http_send_bytes(fd, body, sizes[i]);
        assert_true(http_read(fd, NULL, answer));
        assert_int_equal(http_status_of(answer), i ? 413 : 200);
        close(fd);
    }
    /* in chunks nobody has said how much it will be */
    const int fd = http_connect();
    http_send_text(fd, POST LAST "Transfer-Encoding: chunked\r\n\r\n");
    for (int i = 0; i < 3; i++) {
        http_send_text(fd, "800\r\n");
        http_send_bytes(fd, body, 2048);
        http_send_text(fd, "\r\n");
    }
    http_send_text(fd, "0\r\n\r\n");
    assert_true(http_read(fd, NULL, answer));
    assert_int_equal(http_status_of(answer), 413);
    assert_non_null(strstr(answer, "too_large"));
    close(fd);
}

static void test_expect(void **state)
{
    (void)state;
    int fd = http_connect();
    http_send_text(fd, POST LAST "Content-Length: 2\r\nExpect: 100-continue\r\n\r\n");
    assert_true(http_read(fd, "100 Continue\r\n\r\n", answer));
    http_send_text(fd, "ok");
    assert_true(http_read(fd, "\r\n\r\nok", answer));
    close(fd);
    fd = http_connect(); /* told before it is sent */
    http_send_text(fd, POST "Content-Length: 5000\r\nExpect: 100-continue\r\n\r\n");
    assert_true(http_read(fd, NULL, answer));
    assert_int_equal(http_status_of(answer), 413);
    close(fd);
}

/* ---- connections ------------------------------------------------------------------------------------------------- */

static void test_pipelined(void **state)
{
    (void)state;
    const int fd = http_connect();
    http_send_text(fd, "GET /slow?ms=50 HTTP/1.1\r\nHost: a\r\n\r\n" POST "Content-Length: 3\r\n\r\none"
                       "HEAD /echo HTTP/1.1\r\nHost: a\r\n\r\n" POST LAST "Content-Length: 3\r\n\r\ntwo");
    assert_true(http_read(fd, NULL, answer));
    const char *one = strstr(answer, "slow"), *two = one ? strstr(one, "one") : NULL;
    const char *head = two ? strstr(two, "X-Method: HEAD") : NULL;
    assert_non_null(head);
    assert_non_null(strstr(head, "two"));
    close(fd);
}

/* Many streams that other threads write, each with pauses: every event comes, and none is stuck. */
static void test_streams(void **state)
{
    enum { STREAMS = 60, EVENTS = 30 };
    int fds[STREAMS];
    char last[32];
    (void)state;
    snprintf(last, sizeof last, "event %d\n", EVENTS - 1);
    for (int i = 0; i < STREAMS; i++) {
        fds[i] = http_connect();
        assert_true(fds[i] >= 0);
        http_send_text(fds[i], "GET /stream?n=30&ms=1 HTTP/1.1\r\nHost: a\r\n" LAST "\r\n");
    }
    for (int i = 0; i < STREAMS; i++) {
        size_t events = 0;
        assert_true(http_read(fds[i], NULL, answer));
        for (const char *at = answer; (at = strstr(at, "event ")); at++)
            events++;
        assert_int_equal(events, EVENTS);
        assert_non_null(strstr(answer, last));
        assert_non_null(strstr(answer, "\r\n0\r\n\r\n"));
        close(fds[i]);
    }
    assert_true(http_comes_to(&http_over, STREAMS));
}

/* A content reader that returns 0 without a suspended connection is asked again at once, for ever; so is a request without an
 * answer. Each part and each answer is worth some looks. */
static void test_no_busy_loop(void **state)
{
    (void)state;
    const int stream = http_connect(), idle = http_connect(), wait = http_connect();
    atomic_store(&looks, 0);
    http_send_text(stream, "GET /stream?n=2&ms=300 HTTP/1.1\r\nHost: a\r\n" LAST "\r\n");
    http_send_text(wait, "GET /slow?ms=500 HTTP/1.1\r\nHost: a\r\n" LAST "\r\n");
    assert_true(http_read(stream, NULL, answer));
    assert_non_null(strstr(answer, "event 1"));
    assert_true(http_read(wait, NULL, answer));
    assert_in_range(atomic_load(&looks), 6, 40);
    close(stream);
    close(idle);
    close(wait);
}

/* libmicrohttpd does not look at a connection that is suspended; whoever works for it asks. */
static void test_hang_up(void **state)
{
    int fds[8];
    (void)state;
    for (int i = 0; i < 8; i++) {
        fds[i] = http_connect();
        http_send_text(fds[i], "GET /wait HTTP/1.1\r\nHost: a\r\n\r\n");
    }
    http_pause(100);
    assert_int_equal(atomic_load(&http_gone), 0);
    for (int i = 0; i < 4; i++)
        close(fds[i]);
    assert_true(http_comes_to(&http_gone, 4));
    http_pause(50);
    assert_int_equal(atomic_load(&http_gone), 4);
    for (int i = 4; i < 8; i++)
        shutdown(fds[i], SHUT_WR); /* looks the same, as docs say */
    assert_true(http_comes_to(&http_gone, 8));
    for (int i = 4; i < 8; i++)
        close(fds[i]);
    assert_true(http_comes_to(&http_over, 8));
}

/* One that does not read is given up when there is no memory for what it has left, and its connection closed. */
static void test_unread(void **state)
{
    (void)state;
    const int fd = http_connect();
    http_send_text(fd, "GET /flood HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_true(http_comes_to(&http_dropped, 1));
    assert_true(http_comes_to(&http_over, 1));
    close(fd);
}

/* A long response that is made at once comes whole to a client that takes its time. */
static void test_slow_and_live(void **state)
{
    enum { PARTS = 5, PORTION = 64 << 10 };
    static char portion[PORTION];
    const int fd = http_connect();
    size_t zeros = 0, got = 1;
    (void)state;
    http_send_text(fd, "GET /burst?n=5 HTTP/1.1\r\nHost: a\r\n" LAST "\r\n");
    while (got > 0) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        http_pause(5);
        assert_true(poll(&p, 1, HTTP_WAIT_MS) > 0);
        const ssize_t n = recv(fd, portion, PORTION, 0);
        got = n > 0 ? (size_t)n : 0;
        for (size_t i = 0; i < got; i++)
            zeros += portion[i] == 0;
    }
    assert_int_equal(zeros, PARTS * sizeof http_zeros);
    close(fd);
}

/* ---- time -------------------------------------------------------------------------------------------------------- */

/* A byte now and then keeps libmicrohttpd's timeout away: in the first line, in the fields, in the body, in a second request. */
static void test_slow_clients(void **state)
{
    enum { CLIENTS = 20, KINDS = 5 };
    static const char *const beginnings[KINDS] = {"", "GET /echo HTTP/1.1\r\nHost: a\r\nX: ", POST "Content-Length: 4000\r\n\r\n",
                                                  POST "Transfer-Encoding: chunked\r\n\r\n4000\r\n",
                                                  "GET /echo HTTP/1.1\r\nHost: a\r\n\r\nGET /echo HTTP/1.1\r\n"};
    struct pollfd fds[CLIENTS];
    int open = CLIENTS;
    (void)state;
    for (int i = 0; i < CLIENTS; i++) {
        fds[i] = (struct pollfd){.fd = http_connect(), .events = POLLIN};
        assert_true(fds[i].fd >= 0);
        http_send_text(fds[i].fd, beginnings[i % KINDS]);
    }
    const double until = clock_seconds() + HTTP_WAIT_MS / 1e3;
    while (open && clock_seconds() < until) {
        open = 0;
        for (int i = 0; i < CLIENTS; i++) {
            while (fds[i].fd >= 0 && poll(&fds[i], 1, 0) > 0)
                if (recv(fds[i].fd, answer, sizeof answer, 0) <= 0) {
                    close(fds[i].fd);
                    fds[i].fd = -1;
                }
            if (fds[i].fd >= 0) {
                http_send_text(fds[i].fd, "a");
                open++;
            }
        }
        http_pause(100);
    }
    assert_int_equal(open, 0);
    static const char request[] = POST LAST "Content-Length: 2\r\n\r\nhi";
    assert_true(http_ask(request, sizeof request - 1, answer)); /* others are served */
    assert_int_equal(http_status_of(answer), 200);
}

static int start_patient(void **state)
{
    http_options o = http_case_options();
    (void)state;
    o.header_timeout = o.request_timeout = o.idle_timeout = 300;
    return http_case_start(o) ? 0 : -1;
}

/* Clients whose last bytes come together with their end, of which libmicrohttpd sees the bytes only, now and then: none is
 * waited for as long as its request may take. */
static void test_left(void **state)
{
    enum { CLIENTS = 180 };
    static const char *const beginnings[] = {POST "Content-Length: 4000\r\n\r\nabc", "GET /echo HTTP/1.1\r\nHos",
                                             "GET /echo HTTP/1.1\r\nHost: a\r\n\r\n"};
    (void)state;
    const size_t before = http_files();
    const double begin = clock_seconds();
    for (int i = 0; i < CLIENTS; i++) {
        const int fd = http_connect();
        assert_true(fd >= 0);
        http_send_text(fd, beginnings[i % 3]);
        close(fd);
    }
    while (http_files() > before && clock_seconds() < begin + HTTP_WAIT_MS / 1e3)
        http_pause(50);
    assert_int_equal(http_files(), before);
    /* who only ends its own half gets its answer */
    const int fd = http_connect();
    http_send_text(fd, "GET /echo HTTP/1.1\r\nHost: a\r\n" LAST "\r\n");
    shutdown(fd, SHUT_WR);
    assert_true(http_read(fd, NULL, answer));
    assert_int_equal(http_status_of(answer), 200);
    close(fd);
}

/* Connects with a small buffer, so that what a client leaves stays with the server. */
static int connect_small(void)
{
    const struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)http_port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int fd = socket(AF_INET, SOCK_STREAM, 0), small = 4096;
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    assert_int_equal(connect(fd, (const struct sockaddr *)&at, sizeof at), 0);
    return fd;
}

/* A client that reads nothing, of a response that is no more than it may leave unread. */
static void test_slow_readers(void **state)
{
    static const char *const requests[] = {"GET /large HTTP/1.1\r\nHost: a\r\n\r\n", "GET /part HTTP/1.1\r\nHost: a\r\n\r\n"};
    int fds[2];
    (void)state;
    for (int i = 0; i < 2; i++) {
        fds[i] = connect_small();
        http_send_text(fds[i], requests[i]);
    }
    assert_true(http_comes_to(&http_over, 2));
    assert_true(http_comes_to(&http_gone, 1));
    close(fds[0]);
    close(fds[1]);
}

/* Clients that all get the same 900 kB, and let them lie: they take next to no memory. One that begins to read after send_timeout
 * gets all of it; a HEAD and one that hangs up release it, too. */
static void test_held(void **state)
{
    enum { CLIENTS = 150 };
    static char rest[65536];
    int fds[CLIENTS];
    size_t got = 0;
    (void)state;
    atomic_store(&http_released, 0);
    const size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
    for (int i = 0; i < CLIENTS; i++) {
        fds[i] = connect_small();
        http_send_text(fds[i], i == 1 ? "HEAD" : "GET");
        http_send_text(fds[i], " /held HTTP/1.1\r\nHost: a\r\n" LAST "\r\n");
        assert_int_equal(recv(fds[i], rest, 12, MSG_WAITALL), 12);
        assert_memory_equal(rest, "HTTP/1.1 200", 12);
    }
    const size_t taken = mallinfo2().uordblks + mallinfo2().hblkhd - before;
    if (taken > CLIENTS * 65536)
        fail_msg("%zu bytes for %d clients", taken, CLIENTS);
    http_pause(1500);
    assert_true(atomic_load(&http_released) <= 1);
    for (ssize_t n = 1; n > 0; got += n > 0 ? (size_t)n : 0)
        n = recv(fds[0], rest, sizeof rest, 0);
    assert_true(got > sizeof http_zeros);
    for (int i = 0; i < CLIENTS; i++)
        close(fds[i]);
    assert_true(http_comes_to(&http_released, CLIENTS));
    assert_true(http_comes_to(&http_over, CLIENTS));
}

/* Clients that read a block just in time, of a response that has ended and of one that goes on. send_timeout is 1 s: at their
 * pace, 30 kB a second, the first would take 30 s, the second for ever. */
static void test_readers_that_lag(void **state)
{
    static const char *const requests[] = {"GET /burst?n=1 HTTP/1.1\r\nHost: a\r\n\r\n", "GET /part HTTP/1.1\r\nHost: a\r\n\r\n"};
    static char part[3000];
    size_t got[2] = {0};
    int fds[2];
    (void)state;
    for (int i = 0; i < 2; i++) {
        fds[i] = connect_small();
        http_send_text(fds[i], requests[i]);
    }
    const double begin = clock_seconds();
    while (atomic_load(&http_over) < 2 && clock_seconds() < begin + 12) {
        http_pause(100);
        for (int i = 0; i < 2; i++) {
            const ssize_t n = recv(fds[i], part, sizeof part, MSG_DONTWAIT);
            got[i] += n > 0 ? (size_t)n : 0;
        }
    }
    assert_int_equal(atomic_load(&http_over), 2);
    assert_true(got[0] < sizeof http_zeros / 2 && got[1] < sizeof http_zeros / 2);
    close(fds[0]);
    close(fds[1]);
}

static void test_idle(void **state)
{
    (void)state;
    const int fd = http_connect();
    http_send_text(fd, "GET /echo HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_true(http_read(fd, "\r\n\r\n", answer));
    http_pause(300);
    http_send_text(fd, "GET /echo HTTP/1.1\r\nHost: a\r\n\r\n"); /* still open */
    assert_true(http_read(fd, "\r\n\r\n", answer));
    assert_int_equal(http_status_of(answer), 200);
    assert_true(http_read(fd, NULL, answer)); /* and then closed */
    assert_string_equal(answer, "");
    close(fd);
    /* time that an answer takes is nobody's idleness */
    static const char slow[] = "GET /slow?ms=1500 HTTP/1.1\r\nHost: a\r\n" LAST "\r\n";
    assert_true(http_ask(slow, sizeof slow - 1, answer));
    assert_int_equal(http_status_of(answer), 200);
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

static int start_small(void **state)
{
    http_options o = http_case_options();
    (void)state;
    o.connections = 4;
    return http_case_start(o) ? 0 : -1;
}

static void test_connections(void **state)
{
    enum { HELD = 4 };
    static const char request[] = "GET /echo HTTP/1.1\r\nHost: a\r\n\r\n";
    int fds[HELD];
    (void)state;
    for (int i = 0; i < HELD; i++) {
        fds[i] = http_connect();
        http_send_text(fds[i], "GET /slow?ms=300 HTTP/1.1\r\nHost: a\r\n" LAST "\r\n");
    }
    for (int i = 0; i < 20; i++) { /* each is told, and its connection ends */
        assert_true(http_ask(request, sizeof request - 1, answer));
        assert_int_equal(http_status_of(answer), 503);
        assert_non_null(strstr(answer, "Connection: close"));
    }
    for (int i = 0; i < HELD; i++) {
        assert_true(http_read(fds[i], NULL, answer));
        assert_int_equal(http_status_of(answer), 200);
        close(fds[i]);
    }
    const double until = clock_seconds() + HTTP_WAIT_MS / 1e3; /* there is room again */
    int status = 503;
    while (status == 503 && clock_seconds() < until) {
        const int fd = http_connect();
        http_send_text(fd, request);
        assert_true(http_read(fd, "\r\n\r\n", answer));
        status = http_status_of(answer);
        close(fd);
    }
    assert_int_equal(status, 200);
}

static int start_per_address(void **state)
{
    http_options o = http_case_options();
    (void)state;
    o.per_address = 2;
    return http_case_start(o) ? 0 : -1;
}

static void test_per_address(void **state)
{
    static const char request[] = "GET /echo HTTP/1.1\r\nHost: a\r\n" LAST "\r\n";
    (void)state;
    const int one = http_connect(), two = http_connect();
    http_send_text(one, "GET /echo HTTP/1.1\r\nHost: a\r\n\r\n");
    http_send_text(two, "GET /echo HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_true(http_read(one, "\r\n\r\n", answer));
    assert_true(http_read(two, "\r\n\r\n", answer));
    assert_true(http_ask(request, sizeof request - 1, answer));
    assert_int_equal(http_status_of(answer), 429);
    close(one);
    close(two);
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

/* Connections that wait, stream, are half received or idle: the server ends all the same, and no thread calls into it. */
static void test_stop(void **state)
{
    static const char *const requests[] = {
        "GET /wait HTTP/1.1\r\nHost: a\r\n\r\n", "GET /stream?n=100&ms=5 HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /slow?ms=400 HTTP/1.1\r\nHost: a\r\n\r\n", POST "Content-Length: 10\r\n\r\nhalf", "GET /ec",
        "GET /echo HTTP/1.1\r\nHost: a\r\n\r\n"};
    enum { KINDS = sizeof requests / sizeof *requests };
    int fds[5 * KINDS];
    (void)state;
    atomic_store(&http_gone, 0);
    assert_true(http_case_start(http_case_options()));
    for (size_t i = 0; i < 5 * KINDS; i++) {
        fds[i] = http_connect();
        http_send_text(fds[i], requests[i % KINDS]);
    }
    http_pause(100);
    http_case_stop();
    for (size_t i = 0; i < 5 * KINDS; i++) {
        assert_true(http_read(fds[i], NULL, answer));
        close(fds[i]);
    }
    assert_true(http_comes_to(&http_gone, 5));
    http_pause(500); /* /slow answers into nothing */
}

static void test_drain(void **state)
{
    static const char request[] = "GET /echo HTTP/1.1\r\nHost: a\r\n\r\n";
    (void)state;
    assert_true(http_case_start(http_case_options()));
    const int fd = http_connect(), slow = http_connect();
    http_send_text(fd, request);
    assert_true(http_read(fd, "\r\n\r\n", answer));
    assert_null(strstr(answer, "Connection: close"));
    http_send_text(slow, "GET /slow?ms=300 HTTP/1.1\r\nHost: a\r\n\r\n");
    http_pause(100);
    http_drain(http_server, false);
    assert_int_equal(http_busy(http_server), 1);
    http_send_text(fd, request);
    assert_true(http_read(fd, NULL, answer));
    assert_non_null(strstr(answer, "Connection: close"));
    assert_true(http_read(slow, NULL, answer));
    assert_non_null(strstr(answer, "Connection: close"));
    assert_non_null(strstr(answer, "slow"));
    http_drain(http_server, true); /* who connects now waits for another server */
    const int waits = http_connect();
    assert_true(waits >= 0);
    http_send_text(waits, request);
    http_pause(200);
    assert_int_equal(recv(waits, answer, sizeof answer, MSG_DONTWAIT), -1);
    http_stop(http_server);
    http_options again = http_case_options();
    rapt_error err = {0};
    again.listener = http_listener;
    http_server = http_start(&again, &err);
    assert_non_null(http_server);
    assert_true(http_read(waits, "\r\n\r\n", answer));
    assert_int_equal(http_status_of(answer), 200);
    http_case_stop();
    close(fd);
    close(slow);
    close(waits);
}

#define SERVED(test) cmocka_unit_test_setup_teardown(test, start, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVED(test_strict),  SERVED(test_accepted),     SERVED(test_unanswered),   SERVED(test_no_http),
        SERVED(test_sizes),   SERVED(test_expect),       SERVED(test_pipelined),    SERVED(test_streams),
        SERVED(test_hang_up), SERVED(test_no_busy_loop), SERVED(test_slow_clients), SERVED(test_idle),
        SERVED(test_unread),  SERVED(test_slow_readers), SERVED(test_slow_and_live), SERVED(test_readers_that_lag),
        SERVED(test_held),
         cmocka_unit_test_setup_teardown(test_connections, start_small, stop),
        cmocka_unit_test_setup_teardown(test_per_address, start_per_address, stop),
        cmocka_unit_test_setup_teardown(test_left, start_patient, stop),
        cmocka_unit_test(test_stop), cmocka_unit_test(test_drain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
