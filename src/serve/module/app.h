/* serve/module/app.h: what all requests share, and the functions that answer them: the router, apart from any socket. */
#ifndef SERVE_MODULE_APP_H
#define SERVE_MODULE_APP_H

#include "serve/module/exchange.h"
#include "serve/module/metrics.h"
#include "serve/module/served.h"

/* What the operator decides. */
typedef struct app_limits {
    size_t body;        /* bytes of a request's body */
    size_t texts;       /* texts or lines of a request */
    size_t max_tokens;  /* that a request may ask for; 0: the model's context */
    size_t n;           /* choices of a request, and hypotheses of a translation */
    size_t explain;     /* tokens of a text to explain; 0: /v1/explain is off */
    size_t queue;       /* requests that are worked on or wait; beyond them 503 */
} app_limits;

typedef struct app app;

/* A reference to the models that are served at present: to be released. */
served_set *app_models(app *a);
const app_limits *app_limits_of(const app *a);
metrics *app_metrics(app *a);
/* Whether requests are taken: not while it drains. */
bool app_is_ready(app *a);

/* Answers a request whose body is there, now or later, from another thread. Called by one thread at a time. */
void app_answer(app *a, exchange *x);

/* A function of the routing table: `x` is answered when it returns, or held. */
typedef void app_route_fn(app *a, exchange *x);

#endif
