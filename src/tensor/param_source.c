/* tensor/param_source.c: reads rows of parameters when they are first needed. Each row has a flag that says whether it has been
 * read, so that threads that share a model need no lock afterwards. */
#include "tensor/param_source.h"

#include "base/thread.h"

#include <stdatomic.h>

#define RUN 64 /* rows that a thread reads at a time */

struct param_source {
    param_read_fn *read;
    param_leave_fn *leave;
    int type; /* as param_source_type */
    param_blocks_fn *blocks; /* finds stored blocks, or NULL */
    const void *context;
    rapt_tensor *value;
    size_t width; /* elements of a row */
    bool held;           /* as param_source_hold says */
    param_kept kept[2];  /* of W and W^T */
    thread_mutex *lock;  /* locked while rows are written */
    atomic_bool *there;  /* [rows] */
};

static bool row_is_there(const param_source *s, size_t row)
{
    return atomic_load_explicit(&s->there[row], memory_order_acquire);
}

/* Rows that are missing, and lie side by side. */
typedef struct missing_rows {
    param_source *s;
    size_t first, count;
} missing_rows;

static void read_missing_run(void *context, size_t chunk, int worker)
{
    const missing_rows *m = context;
    const size_t first = m->first + chunk * RUN, rest = m->first + m->count - first, count = rest < RUN ? rest : RUN;
    (void)worker;
    m->s->read(m->s->context, first, count, m->s->value->data + first * m->s->width);
    for (size_t i = 0; i < count; i++)
        atomic_store_explicit(&m->s->there[first + i], true, memory_order_release);
}

static void read_missing(missing_rows m, pool *threads)
{
    const size_t chunks = (m.count + RUN - 1) / RUN;
    if (threads)
        pool_run(threads, chunks, m.count * m.s->width, read_missing_run, &m);
    for (size_t i = 0; !threads && i < chunks; i++)
        read_missing_run(&m, i, 0);
}

/* The first row from `first` on that is there or not there, as `there` says; at most `end`. */
static size_t next_row_that_is(const param_source *s, bool there, size_t first, size_t end)
{
    while (first < end && row_is_there(s, first) != there)
        first++;
    return first;
}

void param_source_rows(const rapt_param *p, pool *threads, size_t first, size_t count)
{
    param_source *s = p->state->source;
    const size_t end = first + count;
    if (!s || next_row_that_is(s, false, first, end) == end)
        return;
    thread_lock(s->lock);
    for (size_t at = next_row_that_is(s, false, first, end), until; at < end; at = next_row_that_is(s, false, until, end)) {
        until = next_row_that_is(s, true, at, end);
        read_missing((missing_rows){s, at, until - at}, threads);
    }
    if (count == p->value.shape[0])
        param_source_leave(p); /* all is there */
    thread_unlock(s->lock);
}

/* A param_fetch_fn. */
static void param_source_fetch(const rapt_param *p, pool *threads, const int32_t *ids, size_t count)
{
    if (!ids)
        param_source_rows(p, threads, 0, p->value.shape[0]);
    for (size_t i = 0; ids && i < count; i++)
        param_source_rows(p, threads, (size_t)ids[i], 1);
}

void param_source_set(rapt_params *set, rapt_param *p, param_read_fn *read, param_leave_fn *leave, const void *context)
{
    const size_t rows = p->value.shape[0];
    param_source *s = rapt_params_alloc(set, 1, sizeof *s);
    thread_mutex *lock = rapt_params_alloc(set, 1, sizeof *lock);
    atomic_bool *there = rapt_params_alloc(set, rows, sizeof *there);
    if (!s || !lock || !there)
        return;
    thread_mutex_init(lock); /* is never freed: on these systems a mutex holds no resources */
    *s = (param_source){.read = read, .leave = leave, .context = context, .value = &p->value,
                        .width = rapt_tensor_size(&p->value) / rows, .lock = lock, .there = there};
    p->state->source = s;
    p->state->fetch = param_source_fetch;
}

void param_source_set_blocks(rapt_param *p, const block_format *format, param_blocks_fn *blocks)
{
    if (!p->state->source) /* out of memory */
        return;
    p->state->source->type = format->id;
    p->state->source->blocks = blocks;
}

void param_source_set_16_bits(rapt_param *p, int type)
{
    if (p->state->source)
        p->state->source->type = type;
}

int param_source_type(const rapt_param *p)
{
    return p->state->source ? p->state->source->type : 0;
}

const void *param_source_blocks(const rapt_param *p, size_t row)
{
    return p->state->source->blocks(p->state->source->context, row);
}

void param_source_read(const rapt_param *p, size_t first, size_t count, rapt_real *to)
{
    p->state->source->read(p->state->source->context, first, count, to);
}

void param_source_leave(const rapt_param *p)
{
    if (p->state->source->leave)
        p->state->source->leave(p->state->source->context);
}

void param_source_end(rapt_param *p)
{
    param_source_rows(p, NULL, 0, p->value.shape[0]);
    p->state->source = NULL;
    p->state->fetch = NULL;
}

void param_source_hold(const rapt_param *p)
{
    p->state->source->held = true;
}

bool param_source_is_held(const rapt_param *p)
{
    return p->state->source && p->state->source->held;
}

void param_source_keep(rapt_params *set, const rapt_param *p, const void *made_for, const size_t sizes[2])
{
    for (int turned = 0; turned < 2; turned++)
        p->state->source->kept[turned] = (param_kept){
            .made_for = made_for, .panels = rapt_params_alloc(set, sizes[turned], sizeof(rapt_real))};
}

param_kept *param_source_kept(const rapt_param *p, bool turned)
{
    param_source *s = p->state->source;
    return s && s->held && s->kept[turned].panels ? &s->kept[turned] : NULL;
}
