/* decode/embedder.c: rapt_embedder: texts to rows of tokens (text_rows.c), batches by length, threads. */
#include "decode/embedder.h"

#include "base/quote.h"
#include "base/sized.h"
#include "base/thread.h"
#include "decode/model_tapes.h"
#include "decode/option_defaults.h"
#include "decode/pooling.h"
#include "io/model.h"
#include "nn/ragged_tokens.h"
#include "tape/compute.h"
#include "tape/tape_core.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct rapt_embedder {
    const rapt_model *m;
    rapt_embedder_options o; /* defaults filled in */
    const char *prompt;      /* the text that is put before each text; or NULL */
    model_tapes tapes;       /* one for each thread */
    atomic_bool cancelled;
};

/* One call. */
typedef struct embed_call {
    rapt_embedder *e;
    const text_row *rows; /* by length */
    size_t count, dimensions;
    rapt_real *vectors; /* [..., dimensions] */
    thread_mutex lock; /* guards the error */
    rapt_error error;     /* the error of any batch; only memory can be missing */
} embed_call;

/* ---- a batch ------------------------------------------------------------------------------------------------------ */

/* Hidden states of rows of tokens, [sum of their lengths, d]. */
static rapt_code embed_rows(const rapt_embedder *e, rapt_tape *t, const text_row *rows, size_t n, rapt_tensor **out,
                            rapt_error *err)
{
    rapt_tape_begin(t, (rapt_pass){0});
    token_row *of = tape_alloc(t, n, sizeof *of);
    for (size_t i = 0; of && i < n; i++)
        of[i] = (token_row){rows[i].ids, rows[i].count};
    const rapt_tokens tokens = of ? ragged_tokens_pack(t, of, n, 0) : (rapt_tokens){0};
    if (!tape_failed(t))
        *out = rapt_encoder_forward(t, &e->m->encoder.net->encoder, tokens, NULL);
    return rapt_tape_status(t, err);
}

static void embed_note_failure(embed_call *c, const rapt_error *err)
{
    thread_lock(&c->lock);
    if (!c->error.code)
        c->error = *err;
    thread_unlock(&c->lock);
}

/* A pool_fn. */
static void embed_batch(void *context, size_t batch, int worker)
{
    embed_call *c = context;
    const rapt_embedder *e = c->e;
    const size_t first = batch * e->o.batch, left = c->count - first, n = left < e->o.batch ? left : e->o.batch;
    const size_t d = embedder_max_features(e);
    rapt_error err = {0};
    rapt_tensor *x = NULL;
    if (atomic_load(&c->e->cancelled))
        return;
    if (embed_rows(e, e->tapes.list[worker], c->rows + first, n, &x, &err)) {
        embed_note_failure(c, &err);
        return;
    }
    const rapt_real *from = x->data;
    for (size_t i = first; i < first + n; i++) {
        rapt_real *to = c->vectors + c->rows[i].index * c->dimensions;
        pooling_run(e->o.pooling, from, c->rows[i].count, d, c->dimensions, to);
        if (e->o.normalize)
            pooling_normalize(to, c->dimensions);
        from += c->rows[i].count * d;
    }
}

/* ---- texts -------------------------------------------------------------------------------------------------------- */

rapt_code embedder_run_rows(rapt_embedder *e, const text_row *rows, size_t count, size_t dimensions, rapt_real *vectors,
                            rapt_error *err)
{
    embed_call c = {.e = e, .rows = rows, .count = count, .dimensions = dimensions, .vectors = vectors};
    thread_mutex_init(&c.lock);
    pool_run(e->tapes.pool, count / e->o.batch + (count % e->o.batch > 0), SIZE_MAX, embed_batch, &c);
    thread_mutex_free(&c.lock);
    if (atomic_exchange(&e->cancelled, false) && !c.error.code)
        rapt_fail(&c.error, RAPT_ERR_INTERRUPTED, "the run was cancelled");
    return c.error.code ? rapt_fail(err, c.error.code, "%s", c.error.message) : RAPT_OK;
}

rapt_code rapt_embedder_run(rapt_embedder *e, const rapt_text *texts, size_t count, rapt_real *vectors, bool *cut,
                            rapt_error *err)
{
    rapt_error own = {0};
    text_row *rows = text_rows_new(&e->m->encoder, e->prompt, texts, count, &own);
    if (!rows) {
        atomic_store(&e->cancelled, false);
        return rapt_fail(err, own.code, "%s", own.message);
    }
    rapt_code code = embedder_run_rows(e, rows, count, rapt_embedder_features(e), vectors, err);
    for (size_t i = 0; i < count && cut; i++)
        cut[rows[i].index] = rows[i].cut;
    text_rows_free(rows, count);
    return code;
}

void rapt_embedder_cancel(rapt_embedder *e)
{
    atomic_store(&e->cancelled, true);
}

rapt_code rapt_embedder_tokens(rapt_embedder *e, const char *text, size_t size, rapt_token_vectors *out, rapt_error *err)
{
    const size_t d = embedder_max_features(e);
    rapt_tensor *x = NULL;
    *out = (rapt_token_vectors){0};
    text_row *row = text_rows_new(&e->m->encoder, e->prompt, &(rapt_text){text, size}, 1, err);
    if (!row)
        return err ? err->code : RAPT_ERR_VALUE;
    rapt_code code = embed_rows(e, e->tapes.list[0], row, 1, &x, err);
    rapt_real *vectors = code ? NULL : malloc(row->count * d * sizeof *vectors);
    if (vectors) {
        memcpy(vectors, x->data, row->count * d * sizeof *vectors);
        *out = (rapt_token_vectors){row->count, row->ids, vectors, row->cut};
        row->ids = NULL;
    } else if (!code) {
        code = rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the vectors of a text");
    }
    text_rows_free(row, 1);
    return code;
}

void rapt_token_vectors_free(rapt_token_vectors *v)
{
    free(v->ids);
    free(v->vectors);
    *v = (rapt_token_vectors){0};
}

/* ---- the embedder ------------------------------------------------------------------------------------------------- */

/* Finds the prompt that the options name, or else the model's default. */
static rapt_code embedder_find_prompt(rapt_embedder *e, rapt_error *err)
{
    const rapt_encoder_model *m = &e->m->encoder;
    const char *name = e->o.prompt;
    char list[256] = "";
    e->prompt = name ? NULL : m->prompt;
    for (size_t i = 0, used = 0; i < m->prompt_count && name && *name; i++) {
        if (strcmp(m->prompts[i].name, name) == 0)
            e->prompt = m->prompts[i].text;
        if (used < sizeof list)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", quote(m->prompts[i].name).text);
    }
    if (name && *name && !e->prompt)
        return rapt_fail(err, RAPT_ERR_VALUE, "there is no prompt \"%s\"; the model's folder has %s", quote(name).text,
                         *list ? list : "none");
    if (m->without_prompt && e->prompt && *e->prompt)
        return rapt_fail(err, RAPT_ERR_VALUE, "the model's pooling leaves out the tokens of a prompt (\"include_prompt\"), which "
                         "rapt does not compute");
    return RAPT_OK;
}

SIZED_ENDS_WITH(rapt_embedder_options, compute);

void rapt_embedder_options_init(rapt_embedder_options *o, size_t size)
{
    sized_init(o, size, &(rapt_embedder_options){EMBEDDER_DEFAULTS}, sizeof *o);
}

static rapt_code embedder_fill_options(rapt_embedder *e, const rapt_embedder_options *options, rapt_error *err)
{
    const rapt_encoder_model *m = &e->m->encoder;
    if (e->m->task != RAPT_TASK_ENCODER)
        return rapt_fail(err, RAPT_ERR_VALUE, "%s gives no embeddings of texts", model_task_of(e->m->task)->what);
    e->o = rapt_embedder_options_default();
    if (sized_take(&e->o, options, 0, "embedder_options", err) != RAPT_OK)
        return RAPT_ERR_VALUE;
    if ((unsigned)e->o.pooling > RAPT_POOLING_MAX)
        return rapt_fail(err, RAPT_ERR_VALUE, "there is no pooling %d", (int)e->o.pooling);
    if (compute_check(&e->o.compute, err) != RAPT_OK)
        return RAPT_ERR_VALUE;
    if (SIZED_AS_MODEL(e->o.batch))
        return sized_refuse_as_model("batch", err);
    if (e->o.batch < 1)
        return rapt_fail(err, RAPT_ERR_VALUE, "a batch of 0 texts");
    if (e->o.normalize != 0 && e->o.normalize != 1 && !SIZED_AS_MODEL(e->o.normalize))
        return rapt_fail(err, RAPT_ERR_VALUE, "normalize is %d: it is 0 or 1", e->o.normalize);
    if (SIZED_AS_MODEL(e->o.dimensions))
        return sized_refuse_as_model("dimensions", err);
    if (e->o.dimensions > embedder_max_features(e))
        return rapt_fail(err, RAPT_ERR_VALUE, "%zu dimensions; the model's vectors have %zu", e->o.dimensions,
                         embedder_max_features(e));
    e->o.dimensions = e->o.dimensions ? e->o.dimensions : embedder_max_features(e);
    e->o.pooling = e->o.pooling ? e->o.pooling : m->pooling;
    e->o.normalize = SIZED_AS_MODEL(e->o.normalize) ? m->normalize : e->o.normalize;
    return embedder_find_prompt(e, err);
}

rapt_embedder *rapt_embedder_new(const rapt_model *m, const rapt_embedder_options *options, rapt_error *err)
{
    rapt_embedder *e = calloc(1, sizeof *e);
    if (!e) {
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for an embedder");
        return NULL;
    }
    e->m = m;
    if (embedder_fill_options(e, options, err) == RAPT_OK &&
        model_tapes_make(&e->tapes, m, &e->o.compute, MODEL_TAPES_EACH, err) == RAPT_OK)
        return e;
    rapt_embedder_free(e);
    return NULL;
}

void rapt_embedder_free(rapt_embedder *e)
{
    if (!e)
        return;
    model_tapes_free(&e->tapes);
    free(e);
}

size_t rapt_embedder_features(const rapt_embedder *e)
{
    return e->o.dimensions;
}

size_t embedder_max_features(const rapt_embedder *e)
{
    return e->m->encoder.net->config.block.d_model;
}
