/* decode/translate.c: the translator: lines of text in (translate_text.c), batches by length (segment_runs.c) on threads,
 * translations out. For the program and for C programs. */
#include "decode/translate.h"

#include "decode/translator_weights.h"
#include "nn/pack.h"
#include "tape/tape_core.h"
#include "tensor/params.h"

#include <stdlib.h>
#include <string.h>

/* ---- the translator ----------------------------------------------------------------------------------------------- */

static rapt_code translate_set_up_thread(rapt_translator *t, int i, rapt_error *err)
{
    const rapt_translate_options *o = &t->setup.o;
    const rapt_tape_options options = {.threads = 1, .precision = o->precision, .weights = o->weights};
    t->batches[i].setup = &t->setup;
    t->tapes[i] = tape_new_of_pool(&options, i == t->threads ? t->pool : NULL, err);
    return t->tapes[i] ? RAPT_OK : RAPT_ERR_MEMORY;
}

static rapt_code translate_set_up(rapt_translator *t, rapt_error *err)
{
    t->pool = pool_new(t->setup.o.threads, err);
    t->threads = t->pool ? pool_threads(t->pool) : 0;
    t->tape_count = t->threads > 1 ? t->threads + 1 : t->threads;
    t->tapes = calloc((size_t)t->tape_count + 1, sizeof *t->tapes);
    t->batches = calloc((size_t)t->tape_count + 1, sizeof *t->batches);
    if (!t->pool || !t->tapes || !t->batches)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory to translate");
    for (int i = 0; i < t->tape_count; i++)
        if (translate_set_up_thread(t, i, err))
            return err ? err->code : RAPT_ERR_MEMORY;
    params_sync(t->setup.m->params, t->pool); /* the model may be in training; from here on it is only read */
    t->packed = pack_transformer(t->setup.m->translation.net, t->tapes[0], t->pool, err);
    for (int i = 0; i < t->tape_count; i++)
        tape_use_packed(t->tapes[i], t->packed);
    return t->packed ? RAPT_OK : RAPT_ERR_MEMORY;
}

/* Encodes the options' prefix, for all runs that have no other. */
static rapt_code translate_set_prefix(rapt_translator *t, rapt_error *err)
{
    const char *prefix = t->setup.o.prefix;
    t->setup.o.prefix = NULL; /* it doesn't last */
    return prefix ? prefixes_encode(&t->prefix, t->setup.m, &t->setup.lang.policy, &prefix, 1, err) : RAPT_OK;
}

rapt_translator *rapt_translator_new(const rapt_model *m, const rapt_translate_options *options, rapt_error *err)
{
    rapt_translator *t = calloc(1, sizeof *t);
    if (!t) {
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory to translate");
        return NULL;
    }
    if (translate_setup_init(&t->setup, m, options, err) == RAPT_OK && translate_set_prefix(t, err) == RAPT_OK &&
        translate_set_up(t, err) == RAPT_OK)
        return t;
    rapt_translator_free(t);
    return NULL;
}

void rapt_translator_free(rapt_translator *t)
{
    if (!t)
        return;
    for (int i = 0; t->batches && t->tapes && i < t->tape_count; i++) {
        segment_runs_free(&t->batches[i]);
        rapt_tape_free(t->tapes[i]);
    }
    packed_weights_free(t->packed);
    prefixes_free(&t->prefix);
    free(t->batches);
    free(t->tapes);
    pool_free(t->pool);
    free(t);
}

const packed_weights *translator_weights(const rapt_translator *t, uint64_t *read)
{
    *read = 0;
    for (int i = 0; i < t->tape_count; i++)
        *read += t->tapes[i]->weight_bytes;
    return t->packed;
}

/* ---- a run -------------------------------------------------------------------------------------------------------- */

/* One run: its text, and its segments in the order in which batches take them. */
typedef struct translate_call {
    rapt_translator *t;
    const rapt_translator_request *request;
    translate_text text;
    translate_item **items; /* [text.source.count] by length */
} translate_call;

/* A translate_text's question. */
static bool translate_call_stops(void *context, size_t line)
{
    const translate_call *c = context;
    const rapt_translator_request *r = c->request;
    return atomic_load(&c->t->cancelled) || (r->stop && r->stop(r->context, line));
}

static int translate_by_length(const void *a, const void *b)
{
    const source_segment *x = (*(translate_item *const *)a)->source, *y = (*(translate_item *const *)b)->source;
    if (x->count != y->count)
        return x->count < y->count ? -1 : 1;
    return x->index < y->index ? -1 : 1;
}

static rapt_code translate_sort(translate_call *c, rapt_error *err)
{
    const size_t count = c->text.source.count;
    c->items = malloc((count + 1) * sizeof *c->items);
    if (!c->items)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu segments", count);
    for (size_t i = 0; i < count; i++)
        c->items[i] = &c->text.items[i];
    if (count > 0)
        qsort(c->items, count, sizeof *c->items, translate_by_length);
    return RAPT_OK;
}

/* A pool_fn. */
static void translate_one_batch(void *context, size_t batch, int worker)
{
    translate_call *c = context;
    segment_runs *b = &c->t->batches[worker];
    rapt_tape *tape = c->t->tapes[worker];
    const size_t size = c->t->setup.o.batch, first = batch * size, left = c->text.source.count - first;
    const size_t n = left < size ? left : size;
    bool wanted = false;
    for (size_t i = first; i < first + n; i++)
        wanted = wanted || translate_text_is_wanted(c->items[i]);
    if (!wanted)
        return;
    segment_runs_begin(b, tape, c->items + first, n);
    while (b->count > 0)
        segment_runs_step(b, tape);
}

static rapt_code translate_compute(translate_call *c, rapt_translation *out, rapt_error *err)
{
    const rapt_translator *t = c->t;
    const size_t size = t->setup.o.batch, count = c->text.source.count, batches = count / size + (count % size > 0);
    if (2 * batches > (size_t)t->threads)
        pool_run(t->pool, batches, SIZE_MAX, translate_one_batch, c);
    else /* half of the threads or more would have no batch, so all work on each */
        for (size_t i = 0; i < batches; i++)
            translate_one_batch(c, i, t->threads);
    if (atomic_load(&c->t->cancelled))
        return rapt_fail(err, RAPT_ERR_INTERRUPTED, "the translation was cancelled");
    return translate_text_write(&c->text, out, err);
}

rapt_code rapt_translator_run_with(rapt_translator *t, const rapt_translator_request *request, const char *const *lines,
                                   size_t count, rapt_translation *out, rapt_error *err)
{
    translate_call c = {.t = t, .request = request};
    c.text = (translate_text){.lines = lines, .count = count, .stop = translate_call_stops, .context = &c};
    memset(out, 0, count * sizeof *out);
    rapt_code code = translate_text_encode(&c.text, &t->setup, request, &t->prefix, err);
    code = code ? code : translate_sort(&c, err);
    code = code ? code : translate_compute(&c, out, err);
    atomic_store(&t->cancelled, false); /* the cancel was for this run, even if it failed before its first batch */
    free(c.items);
    translate_text_free(&c.text);
    return code;
}

rapt_code rapt_translator_run(rapt_translator *t, const char *const *lines, size_t count, rapt_translation *out,
                              rapt_error *err)
{
    return rapt_translator_run_with(t, &(rapt_translator_request){0}, lines, count, out, err);
}

rapt_code rapt_translator_run_prefixed(rapt_translator *t, const char *const *lines, const char *const *texts, size_t count,
                                       rapt_translation *out, rapt_error *err)
{
    return rapt_translator_run_with(t, &(rapt_translator_request){.prefixes = texts}, lines, count, out, err);
}

rapt_code rapt_translator_check(const rapt_translator *t, const rapt_translate_options *options, rapt_error *err)
{
    translate_settings settings;
    prefixes p = {0};
    rapt_code code = translate_settings_init(&settings, &t->setup, options, err);
    if (!code && options && options->prefix)
        code = prefixes_encode(&p, t->setup.m, &t->setup.lang.policy, &options->prefix, 1, err);
    prefixes_free(&p);
    return code;
}

void rapt_translator_cancel(rapt_translator *t)
{
    atomic_store(&t->cancelled, true);
}

rapt_code rapt_translate(const rapt_model *m, const char *const *lines, size_t count, const rapt_translate_options *options,
                         rapt_translation *out, rapt_error *err)
{
    rapt_error own = {0};
    memset(out, 0, count * sizeof *out);
    rapt_translator *t = rapt_translator_new(m, options, &own);
    rapt_code code = t ? rapt_translator_run(t, lines, count, out, &own) : own.code;
    rapt_translator_free(t);
    return code ? rapt_fail(err, code, "%s", own.message) : RAPT_OK;
}
