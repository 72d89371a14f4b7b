/* serve/module/listener.h: the socket that a server listens on: an address and port, a unix socket, or one that systemd has
 * opened (sd_listen_fds(3)). For server.c. */
#ifndef SERVE_MODULE_LISTENER_H
#define SERVE_MODULE_LISTENER_H

#include "rapt/base.h"
#include "serve/module/site.h"

#include <sys/types.h>

typedef struct listener {
    int fd;
    bool inherited; /* from systemd: it still listens when this process has ended */
    site_reach reach;
    char text[256]; /* "http://127.0.0.1:8080", "unix:/run/rapt.sock" */
    char *path;     /* path of a unix socket that is removed at the end, or NULL */
    dev_t device;   /* the file that the path named when it was made: another server may have replaced it */
    ino_t inode;
} listener;

/* Opens the socket without listening yet, so that clients of a server that still loads are refused instead of waiting. `host`:
 * "127.0.0.1", a name, or "unix:PATH", whose socket is replaced if no server listens on it; port 0: any. If LISTEN_FDS says that
 * systemd has opened a socket, that one is used. `mode`: permissions of a unix socket before anybody can connect; 0: by the
 * umask. RAPT_ERR_IO: in use, no permission, no such host. */
rapt_code listener_open(listener *l, const char *host, int port, unsigned mode, bool tls, rapt_error *err);
rapt_code listener_listen(const listener *l, rapt_error *err);
/* Removes the unix socket, if it is still this server's. A handler of signals may call it. */
void listener_unlink(const listener *l);
/* Closes it, and removes the unix socket. */
void listener_close(listener *l);

#endif
