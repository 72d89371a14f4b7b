/* serve/module/router.h: from a request to the function that answers it, apart from any socket: the table of routes, and two
 * steps. For server.c. */
#ifndef SERVE_MODULE_ROUTER_H
#define SERVE_MODULE_ROUTER_H

#include "serve/module/app.h"

/* ---- routes.c: the routing table. For router.c. */

typedef enum route_access {
    ROUTE_KEY,         /* for owners of a key, if keys are required */
    ROUTE_KEY_OR_FIELD, /* the key may be the field "api_key" of the body, as LibreTranslate has it */
    ROUTE_OPEN         /* for everybody */
} route_access;

/* The kind of work that an answer takes. */
typedef enum route_work {
    ROUTE_AT_ONCE,  /* no time that a client decides: the HTTP thread answers */
    ROUTE_COMPUTES, /* a worker reads its body, and mostly a model computes: it is among the requests that the queue bounds */
    ROUTE_READS     /* a worker reads its body, and that is all */
} route_work;

typedef struct route {
    const char *method, *path; /* a path that ends in '*' matches all paths with that beginning */
    app_route_fn *answer;
    route_access access;
    route_work work;
    size_t at_once; /* the HTTP thread itself answers bodies of up to this many bytes: waking a worker would take longer */
    const char *slow; /* a word that no body has which it answers; NULL: any body */
} route;

extern const route ROUTES[];
extern const size_t ROUTE_COUNT;

/* The routes of a path: the first one, and whether there is one with this method, *with_method. NULL: no such path. */
const route *routes_find(const char *method, const char *path, const route **with_method);
/* The methods of a path: "GET, HEAD, OPTIONS". */
void routes_methods(const char *path, char *text, size_t size);

/* ---- router.c: the steps */

/* Decides by the header of a request whose body is there. For the HTTP thread; its time does not depend on the client. NULL: the
 * request is answered; otherwise the route that answers it by router_work, and the exchange is held for that. */
const route *router_begin(app *a, exchange *x);
/* Does the rest, in a thread that may take long. Releases the exchange, which is answered by then, or later by another thread. */
void router_work(app *a, exchange *x, const route *r);
/* Both. */
void router_answer(app *a, exchange *x);
/* Adds the headers that a page of another origin needs on any response, if the operator allows the origin. */
void router_allow_origin(app *a, exchange *x);

#endif
