/* base/stretches.c: works through parts in waves. While the threads work on one wave, one of them takes the results of the wave
 * before. For encoding and normalizing long texts. */
#include "base/stretches.h"

#include <stdlib.h>

enum { PARTS_A_THREAD = 2 }; /* in a wave: a thread that is done early finds more */

typedef struct wave {
    part *parts;
    size_t count;
} wave;

typedef struct parts_state {
    const parts *r;
    wave now, before; /* `before` waits to be taken */
    size_t at, room;  /* beginning of the next part; number of parts in a wave */
    rapt_code code;   /* the first failure of `take` */
    rapt_error *err;
} parts_state;

static void make_wave(parts_state *s)
{
    const parts *r = s->r;
    s->now.count = 0;
    while (s->now.count < s->room && s->at < r->end) {
        size_t end = r->end_of(r->context, s->at);
        if (end == s->at)
            return;
        part *p = &s->now.parts[s->now.count++];
        p->begin = s->at;
        p->end = s->at = end;
        p->out.size = p->more.size = 0;
        p->err = (rapt_error){0};
    }
}

static void take_wave(parts_state *s)
{
    for (size_t i = 0; i < s->before.count && !s->code; i++) {
        part *p = &s->before.parts[i];
        s->code = p->code ? rapt_fail(s->err, p->code, "%s", p->err.message) : s->r->take(s->r->context, p, s->err);
    }
}

/* Chunk 0 takes the wave before, if there is one. */
static void stretches_chunk(void *context, size_t chunk, int worker)
{
    parts_state *s = context;
    bool takes = s->before.count > 0;
    if (takes && chunk == 0) {
        take_wave(s);
        return;
    }
    part *p = &s->now.parts[chunk - takes];
    p->code = s->r->work(s->r->context, p, worker, &p->err);
}

static rapt_code run_waves(parts_state *s)
{
    for (;;) {
        make_wave(s);
        size_t chunks = s->now.count + (s->before.count > 0);
        if (chunks == 0)
            return RAPT_OK;
        if (stop_asked(s->r->stop))
            return rapt_fail(s->err, RAPT_ERR_INTERRUPTED, "stopped");
        pool_run(s->r->pool, chunks, SIZE_MAX, stretches_chunk, s);
        if (s->code)
            return s->code;
        wave taken = s->before;
        s->before = s->now;
        s->now = taken;
    }
}

static void wave_free(wave *w, size_t room)
{
    for (size_t i = 0; w->parts && i < room; i++) {
        buffer_free(&w->parts[i].out);
        buffer_free(&w->parts[i].more);
    }
    free(w->parts);
}

rapt_code stretches_run(const parts *r, size_t *reached, rapt_error *err)
{
    size_t threads = (size_t)pool_threads(r->pool);
    parts_state s = {.r = r, .at = r->begin, .room = threads > 1 ? PARTS_A_THREAD * threads : 1, .err = err};
    s.now.parts = calloc(s.room, sizeof *s.now.parts);
    s.before.parts = calloc(s.room, sizeof *s.before.parts);
    rapt_code code = s.now.parts && s.before.parts ? run_waves(&s) : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a text");
    wave_free(&s.now, s.room);
    wave_free(&s.before, s.room);
    if (reached)
        *reached = s.at;
    return code;
}
