/* serve/module/ops.h: endpoints for operators and their tools: health, readiness, metrics, and the description of the
 * interface. */
#ifndef SERVE_MODULE_OPS_H
#define SERVE_MODULE_OPS_H

#include "serve/module/app.h"

/* GET /health: 200 as long as the process answers. */
app_route_fn ops_health;
/* GET /ready: 200 if requests are accepted; otherwise 503 with the reason. */
app_route_fn ops_ready;
/* GET /metrics: Prometheus' text format. */
app_route_fn ops_metrics;
/* GET /openapi.json: the interface of all routes. */
app_route_fn ops_openapi;

#endif
