/* serve/module/serve_log.h: lines on stderr about requests and the server, as JSON or text. Never texts of users, keys, or the
 * queries of targets. From any thread. */
#ifndef SERVE_MODULE_SERVE_LOG_H
#define SERVE_MODULE_SERVE_LOG_H

#include "rapt/base.h"

#include "serve/module/http.h"
#include "serve/serve.h"

/* From now on logging does not wait for the reader of stderr: lines for which there is no room are lost, and one line reports
 * their number. */
void serve_log_start(serve_log format);
/* At the end: waits at most a second for the reader. */
void serve_log_stop(void);

/* A request that is over. `status` as of serve_log_status. */
void serve_log_request(serve_log format, const http_report *report);
/* The status to log. Without an answer: 499, as in nginx, if the client hung up; 503 if the server ended first. */
int serve_log_status(const http_report *report);

typedef enum serve_log_level { LOG_INFO, LOG_WARNING, LOG_ERROR } serve_log_level;

/* Logs an event of the server itself; with SERVE_LOG_NONE, only errors. */
RAPT_PRINTF(3, 4) void serve_log_event(serve_log format, serve_log_level level, const char *message, ...);

/* ---- log_queue.c: lines on their way to stderr. Possibly nobody reads it: so logging never waits, and lines that do not fit are
 * counted. For serve_log.c and server.c. */

/* Starts the thread that writes. It calls `report` when there is room again after lines were lost, to put a line that says so.
 * Before that, or without a thread, log_queue_put itself writes. */
void log_queue_start(void (*report)(size_t lost));
/* Takes over a line with its line feed, from malloc. Any thread may call it. */
void log_queue_put(char *line, size_t size);
/* Writes the queued lines, for at most a second. Later lines are lost. */
void log_queue_stop(void);

#endif
