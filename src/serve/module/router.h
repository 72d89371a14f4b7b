/* serve/module/router.h: from a request to the function that answers it, apart from any socket, in two steps. For server.c. */
#ifndef SERVE_MODULE_ROUTER_H
#define SERVE_MODULE_ROUTER_H

#include "serve/module/app.h"

struct route;

/* What the header of a request decides, whose body is there: by the HTTP thread, in a time that no client decides. NULL: it is
 * answered; else the route that is to answer it by router_work, for which the exchange is held. */
const struct route *router_begin(app *a, exchange *x);
/* The rest, in a thread that may take its time. Lets go of the exchange, which is answered then, or later, by another thread. */
void router_work(app *a, exchange *x, const struct route *r);
/* Both. */
void router_answer(app *a, exchange *x);
/* The headers that a page of another origin needs, on any response to it: where the operator allows the origin. */
void router_allow_origin(app *a, exchange *x);

#endif
