/* serve/module/router.h: from a request to the function that answers it, apart from any socket, in two steps. For server.c. */
#ifndef SERVE_MODULE_ROUTER_H
#define SERVE_MODULE_ROUTER_H

#include "serve/module/app.h"

struct route;

/* Decides by the header of a request whose body is there. For the HTTP thread; its time does not depend on the client. NULL: the
 * request is answered; otherwise the route that answers it by router_work, and the exchange is held for that. */
const struct route *router_begin(app *a, exchange *x);
/* Does the rest, in a thread that may take long. Releases the exchange, which is answered by then, or later by another thread. */
void router_work(app *a, exchange *x, const struct route *r);
/* Both. */
void router_answer(app *a, exchange *x);
/* Adds the headers that a page of another origin needs on any response, if the operator allows the origin. */
void router_allow_origin(app *a, exchange *x);

#endif
