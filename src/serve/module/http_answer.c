/* serve/module/http_answer.c: a whole body is handed over, or lent; a body in parts is read from the exchange as the client
 * takes it. */
#include "serve/module/http_parts.h"

#include "base/clock.h"

#include <math.h>
#include <stdlib.h>

enum { BLOCK = 16384, PACE = 64 << 10 };

/* Seconds from now until the client must have read the block of `size` bytes that it gets: at most send_timeout. From the time
 * when it lags on, it has send_timeout for all of the response, and a second more for every PACE bytes that it takes; otherwise
 * one that takes a block just in time would hold the memory of a long response for days. A client that keeps up may be as slow
 * as it likes: what it leaves is no more than servers keep that let the writer wait for the client. */
static double seconds_for(http_request *r, size_t size)
{
    const double now = clock_seconds(), whole = r->send_timeout;
    if (!exchange_lags(r->x))
        r->due = INFINITY;
    else
        r->due = r->due < INFINITY ? r->due + (double)size / PACE : now + whole;
    return r->due < now + whole ? r->due - now : whole;
}

/* An MHD_ContentReaderCallback. It returns 0 only when the connection is suspended: otherwise libmicrohttpd would call it again
 * and again. */
static ssize_t read_exchange(void *context, uint64_t position, char *to, size_t size)
{
    http_request *r = context;
    (void)position;
    for (;;) {
        bool end;
        if (exchange_is_dropped(r->x) || atomic_load(r->closing))
            return MHD_CONTENT_READER_END_WITH_ERROR;
        const size_t n = exchange_take(r->x, to, size, &end);
        r->sent += n;
        http_connections_allow(r->list, r->at, n || end ? seconds_for(r, n) : INFINITY);
        if (n)
            return (ssize_t)n;
        if (end)
            return MHD_CONTENT_READER_END_OF_STREAM;
        if (http_request_suspend(r))
            return 0;
    }
}

static void keep_bytes(void *context)
{
    (void)context;
}

/* It is nobody's memory, so that a slow client gets time by its size. */
static struct MHD_Response *held_response(http_request *r, exchange_held body)
{
    r->sent = body.size;
    http_connections_allow(r->list, r->at, r->send_timeout + (double)body.size / PACE);
    void (*release)(void *) = body.release ? body.release : keep_bytes;
    struct MHD_Response *response =
        MHD_create_response_from_buffer_with_free_callback_cls(body.size, (void *)body.bytes, release, body.context);
    if (!response)
        release(body.context);
    return response;
}

static struct MHD_Response *whole_response(http_request *r)
{
    exchange_held held;
    if (exchange_take_held(r->x, &held))
        return held_response(r, held);
    char *body = exchange_take_whole(r->x, &r->sent);
    http_connections_allow(r->list, r->at, r->send_timeout);
    struct MHD_Response *response = MHD_create_response_from_buffer(r->sent, body ? body : (void *)"",
                                                                    body ? MHD_RESPMEM_MUST_FREE : MHD_RESPMEM_PERSISTENT);
    if (!response)
        free(body);
    return response;
}

static bool add_response_fields(const http_request *r, struct MHD_Response *response, int status, const char *type)
{
    const char *name, *value;
    bool ok = MHD_add_response_header(response, "X-Request-Id", exchange_id(r->x)) == MHD_YES;
    for (size_t i = 0; exchange_response_header(r->x, i, &name, &value); i++)
        ok = ok && MHD_add_response_header(response, name, value) == MHD_YES;
    if (status != 204 && status != 304)
        ok = ok && MHD_add_response_header(response, "Content-Type", type) == MHD_YES &&
             MHD_add_response_header(response, "X-Content-Type-Options", "nosniff") == MHD_YES;
    if (r->last)
        ok = ok && MHD_add_response_header(response, "Connection", "close") == MHD_YES;
    return ok;
}

enum MHD_Result http_answer(http_request *r)
{
    const char *type;
    size_t size;
    const int status = exchange_status(r->x, &type);
    struct MHD_Response *response = exchange_is_whole(r->x, &size)
                                        ? whole_response(r)
                                        : MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, read_exchange, r, NULL);
    enum MHD_Result result = MHD_NO;
    if (response && add_response_fields(r, response, status, type))
        result = MHD_queue_response(r->mhd, (unsigned)status, response);
    if (response)
        MHD_destroy_response(response);
    return result;
}
