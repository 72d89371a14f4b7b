/* serve/module/notify.h: tells systemd the server's state, without systemd's library. For server.c. */
#ifndef SERVE_MODULE_NOTIFY_H
#define SERVE_MODULE_NOTIFY_H

/* Sends "READY=1" or another state of sd_notify(3) to the socket that NOTIFY_SOCKET names; does nothing if it names none. */
void notify_send(const char *state);
/* Sends "RELOADING=1" and the time that systemd requires with it. */
void notify_send_reloading(void);

#endif
