/* serve/module/http_connections.c: ends a connection by shutdown(), which libmicrohttpd notices. It closes the descriptor itself,
 * after http_connections_remove, so that the number cannot mean another file here. */
#define _GNU_SOURCE /* pthread_condattr_setclock, POLLRDHUP */
#include "serve/module/http_parts.h"

#include "base/clock.h"

#include <arpa/inet.h>
#include <math.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

#define REAP_SECONDS 0.1 /* between two checks of the deadlines, while there are any */
#define LOOK_SECONDS 1.0 /* between two searches for clients that hung up, and the time that these have left */

/* Whether the client has hung up, and all that it sent was read. */
static bool has_left(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLRDHUP};
    int unread = 0;
    return poll(&p, 1, 0) > 0 && ioctl(fd, FIONREAD, &unread) == 0 && unread == 0;
}

/* With the lock: shuts down connections that are late; returns whether any has a deadline. A client that hung up keeps a second,
 * because its last bytes may be a whole request that is not handled yet, which sets another deadline. */
static bool reap(http_connections *l)
{
    const double now = clock_seconds();
    const bool looks = now >= l->looked + LOOK_SECONDS;
    bool any = false;
    if (looks)
        l->looked = now;
    for (http_connection *c = l->first; c; c = c->after) {
        if (looks && c->awaited && c->deadline < INFINITY && c->deadline > now + LOOK_SECONDS && has_left(c->fd))
            c->deadline = now + LOOK_SECONDS;
        if (c->deadline <= now) {
            shutdown(c->fd, SHUT_RDWR);
            c->deadline = INFINITY;
        }
        any = any || c->deadline < INFINITY;
    }
    return any;
}

static void *reaper_run(void *context)
{
    http_connections *l = context;
    pthread_mutex_lock(&l->lock);
    while (!l->ends) {
        if (!reap(l)) {
            l->sleeps = true;
            pthread_cond_wait(&l->changed, &l->lock);
            l->sleeps = false;
            continue;
        }
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += (long)(REAP_SECONDS * 1e9);
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        while (!l->ends && pthread_cond_timedwait(&l->changed, &l->lock, &until) == 0)
            ; /* only its end is signaled */
    }
    pthread_mutex_unlock(&l->lock);
    return NULL;
}

rapt_code http_connections_start(http_connections *l, size_t limit, size_t per_address, rapt_error *err)
{
    pthread_condattr_t monotonic;
    *l = (http_connections){.limit = limit, .per_address = per_address};
    pthread_mutex_init(&l->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&l->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (pthread_create(&l->reaper, NULL, reaper_run, l) == 0)
        return RAPT_OK;
    pthread_cond_destroy(&l->changed);
    pthread_mutex_destroy(&l->lock);
    return rapt_fail(err, RAPT_ERR_MEMORY, "cannot start a thread for timeouts");
}

void http_connections_stop(http_connections *l)
{
    pthread_mutex_lock(&l->lock);
    l->ends = true;
    pthread_cond_signal(&l->changed);
    pthread_mutex_unlock(&l->lock);
    pthread_join(l->reaper, NULL);
    pthread_cond_destroy(&l->changed);
    pthread_mutex_destroy(&l->lock);
}

static void write_address(const struct sockaddr *address, char *text, size_t size)
{
    const int family = address ? address->sa_family : AF_UNSPEC;
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)(const void *)address;
    snprintf(text, size, "%s", family == AF_UNIX || family == AF_UNSPEC ? "unix" : "");
    if (family == AF_INET)
        inet_ntop(AF_INET, &((const struct sockaddr_in *)(const void *)address)->sin_addr, text, (socklen_t)size);
    else if (family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&six->sin6_addr))
        inet_ntop(AF_INET, &six->sin6_addr.s6_addr[12], text, (socklen_t)size);
    else if (family == AF_INET6)
        inet_ntop(AF_INET6, &six->sin6_addr, text, (socklen_t)size);
}

/* With the lock. */
static size_t count_address(const http_connections *l, const char *address)
{
    size_t count = 0;
    for (const http_connection *c = l->first; c; c = c->after)
        count += strcmp(c->address, address) == 0;
    return count;
}

http_connection *http_connections_add(http_connections *l, int fd, const struct sockaddr *address, double seconds)
{
    http_connection *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->fd = fd;
    c->deadline = clock_seconds() + seconds;
    c->awaited = true;
    write_address(address, c->address, sizeof c->address);
    pthread_mutex_lock(&l->lock);
    if (++l->count > l->limit)
        c->refusal = 503;
    else if (l->per_address && count_address(l, c->address) >= l->per_address)
        c->refusal = 429;
    c->after = l->first;
    if (l->first)
        l->first->before = c;
    l->first = c;
    if (l->sleeps)
        pthread_cond_signal(&l->changed);
    pthread_mutex_unlock(&l->lock);
    return c;
}

void http_connections_remove(http_connections *l, http_connection *c)
{
    pthread_mutex_lock(&l->lock);
    l->count--;
    if (c->before)
        c->before->after = c->after;
    else
        l->first = c->after;
    if (c->after)
        c->after->before = c->before;
    pthread_mutex_unlock(&l->lock);
    free(c);
}

static void set_deadline(http_connections *l, http_connection *c, double seconds, bool awaited)
{
    pthread_mutex_lock(&l->lock);
    c->deadline = clock_seconds() + seconds;
    c->awaited = awaited;
    if (seconds < INFINITY && l->sleeps)
        pthread_cond_signal(&l->changed);
    pthread_mutex_unlock(&l->lock);
}

void http_connections_await(http_connections *l, http_connection *c, double seconds)
{
    set_deadline(l, c, seconds, true);
}

void http_connections_allow(http_connections *l, http_connection *c, double seconds)
{
    set_deadline(l, c, seconds, false);
}

void http_connections_carry(http_connections *l, http_connection *c, struct http_request *request)
{
    pthread_mutex_lock(&l->lock);
    c->request = request;
    pthread_mutex_unlock(&l->lock);
}

void http_connections_each(http_connections *l, void (*each)(struct http_request *request))
{
    pthread_mutex_lock(&l->lock);
    for (const http_connection *c = l->first; c; c = c->after)
        if (c->request)
            each(c->request);
    pthread_mutex_unlock(&l->lock);
}
