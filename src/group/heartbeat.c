/* group/heartbeat.c: sends and receives signs of life. Its messages are not counted as data. They hold numbers, not times: a time
 * that is passed on lacks the duration of the message, and would make a dead rank younger with each rank that passes it on; a
 * number that does not rise is no news, whoever repeats it. */
#include "group/group_core.h"

#include <stdlib.h>
#include <string.h>

#define HEARTBEAT_PARTNERS 62
#define HEARTBEAT_LAST 0 /* as the sender's own number: no further message comes; as another rank's: nothing was heard yet */

/* Sends to the rank a distance ahead, receives from the rank the same distance behind. */
typedef struct heartbeat_partner {
    int to, from;
    int sending, receiving; /* requests; -1: none */
    uint32_t *out, *in;     /* [size]: the newest number known of each rank */
    bool said_last, heard_last;
} heartbeat_partner;

struct heartbeat {
    rapt_transport transport;
    int rank, size, partners;
    double wait, period; /* seconds */
    double polled;       /* when it was polled last */
    double next;         /* when the next messages are due */
    bool leaving;
    double *heard;      /* [size]: when the number of each rank was last seen to rise */
    uint32_t *numbers;  /* [size]: the newest known; a rank raises its own with each message to its partners, past 0 */
    uint32_t *messages; /* messages of all partners */
    heartbeat_partner partner[HEARTBEAT_PARTNERS];
};

/* Powers of two in both directions, each distance once: two ranks that are partners hear each other. */
static void add_partner(heartbeat *h, int distance)
{
    int to = (h->rank + distance) % h->size, from = (h->rank + h->size - distance) % h->size;
    for (int k = 0; k < h->partners; k++)
        if (h->partner[k].to == to)
            return;
    h->partner[h->partners++] = (heartbeat_partner){.to = to, .from = from, .sending = -1, .receiving = -1};
}

/* The memory of times and messages. */
static bool heartbeat_allocate(heartbeat *h)
{
    size_t size = (size_t)h->size;
    h->heard = malloc(size * sizeof *h->heard);
    h->numbers = calloc(size, sizeof *h->numbers);
    h->messages = calloc(2 * size * (size_t)h->partners + 1, sizeof *h->messages);
    for (int k = 0; k < h->partners && h->messages; k++) {
        h->partner[k].out = h->messages + 2 * size * (size_t)k;
        h->partner[k].in = h->partner[k].out + size;
    }
    return h->heard && h->numbers && h->messages;
}

heartbeat *heartbeat_new(const rapt_transport *transport, int rank, int size, double wait, double now, rapt_error *err)
{
    heartbeat *h = calloc(1, sizeof *h);
    if (h) {
        h->transport = *transport;
        h->rank = rank, h->size = size;
        h->wait = wait, h->period = wait / 32 < 1 ? wait / 32 : 1;
        h->polled = h->next = now;
    }
    for (int distance = 1; h && distance < size; distance *= 2) {
        add_partner(h, distance);
        add_partner(h, size - distance);
    }
    if (!h || !heartbeat_allocate(h)) {
        heartbeat_free(h);
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a group of %d ranks", size);
        return NULL;
    }
    for (int r = 0; r < size; r++)
        h->heard[r] = now;
    return h;
}

void heartbeat_free(heartbeat *h)
{
    if (h) {
        free(h->heard);
        free(h->numbers);
        free(h->messages);
    }
    free(h);
}

/* ---- messages --------------------------------------------------------------------------------------------- */

static rapt_code send_beat(heartbeat *h, heartbeat_partner *p, rapt_error *err)
{
    memcpy(p->out, h->numbers, (size_t)h->size * sizeof *p->out);
    if (h->leaving)
        p->out[h->rank] = HEARTBEAT_LAST;
    p->said_last = h->leaving;
    return h->transport.send(h->transport.context, p->to, HEARTBEAT_TAG, p->out, (size_t)h->size * sizeof *p->out,
                             &p->sending, err);
}

/* Numbers start again after the largest one: a newer one is less than half of them ahead. */
static void take_news(heartbeat *h, heartbeat_partner *p, double now)
{
    p->heard_last = p->in[p->from] == HEARTBEAT_LAST;
    for (int r = 0; r < h->size; r++) {
        const uint32_t ahead = p->in[r] - h->numbers[r];
        if (p->in[r] == 0 || ahead == 0 || ahead > INT32_MAX)
            continue;
        h->numbers[r] = p->in[r];
        h->heard[r] = now;
    }
}

static rapt_code poll_receiving(heartbeat *h, heartbeat_partner *p, double now, rapt_error *err)
{
    bool done = false;
    rapt_code code = RAPT_OK;
    if (p->receiving >= 0)
        code = h->transport.test(h->transport.context, p->receiving, &done, err);
    if (code == RAPT_OK && done) {
        p->receiving = -1;
        take_news(h, p, now);
    }
    if (code == RAPT_OK && p->receiving < 0 && !p->heard_last)
        code = h->transport.receive(h->transport.context, p->from, HEARTBEAT_TAG, p->in, (size_t)h->size * sizeof *p->in,
                                    &p->receiving, err);
    return code;
}

static rapt_code poll_sending(heartbeat *h, heartbeat_partner *p, bool due, rapt_error *err)
{
    bool done = false;
    rapt_code code = RAPT_OK;
    if (p->sending >= 0)
        code = h->transport.test(h->transport.context, p->sending, &done, err);
    if (code == RAPT_OK && done)
        p->sending = -1;
    if (code == RAPT_OK && p->sending < 0 && !p->said_last && (due || h->leaving))
        code = send_beat(h, p, err);
    return code;
}

/* ---- life ------------------------------------------------------------------------------------------------- */

/* After a pause, when this process was stopped or got no processor, this rank knows nothing about the others, because their
 * messages have not been received. */
static void forgive_pause(heartbeat *h, double now)
{
    double pause = now - h->polled;
    for (int r = 0; r < h->size && pause > 2 * h->period; r++)
        h->heard[r] += pause;
    h->polled = now;
}

rapt_code heartbeat_poll(heartbeat *h, double now, rapt_error *err)
{
    bool due = now >= h->next;
    rapt_code code = RAPT_OK;
    if (now - h->polled < h->period / 4 && !h->leaving)
        return RAPT_OK;
    forgive_pause(h, now);
    h->heard[h->rank] = now;
    if (due && ++h->numbers[h->rank] == 0)
        h->numbers[h->rank] = 1;
    for (int k = 0; k < h->partners && code == RAPT_OK; k++) {
        code = poll_receiving(h, &h->partner[k], now, err);
        if (code == RAPT_OK)
            code = poll_sending(h, &h->partner[k], due, err);
    }
    if (due)
        h->next = now + h->period;
    return code;
}

int heartbeat_lost(const heartbeat *h, double now, int *others)
{
    int oldest = h->rank, silent = 0;
    for (int r = 0; r < h->size; r++) {
        if (h->heard[r] < h->heard[oldest])
            oldest = r;
        silent += r != h->rank && now - h->heard[r] > h->wait / 2;
    }
    if (oldest == h->rank || now - h->heard[oldest] < h->wait)
        return -1;
    *others = silent - 1;
    return oldest;
}

void heartbeat_leave(heartbeat *h)
{
    h->leaving = true;
}

bool heartbeat_left(const heartbeat *h)
{
    for (int k = 0; k < h->partners; k++) {
        const heartbeat_partner *p = &h->partner[k];
        if (!p->said_last || !p->heard_last || p->sending >= 0 || p->receiving >= 0)
            return false;
    }
    return true;
}

double heartbeat_pause(const heartbeat *h)
{
    return h->period / 4;
}
