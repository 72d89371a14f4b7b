/* serve/module/server.c: the server of serve.h from its start to its end: it joins the parts, and waits for signals. */
#define _GNU_SOURCE /* pipe2 */
#include "serve/serve.h"

#include "base/clock.h"
#include "base/file.h"
#include "serve/module/http.h"
#include "serve/module/listener.h"
#include "serve/module/serve_log.h"
#include "serve/module/notify.h"
#include "serve/module/refusal.h"
#include "serve/module/router.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { PEM_MAX = 1 << 20, FILES_OF_OURS = 40, CONNECTIONS_MIN = 4, DRAIN_STEP_MS = 20 };

typedef struct server {
    const serve_options *o;
    listener listener;
    app *app;
    http *http;
    char *certificate, *key;
} server;

/* ---- what wakes the thread that waits ---------------------------------------------------------------------------- */

/* A byte for each signal: 't' and 'h'; 's' to sweep. A handler has no context. */
static int run_pipe[2] = {-1, -1};

static void wake_run(char byte)
{
    const int reason = errno;
    (void)!write(run_pipe[1], &byte, 1); /* a full pipe wakes, too */
    errno = reason;
}

static void on_run_signal(int number)
{
    wake_run(number == SIGHUP ? 'h' : 't');
}

static void wake_to_sweep(void *context)
{
    (void)context;
    wake_run('s');
}

static void catch_run_signals(void)
{
    struct sigaction catch = {.sa_handler = on_run_signal, .sa_flags = SA_RESTART};
    sigemptyset(&catch.sa_mask);
    sigaction(SIGTERM, &catch, NULL);
    sigaction(SIGINT, &catch, NULL);
    sigaction(SIGHUP, &catch, NULL);
}

/* ---- requests, from the HTTP thread ------------------------------------------------------------------------------ */

static void answer_exchange(void *context, exchange *x)
{
    router_answer(((server *)context)->app, x);
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
    const char *route = report->x ? exchange_route(report->x) : NULL;
    serve_log_request(s->o->log, report);
    metrics_answered(app_metrics(s->app), route ? route : "other", serve_log_status(report), report->seconds);
}

/* ---- start ------------------------------------------------------------------------------------------------------- */

static rapt_code read_pem(const char *path, char **text, rapt_error *err)
{
    size_t size;
    return path ? file_read(path, PEM_MAX, text, &size, err) : RAPT_OK;
}

/* As many connections as were asked for, or as there can be descriptors for, beside the server's own files. */
static size_t connections_possible(const serve_options *o)
{
    const size_t spare = 64 + FILES_OF_OURS; /* libmicrohttpd takes 64 more, to refuse them */
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files))
        return o->connections;
    const rlim_t wanted = o->connections + spare;
    if (files.rlim_cur < wanted) {
        files.rlim_cur = files.rlim_max < wanted ? files.rlim_max : wanted;
        setrlimit(RLIMIT_NOFILE, &files);
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
                            .idle_timeout = o->idle_timeout, .send_timeout = o->send_timeout, .tls_certificate = s->certificate,
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
    rapt_code code = RAPT_OK;
    if (pipe2(run_pipe, O_CLOEXEC | O_NONBLOCK))
        code = rapt_fail(err, RAPT_ERR_IO, "no pipe: %s", strerror(errno));
    if (!code)
        code = read_pem(o->tls_cert, &s->certificate, err);
    if (!code)
        code = read_pem(o->tls_key, &s->key, err);
    if (!code)
        code = listener_open(&s->listener, o->host, (int)o->port, s->certificate != NULL, err);
    if (!code && !(s->app = app_new(o, wake_to_sweep, NULL, err)))
        code = err->code;
    catch_run_signals();
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

static void reload_server(const server *s)
{
    rapt_error err = {0};
    notify_send_reloading();
    if (app_reload(s->app, &err))
        serve_log_event(s->o->log, LOG_ERROR, "not reloaded; the models and keys stay: %s", err.message);
    else
        serve_log_event(s->o->log, LOG_INFO, "reloaded models and keys");
    notify_send("READY=1");
}

/* Waits for at most `ms` (-1: for ever) for what wakes this thread, and sweeps. Whether it is to end; *reload. */
static bool wait_for_signal(const server *s, int ms, bool *reload)
{
    struct pollfd p = {.fd = run_pipe[0], .events = POLLIN};
    char bytes[64];
    ssize_t size;
    bool ends = false;
    *reload = false;
    poll(&p, 1, ms);
    while ((size = read(run_pipe[0], bytes, sizeof bytes)) > 0)
        for (ssize_t i = 0; i < size; i++) {
            ends = ends || bytes[i] == 't';
            *reload = *reload || bytes[i] == 'h';
        }
    app_sweep(s->app);
    return ends;
}

/* Running requests are finished, as far as the time lasts; others are refused. A second signal ends the process. */
static void drain_server(server *s)
{
    const double until = clock_seconds() + s->o->drain;
    bool reload;
    notify_send("STOPPING=1");
    serve_log_event(s->o->log, LOG_INFO, "shutting down: %zu requests run", http_busy(s->http));
    app_drain(s->app);
    http_drain(s->http, s->listener.inherited);
    while (http_busy(s->http) && clock_seconds() < until)
        if (wait_for_signal(s, DRAIN_STEP_MS, &reload)) {
            serve_log_event(s->o->log, LOG_WARNING, "a second signal: %zu requests are cut off", http_busy(s->http));
            listener_close(&s->listener);
            _exit(1);
        }
    if (http_busy(s->http))
        serve_log_event(s->o->log, LOG_WARNING, "%zu requests are cut off after %g seconds", http_busy(s->http), s->o->drain);
}

static void stop_server(server *s)
{
    http_stop(s->http);
    app_free(s->app);
    listener_close(&s->listener);
    free(s->certificate);
    free(s->key);
    for (size_t i = 0; i < 2; i++)
        if (run_pipe[i] >= 0)
            close(run_pipe[i]);
    run_pipe[0] = run_pipe[1] = -1;
}

rapt_code serve_run(const serve_options *options, rapt_error *err)
{
    rapt_error own = {0};
    server s = {.o = options, .listener = {.fd = -1}};
    signal(SIGPIPE, SIG_IGN);
    rapt_code code = start_server(&s, &own);
    if (!code) {
        bool reload;
        while (!wait_for_signal(&s, -1, &reload))
            if (reload)
                reload_server(&s);
        drain_server(&s);
    }
    stop_server(&s);
    return code ? rapt_fail(err, code, "%s", own.message) : RAPT_OK;
}
