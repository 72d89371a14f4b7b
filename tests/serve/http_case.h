/* tests/serve/http_case.h: a server of test_http.c: http.h on a port of this machine, with answers that need no model, and a
 * client that speaks byte by byte. */
#ifndef TESTS_SERVE_HTTP_CASE_H
#define TESTS_SERVE_HTTP_CASE_H

#include "base/clock.h"
#include "serve/module/exchange_work.h"
#include "serve/module/http.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { HTTP_ANSWER = 1 << 16, HTTP_WAIT_MS = 20000 };

static http *http_server;
static int http_port, http_listener;
static atomic_int http_over, http_gone, http_dropped, http_released;

static char http_zeros[900000];
static admission http_memory = {.lock = PTHREAD_MUTEX_INITIALIZER, .limit = 16 << 20}; /* for what clients leave unread */

static inline void http_pause(int ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L}, NULL);
}

static inline void http_release_case(void *context)
{
    (void)context;
    atomic_fetch_add(&http_released, 1);
}

/* ---- answers ----------------------------------------------------------------------------------------------------- */

static inline int http_number(const exchange *x, const char *name)
{
    const char *text = exchange_query(x, name);
    return text ? atoi(text) : 0;
}

/* /slow?ms=: a whole answer after a while; /stream?n=&ms=: parts; /burst?n=: parts of 900 kB at once; /wait: none, until the
 * client has hung up; /flood: parts until the client is given up; /large and /part: 900 kB as a whole, or as a part, and then
 * nothing until the client is gone; /held: 900 kB that are lent. */
static inline void *http_work(void *context)
{
    exchange *x = context;
    const char *path = exchange_path(x);
    const int ms = http_number(x, "ms"), n = http_number(x, "n");
    if (strcmp(path, "/slow") == 0) {
        http_pause(ms);
        exchange_reply(x, 200, "text/plain", "slow", 4);
    } else if (strcmp(path, "/stream") == 0) {
        exchange_begin(x, 200, "text/event-stream");
        for (int i = 0; i < n; i++) {
            char part[32];
            http_pause(ms);
            exchange_write(x, part, (size_t)snprintf(part, sizeof part, "event %d\n", i));
        }
        exchange_end(x);
    } else if (strcmp(path, "/burst") == 0) {
        exchange_begin(x, 200, "text/event-stream");
        for (int i = 0; i < n; i++)
            exchange_write(x, http_zeros, sizeof http_zeros);
        exchange_end(x);
    } else if (strcmp(path, "/large") == 0)
        exchange_reply(x, 200, "text/plain", http_zeros, sizeof http_zeros);
    else if (strcmp(path, "/wait") == 0 || strcmp(path, "/part") == 0) {
        if (path[1] == 'p') {
            exchange_begin(x, 200, "text/plain");
            exchange_write(x, http_zeros, sizeof http_zeros);
        }
        while (!exchange_gone(x))
            http_pause(1);
        atomic_fetch_add(&http_gone, 1);
    } else {
        static const char part[65536];
        exchange_begin(x, 200, "application/octet-stream");
        while (exchange_write(x, part, sizeof part))
            ;
        atomic_fetch_add(&http_dropped, exchange_is_dropped(x));
    }
    exchange_release(x);
    return NULL;
}

static inline void http_answer_case(void *context, exchange *x)
{
    pthread_t thread;
    size_t size;
    (void)context;
    exchange_at_free(x, NULL, NULL, &http_memory);
    if (strcmp(exchange_path(x), "/echo") == 0) {
        const char *body = exchange_body(x, &size);
        exchange_add_header(x, "X-Method", exchange_method(x));
        exchange_reply(x, 200, "text/plain", body, size);
        return;
    }
    if (strcmp(exchange_path(x), "/held") == 0) {
        exchange_reply_held(x, 200, "text/plain", (exchange_held){http_zeros, sizeof http_zeros, http_release_case, NULL});
        return;
    }
    exchange_hold(x);
    if (strcmp(exchange_path(x), "/none") == 0)
        exchange_release(x);
    else if (pthread_create(&thread, NULL, http_work, x) == 0)
        pthread_detach(thread);
}

static inline void http_refuse_case(void *context, exchange *x, int status, const char *code, const char *message)
{
    (void)context;
    (void)message;
    exchange_reply(x, status, "text/plain", code, strlen(code));
}

static inline void http_over_case(void *context, const http_report *report)
{
    (void)context;
    (void)report;
    atomic_fetch_add(&http_over, 1);
}

/* ---- the server -------------------------------------------------------------------------------------------------- */

static inline http_options http_case_options(void)
{
    return (http_options){.connections = 200, .body = 4096, .header_timeout = 0.5, .request_timeout = 0.5, .idle_timeout = 0.7,
                          .send_timeout = 1, .answer = http_answer_case, .refuse = http_refuse_case, .over = http_over_case};
}

static inline bool http_case_start(http_options options)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    rapt_error err = {0};
    const int small = 16384; /* so that what a client leaves unread does not disappear in the system's buffers */
    http_listener = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(http_listener, SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
    if (bind(http_listener, (const struct sockaddr *)&at, sizeof at) || listen(http_listener, 512) ||
        getsockname(http_listener, (struct sockaddr *)&at, &size))
        return false;
    http_port = ntohs(at.sin_port);
    options.listener = http_listener;
    http_server = http_start(&options, &err);
    return http_server != NULL;
}

static inline void http_case_stop(void)
{
    http_stop(http_server);
    close(http_listener);
}

/* Files that this process has open, connections of both ends among them. */
static inline size_t http_files(void)
{
    size_t count = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (folder && readdir(folder))
        count++;
    if (folder)
        closedir(folder);
    return count;
}

/* ---- the client -------------------------------------------------------------------------------------------------- */

static inline int http_connect(void)
{
    const struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)http_port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&at, sizeof at) == 0)
        return fd;
    close(fd);
    return -1;
}

static inline void http_send_bytes(int fd, const char *bytes, size_t size)
{
    while (size > 0) {
        const ssize_t n = send(fd, bytes, size, MSG_NOSIGNAL);
        if (n <= 0)
            return; /* closed: what has come back says why */
        bytes += n;
        size -= (size_t)n;
    }
}

static inline void http_send_text(int fd, const char *text)
{
    http_send_bytes(fd, text, strlen(text));
}

/* Reads until `until` has come (NULL: until the connection is closed), as text. Whether that came about. */
static inline bool http_read(int fd, const char *until, char answer[HTTP_ANSWER])
{
    size_t size = 0;
    answer[0] = '\0';
    for (;;) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        if (until && strstr(answer, until))
            return true;
        if (size == HTTP_ANSWER - 1 || poll(&p, 1, HTTP_WAIT_MS) <= 0)
            return false;
        const ssize_t n = recv(fd, answer + size, HTTP_ANSWER - 1 - size, 0);
        if (n <= 0)
            return !until;
        size += (size_t)n;
        answer[size] = '\0';
    }
}

/* One request on a connection of its own, and all that comes back until it is closed. */
static inline bool http_ask(const char *request, size_t size, char answer[HTTP_ANSWER])
{
    const int fd = http_connect();
    if (fd < 0)
        return false;
    http_send_bytes(fd, request, size);
    const bool closed = http_read(fd, NULL, answer);
    close(fd);
    return closed;
}

/* The status line's number. */
static inline int http_status_of(const char *answer)
{
    return strncmp(answer, "HTTP/1.1 ", 9) == 0 ? atoi(answer + 9) : 0;
}

/* Waits until a counter has a value. */
static inline bool http_comes_to(const atomic_int *counter, int value)
{
    const double until = clock_seconds() + HTTP_WAIT_MS / 1e3;
    while (atomic_load(counter) < value && clock_seconds() < until)
        http_pause(2);
    return atomic_load(counter) >= value;
}

#endif
