/* serve/module/app.h: the state that all requests share, and the functions that answer them, without any socket. */
#ifndef SERVE_MODULE_APP_H
#define SERVE_MODULE_APP_H

#include "serve/module/http_exchange.h"
#include "serve/module/serve_metrics.h"
#include "serve/module/served.h"
#include "serve/module/site.h"

/* The operator's settings. */
typedef struct app_limits {
    size_t body;        /* bytes of a request's body */
    size_t texts;       /* texts or lines of a request */
    size_t max_tokens;  /* that a request may ask for; 0: the model's context */
    size_t n;           /* choices of a request, and hypotheses of a translation */
    size_t explain;     /* tokens of a text to explain; 0: /v1/explain is off */
    size_t queue;       /* requests that are worked on, wait, or are being answered; beyond them 503 */
    size_t memory;      /* the largest estimate of a request's memory that is admitted, in bytes */
} app_limits;

typedef struct app app;

/* A reference to the models that are served at present: to be released. */
served_set *app_models(app *a);
const app_limits *app_limits_of(const app *a);
metrics *app_metrics(app *a);
/* Schemas that requests have had lately; NULL: none are kept. */
struct schema_cache *app_schemas(app *a);
/* Glossaries that clients have made. A reload keeps them. */
struct glossaries *app_glossaries(app *a);
/* A reference to the page of the lesson, to be released (learn_page.h); NULL: there is none. */
struct learn_page *app_lesson(app *a);
/* Bytes that requests are expected to take at present, and the most of one so far. */
size_t app_memory(app *a, size_t *largest);
/* Whether requests are taken: not while it drains. */
bool app_is_ready(app *a);
/* Whether a key admits its owner, whose name `x` notes. Always true if no key is required. */
bool app_key_ok(app *a, exchange *x, const char *key);

/* A function of the routing table: `x` is answered when it returns, or held. */
typedef void app_route_fn(app *a, exchange *x);

/* ---- for the router: router.h ------------------------------------------------------------------------------------ */

/* Counts a request among those that run or wait, until its response is sent or its connection closed. NULL, or the reason for
 * refusing it (503), also while the server drains; *seconds: when there may be room. */
const char *app_enter(app *a, exchange *x, double *seconds);
/* Whether a request that names `host` (NULL: it names none) is for this server, by the rules of site.h. If a key is required,
 * every host is accepted: no page of another site has the key. */
bool app_has_host(app *a, const char *host);
/* Whether pages of an origin may call. */
bool app_allows_origin(const app *a, const char *origin);

/* ---- for server.c ------------------------------------------------------------------------------------------------ */

struct serve_options;

/* Loads the models and keys of the options, which must last. `wake` is called, from any thread, when app_sweep has something to
 * do. NULL with `err` set. */
app *app_new(const struct serve_options *o, void (*wake)(void *context), void *context, rapt_error *err);
/* Says who can reach the server's socket. Call it before the first request; until then it is SITE_LOOPBACK. */
void app_set_reach(app *a, site_reach reach);
/* Cancels running requests; no exchange may come after it. NULL is fine. */
void app_free(app *a);
/* Loads models, keys and the lesson's page again, all or none: after a failure the present ones stay. Requests that have begun
 * keep theirs. */
rapt_code app_reload(app *a, rapt_error *err);
/* Frees the models of earlier loads that no request uses any more, and gives the memory of large requests back to the system. */
void app_sweep(app *a);
/* From now on no requests are accepted. */
void app_drain(app *a);

#endif
