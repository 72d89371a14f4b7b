/* serve/module/log_queue.h: lines on their way to stderr. Nobody may read it: whoever logs does not wait, and what does not
 * fit is counted. For serve_log.c and server.c. */
#ifndef SERVE_MODULE_LOG_QUEUE_H
#define SERVE_MODULE_LOG_QUEUE_H

#include "rapt/base.h"

/* Starts the thread that writes, which calls `report` when there is room again after lines were lost: it puts a line that says
 * so. Before, and where there is no thread, lines are written by whoever has them. */
void log_queue_start(void (*report)(size_t lost));
/* A line with its line feed, from malloc, which is taken over. From any thread. */
void log_queue_put(char *line, size_t size);
/* Writes what is there, for a second at most. Lines from then on are lost. */
void log_queue_stop(void);

#endif
