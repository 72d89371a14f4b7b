/* serve/module/router.h: from a request to the function that answers it, apart from any socket. For server.c. */
#ifndef SERVE_MODULE_ROUTER_H
#define SERVE_MODULE_ROUTER_H

#include "serve/module/app.h"

/* Answers a request whose body is there, now or later, from another thread. Called by one thread at a time. */
void router_answer(app *a, exchange *x);
/* The headers that a page of another origin needs, on any response to it: where the operator allows the origin. */
void router_allow_origin(app *a, exchange *x);

#endif
