/* serve/module/listener.c: opens and closes the server's socket. */
#define _GNU_SOURCE /* SOCK_CLOEXEC */
#include "serve/module/listener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 1024, FIRST_INHERITED = 3 };

static rapt_code fail_listening(const char *where, rapt_error *err)
{
    return rapt_fail(err, RAPT_ERR_IO, "cannot listen on %s: %s", where, strerror(errno));
}

/* ---- of systemd -------------------------------------------------------------------------------------------------- */

static long number_of_variable(const char *name)
{
    const char *text = getenv(name);
    char *end;
    const long number = text ? strtol(text, &end, 10) : 0;
    return text && *text && !*end ? number : 0;
}

/* Whether systemd has opened sockets for this process. The variables are not for its children. */
static rapt_code inherit_socket(listener *l, bool *inherited, rapt_error *err)
{
    const long pid = number_of_variable("LISTEN_PID"), count = number_of_variable("LISTEN_FDS");
    int listens = 0;
    socklen_t size = sizeof listens;
    *inherited = pid == (long)getpid() && count > 0;
    if (!*inherited)
        return RAPT_OK;
    unsetenv("LISTEN_PID");
    unsetenv("LISTEN_FDS");
    unsetenv("LISTEN_FDNAMES");
    if (count > 1)
        return rapt_fail(err, RAPT_ERR_VALUE, "LISTEN_FDS: %ld sockets; rapt serve listens on one", count);
    if (getsockopt(FIRST_INHERITED, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) || !listens)
        return rapt_fail(err, RAPT_ERR_IO, "LISTEN_FDS: file descriptor %d is no socket that listens", FIRST_INHERITED);
    fcntl(FIRST_INHERITED, F_SETFD, FD_CLOEXEC);
    fcntl(FIRST_INHERITED, F_SETFL, fcntl(FIRST_INHERITED, F_GETFL) | O_NONBLOCK);
    l->fd = FIRST_INHERITED;
    l->inherited = true;
    return RAPT_OK;
}

/* ---- unix sockets ------------------------------------------------------------------------------------------------ */

/* Whether a unix socket exists on which no server listens any more, because it was killed. */
static bool is_stale(const struct sockaddr_un *at)
{
    struct stat is;
    if (lstat(at->sun_path, &is) || !S_ISSOCK(is.st_mode))
        return false;
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool stale = fd >= 0 && connect(fd, (const struct sockaddr *)at, sizeof *at) != 0 && errno == ECONNREFUSED;
    if (fd >= 0)
        close(fd);
    return stale;
}

static rapt_code open_unix(listener *l, const char *path, unsigned mode, rapt_error *err)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    struct stat is;
    if (!*path || strlen(path) >= sizeof at.sun_path)
        return rapt_fail(err, RAPT_ERR_VALUE, "unix:%s: the path of a unix socket has 1 to %zu bytes", path,
                         sizeof at.sun_path - 1);
    strcpy(at.sun_path, path);
    l->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (l->fd < 0)
        return fail_listening(path, err);
    if (bind(l->fd, (const struct sockaddr *)&at, sizeof at)) {
        if (errno != EADDRINUSE || !is_stale(&at) || unlink(path) || bind(l->fd, (const struct sockaddr *)&at, sizeof at))
            return fail_listening(path, err);
    }
    if ((mode && chmod(path, mode)) || stat(path, &is))
        return fail_listening(path, err);
    if (!(l->path = strdup(path)))
        return rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory", path);
    l->device = is.st_dev;
    l->inode = is.st_ino;
    return RAPT_OK;
}

/* ---- addresses --------------------------------------------------------------------------------------------------- */

static int bind_address(const struct addrinfo *a)
{
    const int one = 1, fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return fd;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one); /* connections of a server that has ended may linger */
    if (bind(fd, a->ai_addr, a->ai_addrlen) == 0)
        return fd;
    const int reason = errno;
    close(fd);
    errno = reason;
    return -1;
}

static rapt_code open_address(listener *l, const char *host, int port, rapt_error *err)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    char service[16], where[256];
    snprintf(service, sizeof service, "%d", port);
    snprintf(where, sizeof where, "%s, port %d", host, port);
    const int failure = getaddrinfo(host, service, &hints, &found);
    if (failure)
        return rapt_fail(err, RAPT_ERR_IO, "cannot listen on %s: %s", where, gai_strerror(failure));
    for (const struct addrinfo *a = found; a && l->fd < 0; a = a->ai_next)
        l->fd = bind_address(a);
    freeaddrinfo(found);
    return l->fd < 0 ? fail_listening(where, err) : RAPT_OK;
}

static bool is_loopback(const struct sockaddr_storage *at)
{
    const struct in6_addr *six = &((const struct sockaddr_in6 *)(const void *)at)->sin6_addr;
    if (at->ss_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)(const void *)at)->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
    return at->ss_family == AF_INET6 &&
           (IN6_IS_ADDR_LOOPBACK(six) || (IN6_IS_ADDR_V4MAPPED(six) && six->s6_addr[12] == IN_LOOPBACKNET));
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

static void describe_listener(listener *l, bool tls)
{
    struct sockaddr_storage at = {0};
    socklen_t size = sizeof at;
    char host[NI_MAXHOST], port[NI_MAXSERV];
    getsockname(l->fd, (struct sockaddr *)&at, &size);
    l->reach = at.ss_family == AF_UNIX ? SITE_SOCKET : is_loopback(&at) ? SITE_LOOPBACK : SITE_NETWORK;
    if (at.ss_family == AF_UNIX) {
        const char *path = ((const struct sockaddr_un *)(const void *)&at)->sun_path;
        snprintf(l->text, sizeof l->text, "unix:%.*s", (int)(size - sizeof at.ss_family), path);
    } else if (getnameinfo((const struct sockaddr *)&at, size, host, sizeof host, port, sizeof port,
                           NI_NUMERICHOST | NI_NUMERICSERV) == 0)
        snprintf(l->text, sizeof l->text, at.ss_family == AF_INET6 ? "%s://[%.64s]:%s" : "%s://%.64s:%s", tls ? "https" : "http",
                 host, port);
}

rapt_code listener_open(listener *l, const char *host, int port, unsigned mode, bool tls, rapt_error *err)
{
    bool inherited;
    *l = (listener){.fd = -1};
    rapt_code code = inherit_socket(l, &inherited, err);
    if (!code && !inherited)
        code = strncmp(host, "unix:", 5) == 0 ? open_unix(l, host + 5, mode, err) : open_address(l, host, port, err);
    if (code)
        listener_close(l);
    else
        describe_listener(l, tls);
    return code;
}

rapt_code listener_listen(const listener *l, rapt_error *err)
{
    return l->inherited || listen(l->fd, BACKLOG) == 0 ? RAPT_OK : fail_listening(l->text, err);
}

void listener_unlink(const listener *l)
{
    struct stat is;
    if (l->path && stat(l->path, &is) == 0 && is.st_dev == l->device && is.st_ino == l->inode)
        unlink(l->path);
}

void listener_close(listener *l)
{
    listener_unlink(l);
    free(l->path);
    l->path = NULL;
    if (l->fd >= 0)
        close(l->fd);
    l->fd = -1;
}
