/* serve/module/server_parts.h: how a server hears and tells of its state. For server.c. */
#ifndef SERVE_MODULE_SERVER_PARTS_H
#define SERVE_MODULE_SERVER_PARTS_H

#include "rapt/base.h"
#include "serve/module/listener.h"

/* ---- notify.c: tells systemd the server's state, without systemd's library. */

/* Sends "READY=1" or another state of sd_notify(3) to the socket that NOTIFY_SOCKET names; does nothing if it names none. */
void notify_send(const char *state);
/* Sends "RELOADING=1" and the time that systemd requires with it. */
void notify_send_reloading(void);

/* ---- server_signals.c: the signals of a server, as bytes of a pipe that the main thread waits for. */

/* Events since the last wait. */
typedef struct server_events {
    bool ends;     /* SIGTERM or SIGINT */
    bool reloads;  /* SIGHUP */
    bool reloaded; /* server_signals_wake_reloaded */
} server_events;

/* Makes the pipe. RAPT_ERR_IO. */
rapt_code server_signals_open(rapt_error *err);
/* From now on signals come here. The second SIGTERM or SIGINT removes the unix socket of `l`, which must last, and ends the
 * process with status 1 immediately, whatever its threads do. */
void server_signals_catch(const listener *l);
/* Any thread may call it: a reload has ended, or retired models must be freed. */
void server_signals_wake_reloaded(void);
void server_signals_wake(void *context);
/* Waits for at most `ms` (-1: for ever), or until there is something. */
server_events server_signals_wait(int ms);
void server_signals_close(void);

#endif
