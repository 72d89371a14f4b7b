/* serve/module/http_exchange.c: two locks: `lock` guards the response; `transport_lock` is held while a function of the transport
 * runs, so that exchange_detach can wait for it. Code that needs both takes `transport_lock` first. */
#define _GNU_SOURCE 1 /* strdup */
#include "serve/module/http_exchange.h"

#include "serve/module/exchange_parts.h"

#include "base/system_random.h"

#include <stdio.h>
#include <string.h>

/* ---- the request ------------------------------------------------------------------------------------------------- */

const char *exchange_method(const exchange *x)
{
    return x->method;
}

const char *exchange_path(const exchange *x)
{
    return x->path;
}

const char *exchange_query(const exchange *x, const char *name)
{
    return field_list_find(&x->query, name, false);
}

bool exchange_query_at(const exchange *x, size_t i, const char **name, const char **value)
{
    if (i >= x->query.count)
        return false;
    *name = x->query.at[i].name;
    *value = x->query.at[i].value;
    return true;
}

const char *exchange_header(const exchange *x, const char *name)
{
    return field_list_find(&x->header, name, true);
}

const char *exchange_body(const exchange *x, size_t *size)
{
    *size = x->body.size;
    return x->body.data ? x->body.data : "";
}

const char *exchange_id(const exchange *x)
{
    return x->id;
}

const char *exchange_address(const exchange *x)
{
    return x->address;
}

bool exchange_set_header(exchange *x, const char *name, const char *value)
{
    return field_list_add(&x->header, name, strlen(name), value, strlen(value));
}

bool exchange_add_body(exchange *x, const char *bytes, size_t size)
{
    return buffer_append(&x->body, bytes, size);
}

void exchange_drop_body(exchange *x)
{
    buffer_free(&x->body);
}

exchange_work *exchange_work_of(exchange *x)
{
    return &x->work;
}

void exchange_set_address(exchange *x, const char *address)
{
    snprintf(x->address, sizeof x->address, "%s", address);
}

/* ---- lifetime ---------------------------------------------------------------------------------------------------- */

static void set_id(exchange *x)
{
    uint64_t number;
    if (!system_random(&number))
        number = (uint64_t)(uintptr_t)x; /* early at boot: it only has to tell requests apart */
    snprintf(x->id, sizeof x->id, "%016llx", (unsigned long long)number);
}

static void exchange_free(exchange *x)
{
    pthread_mutex_destroy(&x->lock);
    pthread_mutex_destroy(&x->transport_lock);
    field_list_free(&x->query);
    field_list_free(&x->header);
    field_list_free(&x->fields);
    field_list_free(&x->result_fields);
    buffer_free(&x->body);
    exchange_unread_free(&x->out);
    free(x->method);
    free(x->path);
    free(x->type);
    if (x->work.memory)
        admission_return(x->work.memory, &x->work.ticket);
    if (x->freed)
        x->freed(x->freed_context);
    free(x);
}

exchange *exchange_new(const char *method, const char *target, const exchange_transport *transport, void *context)
{
    exchange *x = calloc(1, sizeof *x);
    if (!x)
        return NULL;
    pthread_mutex_init(&x->lock, NULL);
    pthread_mutex_init(&x->transport_lock, NULL);
    x->holders = 1;
    x->transport = transport ? *transport : (exchange_transport){0};
    x->context = context;
    x->method = strdup(method);
    set_id(x);
    if (x->method && target_read(target, &x->path, &x->query))
        return x;
    exchange_free(x);
    return NULL;
}

/* ---- the transport, from any thread ------------------------------------------------------------------------------ */

static void wake_transport(exchange *x)
{
    pthread_mutex_lock(&x->transport_lock);
    if (!atomic_load(&x->detached) && x->transport.wake)
        x->transport.wake(x->context);
    pthread_mutex_unlock(&x->transport_lock);
}

void exchange_detach(exchange *x)
{
    pthread_mutex_lock(&x->transport_lock);
    atomic_store(&x->detached, true);
    pthread_mutex_unlock(&x->transport_lock);
}

bool exchange_is_dropped(exchange *x)
{
    pthread_mutex_lock(&x->lock);
    const bool dropped = x->dropped;
    pthread_mutex_unlock(&x->lock);
    return dropped;
}

bool exchange_gone(exchange *x)
{
    if (exchange_is_dropped(x))
        return true;
    pthread_mutex_lock(&x->transport_lock);
    const bool gone = atomic_load(&x->detached) || (x->transport.gone && x->transport.gone(x->context));
    pthread_mutex_unlock(&x->transport_lock);
    return gone;
}

/* ---- the response ------------------------------------------------------------------------------------------------ */

/* Unlocks, calls `done` if the response has ended, and wakes the transport. */
static void unlock_and_tell(exchange *x)
{
    void (*done)(void *) = x->ended || x->dropped ? x->done : NULL;
    void *context = x->done_context;
    if (done)
        x->done = NULL;
    pthread_mutex_unlock(&x->lock);
    if (done)
        done(context);
    wake_transport(x);
}

/* With the lock. False: it has begun before. */
static bool begin_locked(exchange *x, int status, const char *type)
{
    if (x->status || x->dropped)
        return false;
    x->status = status;
    x->type = strdup(type);
    return true;
}

static void add_field(exchange *x, field_list *list, const char *name, const char *value)
{
    pthread_mutex_lock(&x->lock);
    if (!x->status && !field_list_add(list, name, strlen(name), value, strlen(value)))
        x->dropped = true; /* out of memory: without the field the response could mean something else */
    pthread_mutex_unlock(&x->lock);
}

void exchange_add_header(exchange *x, const char *name, const char *value)
{
    add_field(x, &x->fields, name, value);
}

void exchange_add_result_header(exchange *x, const char *name, const char *value)
{
    add_field(x, &x->result_fields, name, value);
}

/* With the lock: ends the response. The memory for making it comes back, except for bytes that are not sent yet; in a response
 * in parts ADMISSION_SENDING counts what is more than EXCHANGE_UNREAD. */
static void end_locked(exchange *x)
{
    const size_t left = exchange_unread_memory(&x->out);
    x->ended = true;
    if (x->work.memory)
        admission_set(x->work.memory, &x->work.ticket, ADMISSION_MAKING,
                      x->whole || left < EXCHANGE_UNREAD ? left : EXCHANGE_UNREAD);
}

static void end_whole_locked(exchange *x)
{
    x->whole = true;
    end_locked(x);
}

/* Takes the body over. */
static void reply_whole(exchange *x, int status, const char *type, exchange_unread body)
{
    pthread_mutex_lock(&x->lock);
    if (begin_locked(x, status, type)) {
        x->out = body;
        body = (exchange_unread){.taken = 0};
        end_whole_locked(x);
    }
    unlock_and_tell(x);
    exchange_unread_free(&body);
}

void exchange_reply(exchange *x, int status, const char *type, const char *body, size_t size)
{
    exchange_unread copy = {.taken = 0};
    const bool copied = buffer_append(&copy.bytes, body, size);
    reply_whole(x, copied ? status : 500, type, copy);
}

void exchange_reply_with(exchange *x, int status, const char *type, char *body, size_t size)
{
    reply_whole(x, status, type, (exchange_unread){.bytes = {body, size, size}});
}

void exchange_reply_held(exchange *x, int status, const char *type, exchange_held body)
{
    reply_whole(x, status, type, (exchange_unread){.held = body});
}

void exchange_begin(exchange *x, int status, const char *type)
{
    pthread_mutex_lock(&x->lock);
    begin_locked(x, status, type);
    unlock_and_tell(x);
}

bool exchange_write(exchange *x, const char *bytes, size_t size)
{
    pthread_mutex_lock(&x->lock);
    if (x->status && !x->ended && !x->dropped && !exchange_unread_add(&x->out, &x->work, bytes, size))
        x->dropped = true;
    const bool ok = x->status && !x->ended && !x->dropped;
    unlock_and_tell(x);
    return ok && !atomic_load(&x->detached);
}

void exchange_end(exchange *x)
{
    pthread_mutex_lock(&x->lock);
    if (x->status && !x->ended)
        end_locked(x);
    unlock_and_tell(x);
}

void exchange_drop(exchange *x)
{
    pthread_mutex_lock(&x->lock);
    x->dropped = x->dropped || !x->ended;
    unlock_and_tell(x);
}

bool exchange_has_begun(const exchange *x)
{
    exchange *locked = (exchange *)x;
    pthread_mutex_lock(&locked->lock);
    const bool begun = x->status != 0;
    pthread_mutex_unlock(&locked->lock);
    return begun;
}

void exchange_at_end(exchange *x, void (*done)(void *context), void *context)
{
    pthread_mutex_lock(&x->lock);
    x->done = done;
    x->done_context = context;
    unlock_and_tell(x);
}

void exchange_at_free(exchange *x, void (*freed)(void *context), void *context, struct admission *memory)
{
    pthread_mutex_lock(&x->lock);
    x->freed = freed;
    x->freed_context = context;
    x->work.memory = memory;
    pthread_mutex_unlock(&x->lock);
}

void exchange_hold(exchange *x)
{
    pthread_mutex_lock(&x->lock);
    x->holders++;
    pthread_mutex_unlock(&x->lock);
}

/* With the lock: ends a response that no code is left to give. */
static void give_up_locked(exchange *x)
{
    static const char body[] = "no answer\n";
    if (!begin_locked(x, 500, "text/plain"))
        x->dropped = true;
    else {
        buffer_append(&x->out.bytes, body, sizeof body - 1); /* out of memory: the body is empty */
        end_whole_locked(x);
    }
}

void exchange_release(exchange *x)
{
    pthread_mutex_lock(&x->lock);
    if (x->holders == 2 && !atomic_load(&x->detached) && !x->ended && !x->dropped) {
        give_up_locked(x);
        unlock_and_tell(x); /* while it is still held */
        pthread_mutex_lock(&x->lock);
    }
    const size_t left = --x->holders;
    void (*done)(void *) = left == 0 ? x->done : NULL;
    pthread_mutex_unlock(&x->lock);
    if (done)
        done(x->done_context);
    if (left == 0)
        exchange_free(x);
}

/* ---- for transports ---------------------------------------------------------------------------------- */

int exchange_status(exchange *x, const char **type)
{
    pthread_mutex_lock(&x->lock);
    const int status = x->status;
    *type = x->type ? x->type : "text/plain";
    pthread_mutex_unlock(&x->lock);
    return status;
}

bool exchange_response_header(exchange *x, size_t i, const char **name, const char **value)
{
    pthread_mutex_lock(&x->lock);
    const bool first = i < x->fields.count;
    const field_list *list = first ? &x->fields : &x->result_fields;
    const size_t at = first ? i : i - x->fields.count;
    const bool there = first || (x->status < 400 && at < list->count);
    if (there) {
        *name = list->at[at].name;
        *value = list->at[at].value;
    }
    pthread_mutex_unlock(&x->lock);
    return there;
}

size_t exchange_take(exchange *x, char *to, size_t size, bool *end)
{
    pthread_mutex_lock(&x->lock);
    const size_t n = exchange_unread_take(&x->out, &x->work, to, size);
    *end = exchange_unread_size(&x->out) == 0 && x->ended;
    pthread_mutex_unlock(&x->lock);
    return n;
}

bool exchange_lags(exchange *x)
{
    pthread_mutex_lock(&x->lock);
    const bool lags = x->ended || exchange_unread_size(&x->out) > EXCHANGE_UNREAD;
    pthread_mutex_unlock(&x->lock);
    return lags;
}

bool exchange_is_whole(exchange *x, size_t *size)
{
    pthread_mutex_lock(&x->lock);
    const bool whole = x->whole;
    *size = exchange_unread_size(&x->out);
    pthread_mutex_unlock(&x->lock);
    return whole;
}

bool exchange_take_held(exchange *x, exchange_held *body)
{
    pthread_mutex_lock(&x->lock);
    *body = x->out.held;
    x->out.held = (exchange_held){0};
    pthread_mutex_unlock(&x->lock);
    return body->bytes;
}

char *exchange_take_whole(exchange *x, size_t *size)
{
    pthread_mutex_lock(&x->lock);
    char *body = x->out.bytes.data;
    *size = x->out.bytes.size;
    x->out = (exchange_unread){.taken = 0};
    pthread_mutex_unlock(&x->lock);
    return body;
}

const char *exchange_route(exchange *x)
{
    return x->route;
}

void exchange_set_route(exchange *x, const char *route)
{
    x->route = route;
}
