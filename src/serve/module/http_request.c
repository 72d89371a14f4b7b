/* serve/module/http_request.c: suspends and wakes a request. */
#define _GNU_SOURCE /* POLLRDHUP */
#include "serve/module/http_parts.h"

#include "base/clock.h"

#include <poll.h>

#define LOOK_SECONDS 0.010 /* at least so long from one system call to the next: it is asked in each decoding step */

bool http_request_suspend(http_request *r)
{
    pthread_mutex_lock(&r->lock);
    const bool waits = !r->woken && !atomic_load(r->closing);
    r->woken = false;
    if (waits) {
        r->suspended = true;
        MHD_suspend_connection(r->mhd);
    }
    pthread_mutex_unlock(&r->lock);
    return waits;
}

void http_request_wake(void *request)
{
    http_request *r = request;
    pthread_mutex_lock(&r->lock);
    if (r->suspended) {
        r->suspended = false;
        MHD_resume_connection(r->mhd);
    } else
        r->woken = true;
    pthread_mutex_unlock(&r->lock);
}

/* libmicrohttpd does not look at a suspended connection. One whose other half is closed, by shutdown(SHUT_WR), looks the same. */
bool http_request_gone(void *request)
{
    http_request *r = request;
    struct pollfd p = {.fd = r->at->fd, .events = POLLRDHUP};
    const double now = clock_seconds();
    if (!r->gone && now >= r->looked + LOOK_SECONDS) {
        r->looked = now;
        r->gone = poll(&p, 1, 0) > 0 && (p.revents & (POLLRDHUP | POLLHUP | POLLERR));
    }
    return r->gone || atomic_load(r->closing);
}
