/* serve/module/routes.h: the routing table. For router.c. */
#ifndef SERVE_MODULE_ROUTES_H
#define SERVE_MODULE_ROUTES_H

#include "serve/module/app.h"

typedef enum route_access {
    ROUTE_KEY,         /* for owners of a key, where one is asked for */
    ROUTE_KEY_OR_FIELD, /* the key may be the field "api_key" of the body, as LibreTranslate has it */
    ROUTE_OPEN         /* for everybody */
} route_access;

typedef struct route {
    const char *method, *path; /* a path that ends in '*' stands for all that begin so */
    app_route_fn *answer;
    route_access access;
    bool counted; /* among the requests that the queue bounds: it computes */
} route;

extern const route ROUTES[];
extern const size_t ROUTE_COUNT;

/* The routes of a path: the first one, and whether there is one with this method, *with_method. NULL: no such path. */
const route *routes_find(const char *method, const char *path, const route **with_method);
/* "GET, HEAD, OPTIONS": what may be asked of a path. */
void routes_methods(const char *path, char *text, size_t size);

#endif
