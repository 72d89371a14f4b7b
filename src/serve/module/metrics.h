/* serve/module/metrics.h: counters and histograms of the server in Prometheus' text format. */
#ifndef SERVE_MODULE_METRICS_H
#define SERVE_MODULE_METRICS_H

#include <stddef.h>

typedef struct metrics metrics;

metrics *metrics_new(void); /* NULL: out of memory */
void metrics_free(metrics *m);

/* From any thread. A request that was answered: its route ("/v1/completions"; others than those of the routing table count as
 * "other"), status and seconds. */
void metrics_answered(metrics *m, const char *route, int status, double seconds);
/* Of a text that was generated: seconds to its first token, and from one token to the next. */
void metrics_first_token(metrics *m, const char *model, double seconds);
void metrics_next_token(metrics *m, const char *model, double seconds);

#endif
