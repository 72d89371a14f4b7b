/* serve/module/server_signals.h: the signals of a server, as bytes of a pipe that the main thread waits for. For server.c. */
#ifndef SERVE_MODULE_SERVER_SIGNALS_H
#define SERVE_MODULE_SERVER_SIGNALS_H

#include "rapt/base.h"
#include "serve/module/listener.h"

/* What happened since the last wait. */
typedef struct server_events {
    bool ends;     /* SIGTERM or SIGINT */
    bool reloads;  /* SIGHUP */
    bool reloaded; /* server_signals_wake_reloaded */
} server_events;

/* Makes the pipe. RAPT_ERR_IO. */
rapt_code server_signals_open(rapt_error *err);
/* From now on signals come here. The second SIGTERM or SIGINT ends the process with status 1 at once, whatever its threads do,
 * and removes the unix socket of `l`, which must last. */
void server_signals_catch(const listener *l);
/* From any thread: a reload has ended, or what was retired is to be swept. */
void server_signals_wake_reloaded(void);
void server_signals_wake(void *context);
/* Waits for at most `ms` (-1: for ever), or until there is something. */
server_events server_signals_wait(int ms);
void server_signals_close(void);

#endif
