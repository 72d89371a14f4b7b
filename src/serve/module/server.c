/* serve/module/server.c: the server of serve.h from its start to its end: it connects the parts and handles signals. */
#define _GNU_SOURCE 1 /* pthread, nanosleep */
#include "serve/serve.h"

#include "base/clock.h"
#include "base/file.h"
#include "serve/module/exchange_work.h"
#include "serve/module/http.h"
#include "serve/module/listener.h"
#include "serve/module/map_watch.h"
#include "serve/module/refusal.h"
#include "serve/module/router.h"
#include "serve/module/serve_log.h"
#include "serve/module/server_parts.h"
#include "serve/module/workers.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { PEM_MAX = 1 << 20, FILES_OF_OURS = 40, CONNECTIONS_MIN = 4, DRAIN_STEP_MS = 20, END_SECONDS = 1 };

typedef struct server {
    const serve_options *o;
    serve_options app_options; /* `o` with the options that were read again */
    const serve_reader *reader;
    listener listener;
    app *app;
    workers *workers;
    http *http;
    char *certificate, *key;
    pthread_t reload;
    atomic_bool reloads; /* the thread runs */
    bool reload_again;   /* another signal has come meanwhile */
    bool drains;         /* no more reloads */
} server;

/* ---- requests ---------------------------------------------------------------------------------------------------- */

/* From the HTTP thread. */
static void answer_exchange(void *context, exchange *x)
{
    const server *s = context;
    const struct route *left = router_begin(s->app, x);
    if (!left || workers_give(s->workers, x, left))
        return;
    refusal_reply_later(x, 503, "overloaded", "out of memory for the request", 1);
    exchange_release(x);
}

/* From a worker. */
static void work_on_exchange(void *context, exchange *x, const void *left)
{
    exchange_begin_work(x);
    if (exchange_gone(x))
        exchange_release(x);
    else
        router_work(((const server *)context)->app, x, left);
}

static void refuse_exchange(void *context, exchange *x, int status, const char *code, const char *message)
{
    router_allow_origin(((server *)context)->app, x);
    if (status == 503 || status == 429)
        refusal_reply_later(x, status, code, message, 1);
    else
        refusal_reply(x, status, code, message);
}

static void see_end(void *context, const http_report *report)
{
    const server *s = context;
    const char *path = report->x ? exchange_route(report->x) : NULL;
    serve_log_request(s->o->log, report);
    if (report->x)
        metrics_owner_asked(app_metrics(s->app), exchange_owner(report->x));
    metrics_answered(app_metrics(s->app), path ? path : "other", serve_log_status(report), report->seconds);
}

/* ---- start ------------------------------------------------------------------------------------------------------- */

static rapt_code read_pem(const char *path, char **text, rapt_error *err)
{
    size_t size;
    return path ? file_read(path, PEM_MAX, text, &size, err) : RAPT_OK;
}

/* The requested number of connections, or as many as there can be descriptors for, besides the server's own files. */
static size_t connections_possible(const serve_options *o)
{
    const size_t spare = HTTP_SPARE_CONNECTIONS + FILES_OF_OURS;
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files))
        return o->connections;
    const rlim_t wanted = o->connections + spare;
    if (files.rlim_cur < wanted) {
        const rlim_t before = files.rlim_cur;
        files.rlim_cur = files.rlim_max < wanted ? files.rlim_max : wanted;
        if (setrlimit(RLIMIT_NOFILE, &files)) /* a sandbox may forbid it */
            files.rlim_cur = before;
    }
    if (files.rlim_cur >= wanted)
        return o->connections;
    const size_t possible = files.rlim_cur > spare ? (size_t)files.rlim_cur - spare
                            : files.rlim_cur > FILES_OF_OURS / 2 ? ((size_t)files.rlim_cur - FILES_OF_OURS / 2) / 2 : 0;
    serve_log_event(o->log, LOG_WARNING, "%zu connections at once instead of %zu: the limit of open files is %llu",
              possible > CONNECTIONS_MIN ? possible : CONNECTIONS_MIN, o->connections, (unsigned long long)files.rlim_cur);
    return possible > CONNECTIONS_MIN ? possible : CONNECTIONS_MIN;
}

static rapt_code start_http(server *s, rapt_error *err)
{
    const serve_options *o = s->o;
    const http_options h = {.listener = s->listener.fd, .connections = connections_possible(o), .per_address = o->per_address,
                            .body = o->body, .header_timeout = o->header_timeout, .request_timeout = o->request_timeout,
                            .idle_timeout = o->idle_timeout, .send_timeout = o->send_timeout, .proxies = o->proxies.at,
                            .proxy_count = o->proxies.count, .tls_certificate = s->certificate,
                            .tls_key = s->key, .answer = answer_exchange, .refuse = refuse_exchange, .over = see_end,
                            .context = s};
    s->http = http_start(&h, err);
    return s->http ? RAPT_OK : err->code;
}

/* The address is taken first, so that a wrong one is not told after minutes of loading; clients come in last. */
static rapt_code start_server(server *s, rapt_error *err)
{
    const double start = clock_seconds();
    const serve_options *o = s->o;
    rapt_code code = server_signals_open(err);
    if (!code)
        code = read_pem(o->tls_cert, &s->certificate, err);
    if (!code)
        code = read_pem(o->tls_key, &s->key, err);
    if (!code)
        code = listener_open(&s->listener, o->host, (int)o->port, (unsigned)o->socket_mode, s->certificate != NULL, err);
    if (!code && !(s->app = app_new(&s->app_options, server_signals_wake, NULL, err)))
        code = err->code;
    if (!code && !(s->workers = workers_start(work_on_exchange, s, err)))
        code = err->code;
    server_signals_catch(&s->listener);
    if (!code)
        app_set_reach(s->app, s->listener.reach);
    if (!code)
        code = listener_listen(&s->listener, err);
    if (!code)
        code = start_http(s, err);
    if (code)
        return code;
    printf("listening on %s\n", s->listener.text);
    fflush(stdout);
    serve_log_event(o->log, LOG_INFO, "listening on %s after %.0f ms", s->listener.text, (clock_seconds() - start) * 1e3);
    notify_send("READY=1");
    return RAPT_OK;
}

/* ---- while it runs ----------------------------------------------------------------------------------------------- */

/* Takes the options that a load reads; all others stay as they were at the start. Borrowed. */
static void take_options(serve_options *to, const serve_options *from)
{
    to->models = from->models;
    to->model_count = from->model_count;
    to->all = from->all;
    to->batch = from->batch;
    to->chunk = from->chunk;
    to->no_prefix_cache = from->no_prefix_cache;
    to->no_replay = from->no_replay;
    to->api_key_file = from->api_key_file;
    to->lesson = from->lesson;
}

static rapt_code load_again(server *s, rapt_error *err)
{
    const serve_options before = s->app_options;
    const serve_options *again = s->reader ? s->reader->read(s->reader->context, err) : &before;
    if (!again)
        return err->code;
    take_options(&s->app_options, again);
    rapt_code code = app_reload(s->app, err);
    if (code)
        take_options(&s->app_options, &before);
    return code;
}

/* A load may take minutes, so it has its own thread: signals are handled meanwhile. */
static void *reload_server(void *context)
{
    server *s = context;
    rapt_error err = {0};
    notify_send_reloading();
    if (load_again(s, &err))
        serve_log_event(s->o->log, LOG_ERROR, "not reloaded; the models and keys stay: %s", err.message);
    else
        serve_log_event(s->o->log, LOG_INFO, "reloaded models and keys");
    notify_send("READY=1");
    server_signals_wake_reloaded();
    return NULL;
}

static void begin_reload(server *s)
{
    s->reload_again = s->reloads;
    if (s->reloads)
        return;
    s->reloads = pthread_create(&s->reload, NULL, reload_server, s) == 0;
    if (!s->reloads)
        serve_log_event(s->o->log, LOG_ERROR, "not reloaded: no thread for it");
}

static void end_reload(server *s)
{
    pthread_join(s->reload, NULL);
    s->reloads = false;
}

/* Waits at most `ms` (-1: for ever) for events, and handles them. Returns whether the server must end. */
static bool wait_for_signal(server *s, int ms)
{
    const server_events e = server_signals_wait(ms);
    app_sweep(s->app);
    if (e.reloaded) {
        end_reload(s);
        if (s->reload_again)
            begin_reload(s);
    }
    if (e.reloads && !s->drains)
        begin_reload(s);
    return e.ends;
}

/* Finishes running requests, as far as the time allows; refuses others. */
static void drain_server(server *s)
{
    const double until = clock_seconds() + s->o->drain;
    s->drains = true;
    s->reload_again = false;
    notify_send("STOPPING=1");
    serve_log_event(s->o->log, LOG_INFO, "shutting down: %zu requests run", http_busy(s->http));
    app_drain(s->app);
    http_drain(s->http, s->listener.inherited);
    while (http_busy(s->http) && clock_seconds() < until)
        wait_for_signal(s, DRAIN_STEP_MS);
    if (http_busy(s->http))
        serve_log_event(s->o->log, LOG_WARNING, "%zu requests are cut off after %g seconds", http_busy(s->http), s->o->drain);
}

/* ---- end --------------------------------------------------------------------------------------------------------- */

/* Work that cannot be interrupted, an explanation or a load, does not keep the process alive: its result is not needed any
 * more. */
static void *end_in_time(void *context)
{
    const server *s = context;
    const struct timespec grace = {.tv_sec = END_SECONDS};
    nanosleep(&grace, NULL);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    serve_log_event(s->o->log, LOG_WARNING, "ended while %s", s->reloads ? "models were loaded" : "a request was computed");
    listener_unlink(&s->listener);
    serve_log_stop();
    _exit(0);
}

static void stop_server(server *s)
{
    http_stop(s->http);
    workers_stop(s->workers);
    if (s->reloads)
        end_reload(s);
    app_free(s->app);
}

static void stop_server_in_time(server *s)
{
    pthread_t watch;
    const bool watched = pthread_create(&watch, NULL, end_in_time, s) == 0;
    stop_server(s);
    if (watched) {
        pthread_cancel(watch);
        pthread_join(watch, NULL);
    }
}

rapt_code serve_run(const serve_options *options, const serve_reader *again, rapt_error *err)
{
    rapt_error own = {0};
    server s = {.o = options, .app_options = *options, .reader = again, .listener = {.fd = -1}};
    signal(SIGPIPE, SIG_IGN);
    map_watch_install();
    serve_log_start(options->log);
    rapt_code code = start_server(&s, &own);
    if (!code) {
        while (!wait_for_signal(&s, -1))
            continue;
        drain_server(&s);
    }
    stop_server_in_time(&s);
    server_signals_close();
    listener_close(&s.listener);
    free(s.certificate);
    free(s.key);
    serve_log_stop();
    return code ? rapt_fail(err, code, "%s", own.message) : RAPT_OK;
}
