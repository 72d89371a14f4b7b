/* serve/module/routes.h: the routing table. For router.c. */
#ifndef SERVE_MODULE_ROUTES_H
#define SERVE_MODULE_ROUTES_H

#include "serve/module/app.h"

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
} route;

extern const route ROUTES[];
extern const size_t ROUTE_COUNT;

/* The routes of a path: the first one, and whether there is one with this method, *with_method. NULL: no such path. */
const route *routes_find(const char *method, const char *path, const route **with_method);
/* The methods of a path: "GET, HEAD, OPTIONS". */
void routes_methods(const char *path, char *text, size_t size);

#endif
