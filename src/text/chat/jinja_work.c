/* text/chat/jinja_work.c: memory and limits of a template. Small blocks are cut from larger blocks of an arena, which would align
 * each to 64 bytes. */
#include "text/chat/jinja_value.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { WORK_BLOCK = 32 << 10, WORK_ALIGN = 16 };

void jinja_work_begin(jinja_work *w, const char *name, rapt_error *err)
{
    *w = (jinja_work){.name = name, .line = 1, .err = err, .most_memory = JINJA_MOST_MEMORY};
    arena_init(&w->memory, WORK_BLOCK);
}

void jinja_work_bound(jinja_work *w, size_t memory, rapt_stop_fn *stop, void *context)
{
    w->most_memory = memory > 0 && memory < JINJA_MOST_MEMORY ? memory : JINJA_MOST_MEMORY;
    w->stop = stop;
    w->context = context;
}

void jinja_work_end(jinja_work *w)
{
    arena_free(&w->memory);
}

void jinja_fail(jinja_work *w, const char *format, ...)
{
    char reason[400];
    va_list args;
    if (w->code)
        return;
    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    w->code = rapt_fail(w->err, RAPT_ERR_FORMAT, "%s:%u: %s", w->name, w->line, reason);
}

void jinja_no_memory(jinja_work *w)
{
    if (!w->code)
        w->code = rapt_fail(w->err, RAPT_ERR_MEMORY, "%s:%u: out of memory for a chat template", w->name, w->line);
}

void *jinja_alloc(jinja_work *w, size_t count, size_t size)
{
    if (w->code)
        return NULL;
    if (count > (w->most_memory - w->bytes) / size) {
        jinja_fail(w, "takes more than %zu MB of memory", w->most_memory >> 20);
        return NULL;
    }
    size_t bytes = (count * size + WORK_ALIGN) & ~(size_t)(WORK_ALIGN - 1); /* never 0 */
    w->bytes += bytes <= w->most_memory - w->bytes ? bytes : w->most_memory - w->bytes;
    if (bytes > w->left) {
        size_t block = bytes > WORK_BLOCK / 4 ? bytes : WORK_BLOCK;
        char *fresh = arena_alloc(&w->memory, block);
        if (!fresh) {
            jinja_no_memory(w);
            return NULL;
        }
        if (block == bytes)
            return fresh; /* the rest of the last block stays of use */
        w->at = fresh;
        w->left = block;
    }
    void *result = w->at;
    w->at += bytes;
    w->left -= bytes;
    return result;
}

static void work_ask(jinja_work *w)
{
    w->asked = w->steps;
    if (w->stop(w->context))
        w->code = rapt_fail(w->err, RAPT_ERR_INTERRUPTED, "%s:%u: the template was stopped", w->name, w->line);
}

bool jinja_step(jinja_work *w, size_t steps)
{
    if (!w->code && steps > JINJA_MOST_STEPS - w->steps)
        jinja_fail(w, "takes more than %d steps", JINJA_MOST_STEPS);
    if (w->code)
        return false;
    w->steps += steps;
    if (w->stop && w->steps - w->asked >= JINJA_STOP_STEPS)
        work_ask(w);
    return !w->code;
}

bool jinja_enter(jinja_work *w)
{
    w->depth++;
    if (w->depth > JINJA_MOST_DEPTH)
        jinja_fail(w, "nests deeper than %d levels", JINJA_MOST_DEPTH);
    return jinja_step(w, 1);
}

void jinja_leave(jinja_work *w)
{
    w->depth--;
}
