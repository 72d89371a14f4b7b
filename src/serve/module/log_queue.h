/* serve/module/log_queue.h: lines on their way to stderr. Possibly nobody reads it: so logging never waits, and lines that do not
 * fit are counted. For serve_log.c and server.c. */
#ifndef SERVE_MODULE_LOG_QUEUE_H
#define SERVE_MODULE_LOG_QUEUE_H

#include "rapt/base.h"

/* Starts the thread that writes. It calls `report` when there is room again after lines were lost, to put a line that says so.
 * Before that, or without a thread, log_queue_put itself writes. */
void log_queue_start(void (*report)(size_t lost));
/* Takes over a line with its line feed, from malloc. Any thread may call it. */
void log_queue_put(char *line, size_t size);
/* Writes the queued lines, for at most a second. Later lines are lost. */
void log_queue_stop(void);

#endif
