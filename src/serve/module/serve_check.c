/* serve/module/serve_check.c: asks a running server for its health, for `rapt serve --check`, because a container's HEALTHCHECK
 * has no curl and no shell. It sends a request of HTTP/1.0. */
#define _GNU_SOURCE /* SOCK_CLOEXEC */
#include "serve/module/ask_tls.h"
#include "serve/serve.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

enum { CHECK_SECONDS = 5 };

static int connect_with_timeout(int family, const struct sockaddr *to, socklen_t size)
{
    const struct timeval limit = {.tv_sec = CHECK_SECONDS};
    const int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return fd;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    if (connect(fd, to, size) == 0)
        return fd;
    const int reason = errno;
    close(fd);
    errno = reason;
    return -1;
}

/* A connection, or -1 with the reason. */
static int connect_to(const char *host, size_t port, const char **reason)
{
    if (strncmp(host, "unix:", 5) == 0) {
        struct sockaddr_un at = {.sun_family = AF_UNIX};
        *reason = "the path is longer than a unix socket's can be";
        if (snprintf(at.sun_path, sizeof at.sun_path, "%s", host + 5) >= (int)sizeof at.sun_path)
            return -1;
        const int fd = connect_with_timeout(AF_UNIX, (const struct sockaddr *)&at, sizeof at);
        *reason = strerror(errno);
        return fd;
    }
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    char service[16];
    int fd = -1;
    snprintf(service, sizeof service, "%zu", port);
    const int failure = getaddrinfo(host, service, &hints, &found);
    *reason = gai_strerror(failure);
    if (failure)
        return -1;
    for (const struct addrinfo *a = found; a && fd < 0; a = a->ai_next)
        fd = connect_with_timeout(a->ai_family, a->ai_addr, a->ai_addrlen);
    *reason = strerror(errno);
    freeaddrinfo(found);
    return fd;
}

static void ask_plain(int fd, const char *request, char *answer, size_t size)
{
    size_t got = 0;
    ssize_t n = send(fd, request, strlen(request), MSG_NOSIGNAL);
    while (n > 0 && got < size - 1 && (n = recv(fd, answer + got, size - 1 - got, 0)) > 0)
        got += (size_t)n;
    answer[got] = '\0';
}

rapt_code serve_check(const serve_options *o, rapt_error *err)
{
    static const char request[] = "GET /health HTTP/1.0\r\nHost: localhost\r\n\r\n";
    const bool local = strncmp(o->host, "unix:", 5) == 0;
    char answer[64] = "", where[300];
    rapt_code code = RAPT_OK;
    snprintf(where, sizeof where, local ? "%.255s" : "%.255s, port %zu", o->host, o->port);
    const char *reason = "";
    const int fd = connect_to(o->host, o->port, &reason);
    if (fd < 0)
        return rapt_fail(err, RAPT_ERR_IO, "no server at %s: %s", where, reason);
    if (o->tls_cert)
        code = serve_ask_tls(fd, request, answer, sizeof answer, err);
    else
        ask_plain(fd, request, answer, sizeof answer);
    close(fd);
    if (code)
        return code;
    int status = 0;
    sscanf(answer, "HTTP/1.%*1[01] %3d", &status);
    if (status == 200)
        return RAPT_OK;
    return status ? rapt_fail(err, RAPT_ERR_IO, "the server at %s answers %d", where, status)
                  : rapt_fail(err, RAPT_ERR_IO, "the server at %s does not answer within %d seconds", where, CHECK_SECONDS);
}
