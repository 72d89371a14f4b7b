/* serve/module/http.c: all functions that libmicrohttpd calls run on its one thread, which never waits: it hands exchanges on,
 * and suspends their connections until there is something to send. */
#define _GNU_SOURCE /* strdup */
#include "serve/module/http.h"

#include "base/clock.h"
#include "serve/module/http_parts.h"
#include "serve/serve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    DISCARD_TIMES = 16,     /* times the largest body are read from a client that gets no other answer */
    BODIES_TIMES = 64       /* times the largest body is the memory for bodies */
};

struct http {
    http_options options;
    struct MHD_Daemon *daemon;
    http_connections connections;
    atomic_bool closing, draining, deaf;
    atomic_size_t busy;
    size_t bodies; /* bytes of bodies in memory; the HTTP thread's */
};

/* ---- one request ------------------------------------------------------------------------------------------------- */

static http_connection *connection_of(struct MHD_Connection *mhd)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

/* An MHD_OPTION_URI_LOG_CALLBACK: a request line was read. Its result is *state of the other functions. */
static void *begin_request(void *context, const char *target, struct MHD_Connection *mhd)
{
    http *h = context;
    http_connection *at = connection_of(mhd);
    http_request *r = at ? calloc(1, sizeof *r) : NULL;
    if (!r)
        return NULL;
    *r = (http_request){.mhd = mhd, .list = &h->connections, .at = at, .closing = &h->closing,
                        .send_timeout = h->options.send_timeout, .target = strdup(target), .raw_target = target,
                        .due = INFINITY, .began = clock_seconds()};
    pthread_mutex_init(&r->lock, NULL);
    http_connections_await(r->list, at, h->options.header_timeout);
    http_connections_carry(r->list, at, r);
    return r;
}

typedef struct field_copy {
    exchange *x;
    const char *forwarded; /* the last X-Forwarded-For field, which the nearest proxy has written */
    bool failed;
} field_copy;

static enum MHD_Result copy_field(void *context, enum MHD_ValueKind kind, const char *name, const char *value)
{
    field_copy *c = context;
    (void)kind;
    if (strcasecmp(name, "X-Forwarded-For") == 0)
        c->forwarded = value;
    c->failed = c->failed || !exchange_set_header(c->x, name, value ? value : "");
    return MHD_YES;
}

/* Makes the exchange; if the target is wrong, one for "/", so that it can be refused. NULL: out of memory. */
static exchange *make_exchange(const http *h, http_request *r, const char *method)
{
    char client[FORWARDED_ADDRESS];
    static const exchange_transport transport = {http_request_wake, http_request_gone};
    exchange *x = r->target ? exchange_new(method, r->target, &transport, r) : NULL;
    if (!x && r->target) {
        r->problem = (http_problem){400, "target", "the target of the request is no path, or has a wrong escape"};
        x = exchange_new(method, "/", &transport, r);
    }
    if (!x)
        return NULL;
    field_copy copy = {.x = x};
    MHD_get_connection_values(r->mhd, MHD_HEADER_KIND, copy_field, &copy);
    const bool for_another = forwarded_client(r->at->address, copy.forwarded, h->options.proxies, h->options.proxy_count, client);
    exchange_set_address(x, for_another ? client : r->at->address);
    if (!copy.failed)
        return x;
    exchange_detach(x);
    exchange_release(x);
    return NULL;
}

static const http_problem TOO_LARGE = {413, "too_large", "the body of the request is larger than this server takes"};
static const http_problem NO_MEMORY = {503, "overloaded", "the server is out of memory for this request at present"};

/* The first reason to refuse a request that is known before its body is there. */
static http_problem first_problem(const http *h, const http_request *r, http_framing framing)
{
    if (r->at->refusal == 429)
        return (http_problem){429, "too_many_connections", "there are too many connections from this address"};
    if (r->at->refusal)
        return (http_problem){503, "overloaded", "there are too many connections"};
    if (framing.length > h->options.body)
        return TOO_LARGE;
    return (http_problem){0};
}

/* Hands the exchange on, and answers if the response is already there. */
static enum MHD_Result answer_request(http *h, http_request *r)
{
    const char *type;
    const http_options *o = &h->options;
    if (!r->answered) {
        r->answered = true;
        r->last = r->last || r->problem.status || atomic_load(&h->draining);
        http_connections_allow(r->list, r->at, INFINITY);
        if (r->problem.status)
            o->refuse(o->context, r->x, r->problem.status, r->problem.code, r->problem.message);
        else
            o->answer(o->context, r->x);
    }
    for (;;) {
        if (exchange_is_dropped(r->x) || atomic_load(&h->closing))
            return MHD_NO;
        r->last = r->last || atomic_load(&h->draining);
        if (exchange_status(r->x, &type))
            return http_answer(r);
        if (http_request_suspend(r))
            return MHD_YES;
    }
}

/* The header is there. A request with wrong framing is answered immediately. Other requests are answered after their body:
 * otherwise a client might still be sending it when the connection ends, and not see the answer. */
static enum MHD_Result see_header(http *h, http_request *r, const char *method, const char *version)
{
    http_framing framing;
    r->started = true;
    if (!(r->x = make_exchange(h, r, method)))
        return MHD_NO;
    r->counted = true;
    atomic_fetch_add(&h->busy, 1);
    const http_line line = {method, r->raw_target, r->target, version};
    const http_problem wrong = http_check(r->mhd, &line, &framing);
    if (!r->problem.status)
        r->problem = wrong.status ? wrong : first_problem(h, r, framing);
    r->last = r->last || framing.is_chunked; /* the library's idea of where the chunks end is not trusted */
    http_connections_await(r->list, r->at, h->options.request_timeout);
    const char *expects = exchange_header(r->x, "Expect");
    const bool too_large = framing.length / DISCARD_TIMES > h->options.body;
    if (wrong.status || (r->problem.status && (too_large || expects)))
        return answer_request(h, r);
    return MHD_YES;
}

/* Takes a part of the body. MHD_NO: close the connection. */
static enum MHD_Result take_body(http *h, http_request *r, const char *bytes, size_t size)
{
    const size_t limit = h->options.body;
    r->body += size;
    if (!r->problem.status && r->body > limit)
        r->problem = TOO_LARGE;
    if (!r->problem.status && (h->bodies + size > limit * BODIES_TIMES || !exchange_add_body(r->x, bytes, size)))
        r->problem = NO_MEMORY;
    if (!r->problem.status) {
        r->body_counted += size;
        h->bodies += size;
    }
    return r->body / DISCARD_TIMES > limit ? MHD_NO : MHD_YES;
}

/* An MHD_AccessHandlerCallback: called when the header is there, for each part of the body, at the end, and then each time the
 * connection is resumed until there is a response. */
static enum MHD_Result handle_request(void *context, struct MHD_Connection *mhd, const char *url, const char *method,
                                      const char *version, const char *bytes, size_t *size, void **state)
{
    http *h = context;
    http_request *r = *state;
    (void)mhd;
    (void)url;
    if (!r)
        return MHD_NO;
    if (!r->started)
        return see_header(h, r, method, version);
    if (*size == 0)
        return answer_request(h, r);
    const size_t part = *size;
    *size = 0;
    return take_body(h, r, bytes, part);
}

/* An MHD_RequestCompletedCallback: a request is over, whether or not it was answered. */
static void end_request(void *context, struct MHD_Connection *mhd, void **state, enum MHD_RequestTerminationCode why)
{
    http *h = context;
    http_request *r = *state;
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_HTTP_STATUS);
    const bool cut = why != MHD_REQUEST_TERMINATED_COMPLETED_OK;
    *state = NULL;
    if (!r)
        return;
    http_connections_carry(r->list, r->at, NULL);
    if (r->x)
        exchange_detach(r->x);
    const http_report report = {.method = r->x ? exchange_method(r->x) : "", .x = r->x,
                                .address = r->x ? exchange_address(r->x) : r->at->address,
                                .status = info ? (int)info->http_status : 0, .seconds = clock_seconds() - r->began,
                                .ended = !cut ? NULL : atomic_load(&h->closing) ? "drain" : "client",
                                .bytes = r->x && strcmp(exchange_method(r->x), "HEAD") == 0 ? 0 : r->sent};
    h->options.over(h->options.context, &report);
    if (r->x)
        exchange_release(r->x);
    http_connections_await(r->list, r->at, h->options.idle_timeout);
    h->bodies -= r->body_counted;
    if (r->counted)
        atomic_fetch_sub(&h->busy, 1);
    pthread_mutex_destroy(&r->lock);
    free(r->target);
    free(r);
}

/* An MHD_NotifyConnectionCallback. */
static void see_connection(void *context, struct MHD_Connection *mhd, void **at, enum MHD_ConnectionNotificationCode code)
{
    http *h = context;
    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
        if (*at)
            http_connections_remove(&h->connections, *at);
        *at = NULL;
        return;
    }
    const int fd = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    const struct sockaddr *address = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CLIENT_ADDRESS)->client_addr;
    *at = http_connections_add(&h->connections, fd, address, h->options.header_timeout);
}

/* ---- the server -------------------------------------------------------------------------------------------------- */

static rapt_code start_daemon(http *h, rapt_error *err)
{
    const http_options *o = &h->options;
    const unsigned tls = o->tls_certificate ? MHD_USE_TLS : 0;
    const unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ITC | MHD_ALLOW_SUSPEND_RESUME | tls;
    const char *versions = "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"; /* RFC 8996 deprecates older versions */
    const struct MHD_OptionItem with_tls[] = {{MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)versions},
                                              {MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)o->tls_certificate},
                                              {MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)o->tls_key},
                                              {MHD_OPTION_END, 0, NULL}};
    const struct MHD_OptionItem none[] = {{MHD_OPTION_END, 0, NULL}};
    h->daemon = MHD_start_daemon(
        flags, 0, NULL, NULL, handle_request, h, MHD_OPTION_LISTEN_SOCKET, o->listener, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)(o->connections + HTTP_SPARE_CONNECTIONS), MHD_OPTION_STRICT_FOR_CLIENT, (int)http_check_is_strict(),
        MHD_OPTION_URI_LOG_CALLBACK, begin_request, h, MHD_OPTION_NOTIFY_COMPLETED, end_request, h,
        MHD_OPTION_NOTIFY_CONNECTION, see_connection, h, MHD_OPTION_ARRAY,
        tls ? with_tls : none, MHD_OPTION_END);
    if (h->daemon)
        return RAPT_OK;
    return rapt_fail(err, RAPT_ERR_VALUE, "libmicrohttpd does not start%s",
                     tls ? ": is the certificate or its key wrong?" : ": out of memory, or of file descriptors");
}

http *http_start(const http_options *options, rapt_error *err)
{
    http *h = calloc(1, sizeof *h);
    if (!h) {
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory");
        return NULL;
    }
    h->options = *options;
    if (http_connections_start(&h->connections, options->connections, options->per_address, err)) {
        free(h);
        return NULL;
    }
    if (start_daemon(h, err) == RAPT_OK)
        return h;
    http_connections_stop(&h->connections);
    free(h);
    return NULL;
}

void http_drain(http *h, bool deaf)
{
    atomic_store(&h->draining, true);
    if (deaf && !atomic_exchange(&h->deaf, true))
        MHD_quiesce_daemon(h->daemon);
}

size_t http_busy(const http *h)
{
    return atomic_load(&h->busy);
}

static void wake_request(http_request *r)
{
    http_request_wake(r);
}

void http_stop(http *h)
{
    if (!h)
        return;
    http_drain(h, true);
    atomic_store(&h->closing, true);
    http_connections_each(&h->connections, wake_request); /* libmicrohttpd would wait for suspended connections for ever */
    MHD_stop_daemon(h->daemon);
    http_connections_stop(&h->connections);
    free(h);
}

const char *serve_http_version(void)
{
    return MHD_get_version();
}
