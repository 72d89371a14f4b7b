/* serve/module/notify.h: what systemd is told of the server's state, without its library. For server.c. */
#ifndef SERVE_MODULE_NOTIFY_H
#define SERVE_MODULE_NOTIFY_H

/* Sends "READY=1" or the like, as sd_notify(3) says, to the socket that NOTIFY_SOCKET names; nothing where it names none. */
void notify_send(const char *state);
/* "RELOADING=1", with the time that systemd asks for beside it. */
void notify_send_reloading(void);

#endif
