/* serve/module/serve_metrics.h: counters and histograms of the server in Prometheus' text format. */
#ifndef SERVE_MODULE_SERVE_METRICS_H
#define SERVE_MODULE_SERVE_METRICS_H

#include "base/buffer.h"

#include <stddef.h>
#include <stdint.h>

typedef struct metrics metrics;

metrics *metrics_new(void); /* NULL: out of memory */
void metrics_free(metrics *m);

/* Any thread may call these. Counts a request that was answered: its route ("/v1/completions"), status and seconds. Routes that
 * are not in the routing table count as "other", and so do routes beyond the 64th, or if memory is exhausted. */
void metrics_answered(metrics *m, const char *route, int status, double seconds);
/* Counts the same request by the name of its key's owner; "" does not count. */
void metrics_owner_asked(metrics *m, const char *owner);
/* For generated texts: seconds to the first token, and from one token to the next. */
void metrics_first_token(metrics *m, const char *model, double seconds);
void metrics_next_token(metrics *m, const char *model, double seconds);
/* Code points of texts that were translated, and their sum since the start. */
void metrics_translated(metrics *m, size_t characters);
uint64_t metrics_translated_characters(metrics *m);

/* Adds all of that in Prometheus' text format, version 0.0.4. */
void metrics_write(metrics *m, buffer_writer *to);

/* ---- lines of that format, for gauges and counters that are kept elsewhere ---------------------------------------------- */

/* The two lines before the samples of a metric; `type`: "counter", "gauge", "histogram". */
void metrics_write_head(buffer_writer *to, const char *name, const char *type, const char *help);
/* Writes a sample `NAME{LABEL="VALUE"} number`, without a label if that is NULL. Numbers have the fewest digits that read
 * back. */
void metrics_write_sample(buffer_writer *to, const char *name, const char *label, const char *label_value, double number);

#endif
