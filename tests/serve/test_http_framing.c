/* test_http_framing.c: requests whose end two readers could see in two places, each with another one hidden behind it: that
 * one is never answered, and what is wrong is refused by name. RFC 9112, sections 2.2, 3.2, 5 to 7; RFC 9110, section 5.5.
 * labels: threads */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include "http_case.h"
#include "serve/module/http_parts.h"

#include <cmocka.h>

static char answer[HTTP_ANSWER];

static int start(void **state)
{
    (void)state;
    return http_case_start(http_case_options()) ? 0 : -1;
}

static int stop(void **state)
{
    (void)state;
    http_case_stop();
    return 0;
}

#define POST "POST /echo HTTP/1.1\r\nHost: a\r\n"
#define HIDDEN "GET /hidden HTTP/1.1\r\nHost: a\r\n\r\n"
#define CHUNKED "Transfer-Encoding: chunked\r\n"
#define CASE(text, code) {text, sizeof text - 1, code}

typedef struct framing_case {
    const char *request;
    size_t size;
    const char *code; /* in the answer; NULL: in libmicrohttpd's words, which depend on its version */
} framing_case;

/* Responses in what came: with one of libmicrohttpd's own, version 0.9.75 sends the header twice. */
static int responses(const char *text)
{
    int count = 0;
    for (const char *at = text; (at = strstr(at, "HTTP/1.1 ")); at += 9)
        count += atoi(at + 9) >= 200 && (at == text || atoi(at + 9) != 400 || strncmp(at, text, 40) != 0);
    return count;
}

/* Version 1 of libmicrohttpd refuses most of this itself, in its words, or closes the connection. */
static bool is_refused(const char *text, const char *code)
{
    const bool own = http_check_is_strict();
    return (http_status_of(text) == 400 || (own && !*text)) && (!code || own || strstr(text, code));
}

static void check(const framing_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const bool closed = http_ask(cases[i].request, cases[i].size, answer);
        if (!closed || responses(answer) > 1 || !is_refused(answer, cases[i].code))
            fail_msg("%zu, %s: got \"%.300s\" for \"%s\"", i, closed ? "closed" : "open", answer, cases[i].request);
    }
}

/* Section 5: what a line is. */
static void test_lines(void **state)
{
    static const framing_case cases[] = {
        CASE(POST "Transfer-Encoding:\r\n chunked\r\n\r\n" HIDDEN, "header_line"),
        CASE(POST "Transfer-Encoding:\r\n\tchunked\r\n\r\n" HIDDEN, "header_line"),
        CASE(POST "X: a\r\n b\r\nContent-Length: 0\r\n\r\n" HIDDEN, "header_line"),
        CASE(POST "Content-Length:\r\n 36\r\n\r\n" HIDDEN, "header_"),
        CASE(POST "X: a\nContent-Length: 0\r\n\r\n" HIDDEN, "header_line"),
        CASE(POST "Content-Length: 0\n\r\n" HIDDEN, "header_line"),
        CASE(POST "Content-Length: 0\r\n\n" HIDDEN, "header_line"),
        CASE("POST /echo HTTP/1.1\nHost: a\r\nContent-Length: 0\r\n\r\n" HIDDEN, "header_line"),
        CASE(POST "X: a\0b\r\nContent-Length: 0\r\n\r\n" HIDDEN, "header_line"),
        CASE(POST "Content-Length: 0\00036\r\n\r\n" HIDDEN, "header_line"),
        CASE(POST "Content-Length: 0\0\r\n\r\n" HIDDEN, "header_line"),
        CASE(POST "Transfer-Encoding: \0chunked\r\nContent-Length: 0\r\n\r\n" HIDDEN, NULL),
        CASE(POST "X: a\rb\r\nContent-Length: 0\r\n\r\n" HIDDEN, "header_value"),
        CASE(POST "X: a\rContent-Length: 36\r\n\r\n" HIDDEN, "header_value"),
        CASE(POST "X: \x01\r\nContent-Length: 0\r\n\r\n" HIDDEN, "header_value"),
        CASE(POST "X: \x7f\r\nContent-Length: 0\r\n\r\n" HIDDEN, "header_value"),
        CASE(POST " X: a\r\nContent-Length: 0\r\n\r\n" HIDDEN, NULL),
        CASE("POST /echo HTTP/1.1\r\n Host: a\r\nContent-Length: 0\r\n\r\n" HIDDEN, NULL),
        CASE(POST "X : a\r\nContent-Length: 0\r\n\r\n" HIDDEN, "header_name"),
        CASE(POST "Content-Length\t: 0\r\n\r\n" HIDDEN, "header_name"),
        CASE(POST "X\0Y: a\r\nContent-Length: 0\r\n\r\n" HIDDEN, NULL),
        CASE(POST ": a\r\nContent-Length: 0\r\n\r\n" HIDDEN, NULL),
        CASE(POST "no colon\r\nContent-Length: 0\r\n\r\n" HIDDEN, NULL),
        CASE(POST "Content_Length: 36\r\n\r\n" HIDDEN, "header_name"),
        CASE(POST "Transfer_Encoding: chunked\r\n\r\n" HIDDEN, "header_name"),
    };
    (void)state;
    check(cases, sizeof cases / sizeof *cases);
}

/* Section 3: the first line, and whom a request is for. */
static void test_first_line(void **state)
{
    static const framing_case cases[] = {
        CASE("POST  /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n" HIDDEN, "header_line"),
        CASE("POST\t/echo HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n" HIDDEN, NULL),
        CASE("POST /echo  HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n" HIDDEN, NULL),
        CASE("POST /echo HTTP/1.1 \r\nHost: a\r\nContent-Length: 0\r\n\r\n" HIDDEN, NULL),
        CASE("POST /ec ho HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n" HIDDEN, NULL),
        CASE("POST /ec\0ho HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n" HIDDEN, NULL),
        CASE("POST /ec\rho HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n" HIDDEN, NULL),
        CASE("P\0ST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n" HIDDEN, NULL),
        CASE("P(ST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n" HIDDEN, "method"),
        CASE("GET http://b/echo HTTP/1.1\r\nHost: a\r\n\r\n" HIDDEN, "other_host"),
        CASE("GET http://a:81/echo HTTP/1.1\r\nHost: a\r\n\r\n" HIDDEN, "other_host"),
        CASE("GET http://u@a/echo HTTP/1.1\r\nHost: a\r\n\r\n" HIDDEN, "other_host"),
        CASE("GET /echo HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n" HIDDEN, "several_hosts"),
        CASE("GET /echo HTTP/1.1\r\nX: a\r\n\r\n" HIDDEN, NULL),
        CASE("GET /echo HTTP/1.1\r\nHost: a, a\r\n\r\n" HIDDEN, "host"),
    };
    (void)state;
    check(cases, sizeof cases / sizeof *cases);
}

/* Section 6: how long a body is. */
static void test_lengths(void **state)
{
    static const framing_case cases[] = {
        CASE(POST "Content-Length: 0\r\n" CHUNKED "\r\n0\r\n\r\n" HIDDEN, NULL),
        CASE(POST CHUNKED "Content-Length: 0\r\n\r\n0\r\n\r\n" HIDDEN, NULL),
        CASE(POST "Content-Length: 0\r\nContent-Length: 36\r\n\r\n" HIDDEN, "several_content_lengths"),
        CASE(POST "Content-Length: 0\r\nContent-Length: 0\r\n\r\n" HIDDEN, "several_content_lengths"),
        CASE(POST "Content-Length: 0, 0\r\n\r\n" HIDDEN, NULL),
        CASE(POST "Content-Length:\r\n\r\n" HIDDEN, NULL),
        CASE(POST "Content-Length: +0\r\n\r\n" HIDDEN, NULL),
        CASE(POST "Content-Length: -0\r\n\r\n" HIDDEN, NULL),
        CASE(POST "Content-Length: 0x0\r\n\r\n" HIDDEN, NULL),
        CASE(POST "Content-Length: 0_0\r\n\r\n" HIDDEN, NULL),
        CASE(POST "Content-Length: \v0\r\n\r\n" HIDDEN, NULL),
        CASE(POST "Transfer-Encoding: \v" "chunked\r\nContent-Length: 0\r\n\r\n" HIDDEN, NULL),
        CASE(POST "Transfer-Encoding: \xa0" "chunked\r\n\r\n0\r\n\r\n" HIDDEN, NULL),
        CASE(POST "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n" HIDDEN, NULL),
        CASE(POST "Transfer-Encoding: identity\r\nContent-Length: 0\r\n\r\n" HIDDEN, NULL),
        CASE(POST "Transfer-Encoding: chunked;q=1\r\n\r\n0\r\n\r\n" HIDDEN, NULL),
        CASE(POST "Transfer-Encoding: \"chunked\"\r\n\r\n0\r\n\r\n" HIDDEN, NULL),
        CASE(POST "Transfer-Encoding: \r\n\r\n0\r\n\r\n" HIDDEN, NULL),
        CASE(POST CHUNKED CHUNKED "\r\n0\r\n\r\n" HIDDEN, "several_transfer_encodings"),
        CASE("POST /echo HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n" CHUNKED "\r\n0\r\n\r\n" HIDDEN,
             "transfer_encoding_in_http_1_0"),
    };
    (void)state;
    check(cases, sizeof cases / sizeof *cases);
}

/* Section 7.1. Whatever libmicrohttpd takes for the end of such a body, nothing behind it is answered. */
static void test_chunks(void **state)
{
    static const framing_case cases[] = {
        CASE(POST CHUNKED "\r\n0\r\n\r\n" HIDDEN, NULL),
        CASE(POST CHUNKED "\r\n0\n\r\n" HIDDEN, NULL),
        CASE(POST CHUNKED "\r\n0\r\n\n" HIDDEN, NULL),
        CASE(POST CHUNKED "\r\n0;x\n\r\n" HIDDEN, NULL),
        CASE(POST CHUNKED "\r\n0;\ra\r\n\r\n" HIDDEN, NULL),
        CASE(POST CHUNKED "\r\n0\r\nX: y\n z\r\n\r\n" HIDDEN, NULL),
        CASE(POST CHUNKED "\r\n0\r\nContent-Length: 36\r\n\r\n" HIDDEN, NULL),
        CASE(POST CHUNKED "\r\n00000000000000000000\r\n\r\n" HIDDEN, NULL),
        CASE(POST CHUNKED "\r\n2\r\nab\n0\r\n\r\n" HIDDEN, NULL),
        CASE(POST CHUNKED "\r\n2\r\nabc\r\n0\r\n\r\n" HIDDEN, NULL),
        CASE(POST CHUNKED "\r\n0x0\r\n\r\n" HIDDEN, NULL),
        CASE(POST CHUNKED "\r\n0_0\r\n\r\n" HIDDEN, NULL),
        CASE(POST CHUNKED "\r\n-0\r\n\r\n" HIDDEN, NULL),
        CASE(POST CHUNKED "\r\n+0\r\n\r\n" HIDDEN, NULL),
        CASE(POST CHUNKED "\r\n 0\r\n\r\n" HIDDEN, NULL),
        CASE(POST CHUNKED "\r\n0 \r\n\r\n" HIDDEN, NULL),
        CASE(POST CHUNKED "\r\n\r\n\r\n" HIDDEN, NULL),
        CASE(POST CHUNKED "\r\n;x\r\n\r\n" HIDDEN, NULL),
        CASE(POST CHUNKED "\r\n10000000000000000\r\n\r\n" HIDDEN, NULL),
        CASE(POST CHUNKED "\r\n2\r\r\nab\r\n0\r\n\r\n" HIDDEN, NULL),
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (!http_ask(cases[i].request, cases[i].size, answer) || responses(answer) > 1 || strstr(answer, "hidden"))
            fail_msg("%zu: got \"%.300s\" for \"%s\"", i, answer, cases[i].request);
}

/* What is as it should be keeps its connection. */
static void test_kept(void **state)
{
    static const framing_case cases[] = {
        CASE(POST "Content-Length: 4\r\n\r\nabcd" POST "Content-Length: 0\r\nConnection: close\r\n\r\n", NULL),
        CASE(POST "X: \t a \xe9\r\nEmpty:\r\nBlank: \t\r\nContent-Length:0\r\n\r\n" POST
             "Content-Length: 0\r\nConnection: close\r\n\r\n", NULL),
        CASE("GET /echo?a=%41+b HTTP/1.1\r\nHost: a\r\n\r\n\r\nGET http://A/%65cho HTTP/1.1\r\nhost:a\r\n"
             "Connection: close\r\n\r\n", NULL),
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (!http_ask(cases[i].request, cases[i].size, answer) || responses(answer) != 2 || http_status_of(answer) != 200)
            fail_msg("%zu: got \"%.300s\" for \"%s\"", i, answer, cases[i].request);
    assert_true(http_ask("GET /echo HTTP/1.0\r\n\r\n", 22, answer));
    assert_int_equal(http_status_of(answer), 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_lines, start, stop),
        cmocka_unit_test_setup_teardown(test_first_line, start, stop),
        cmocka_unit_test_setup_teardown(test_lengths, start, stop),
        cmocka_unit_test_setup_teardown(test_chunks, start, stop),
        cmocka_unit_test_setup_teardown(test_kept, start, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
