/* serve/module/ops.h: what operators and their tools ask: is it alive, does it take requests, how is it doing, what is its
 * interface. */
#ifndef SERVE_MODULE_OPS_H
#define SERVE_MODULE_OPS_H

#include "serve/module/app.h"

/* GET /health: 200 as long as the process answers. */
app_route_fn ops_health;
/* GET /ready: 200 where requests are taken; else 503 with what is missing. */
app_route_fn ops_ready;
/* GET /metrics: Prometheus' text format. */
app_route_fn ops_metrics;
/* GET /openapi.json: the interface of all routes. */
app_route_fn ops_openapi;

#endif
