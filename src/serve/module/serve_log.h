/* serve/module/serve_log.h: lines on stderr about requests and the server, as JSON or text. Never texts of users, keys, or the
 * queries of targets. From any thread. */
#ifndef SERVE_MODULE_SERVE_LOG_H
#define SERVE_MODULE_SERVE_LOG_H

#include "serve/module/http.h"
#include "serve/serve.h"

/* From here on nobody waits for who reads stderr: lines that it has no room for are lost, and counted in one. */
void serve_log_start(serve_log format);
/* At the end: waits for a second at most for who reads. */
void serve_log_stop(void);

/* A request that is over. `status` as of serve_log_status. */
void serve_log_request(serve_log format, const http_report *report);
/* Where there was no answer: 499, as nginx has it, where the client hung up; 503 where the server ended first. */
int serve_log_status(const http_report *report);

typedef enum serve_log_level { LOG_INFO, LOG_WARNING, LOG_ERROR } serve_log_level;

/* What happened to the server itself; with SERVE_LOG_NONE errors only. */
RAPT_PRINTF(3, 4) void serve_log_event(serve_log format, serve_log_level level, const char *message, ...);

#endif
