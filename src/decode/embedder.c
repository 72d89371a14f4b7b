/* decode/embedder.c: rapt_embedder: texts to rows of tokens (text_rows.c), batches by length on all threads (encoder_runner.c),
 * pooling. */
#include "decode/embedder.h"

#include "base/quote.h"
#include "base/sized.h"
#include "decode/encoder_runner.h"
#include "decode/option_defaults.h"
#include "decode/pooling.h"
#include "io/model.h"
#include "tape/compute.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct rapt_embedder {
    encoder_runner run;
    rapt_embedder_options o; /* defaults filled in */
    const char *prompt;      /* the text that is put before each text; or NULL */
};

/* ---- rows --------------------------------------------------------------------------------------------------------- */

/* Where the vectors of a call go. */
typedef struct embed_results {
    const rapt_embedder *e;
    size_t dimensions;
    rapt_real *vectors; /* [..., dimensions] */
} embed_results;

/* Hidden states, [sum of the lengths of all rows, d]. */
static rapt_tensor *embed_compute(rapt_tape *t, const rapt_encoder_only *net, rapt_tokens tokens)
{
    return rapt_encoder_forward(t, &net->encoder, tokens, NULL);
}

static void embed_pool(void *context, const rapt_tensor *x, const text_row *rows, size_t count)
{
    const embed_results *to = context;
    const size_t d = embedder_max_features(to->e);
    const rapt_real *from = x->data;
    for (size_t i = 0; i < count; i++) {
        rapt_real *vector = to->vectors + rows[i].index * to->dimensions;
        pooling_run(to->e->o.pooling, from, rows[i].count, d, to->dimensions, vector);
        if (to->e->o.normalize)
            pooling_normalize(vector, to->dimensions);
        from += rows[i].count * d;
    }
}

rapt_code embedder_run_rows(rapt_embedder *e, const text_row *rows, size_t count, size_t dimensions, rapt_real *vectors,
                            rapt_error *err)
{
    embed_results to = {e, dimensions, vectors};
    return encoder_runner_run(&e->run, rows, count, &(encoder_work){embed_compute, embed_pool, &to}, err);
}

/* ---- texts -------------------------------------------------------------------------------------------------------- */

rapt_code rapt_embedder_run(rapt_embedder *e, const rapt_text *texts, size_t count, rapt_real *vectors, bool *cut,
                            rapt_error *err)
{
    rapt_error own = {0};
    text_row *rows = text_rows_new(&e->run.m->encoder, e->prompt, texts, count, &own);
    if (!rows) {
        encoder_runner_settle(&e->run);
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
    atomic_store(&e->run.cancelled, true);
}

/* An encoder_work.keep: copies all rows to *context, which is NULL if that fails. */
static void embed_copy(void *context, const rapt_tensor *x, const text_row *rows, size_t count)
{
    rapt_real **to = context;
    const size_t size = rapt_tensor_size(x) * sizeof **to;
    (void)rows, (void)count;
    *to = malloc(size);
    if (*to)
        memcpy(*to, x->data, size);
}

rapt_code rapt_embedder_tokens(rapt_embedder *e, const char *text, size_t size, rapt_token_vectors *out, rapt_error *err)
{
    rapt_real *vectors = NULL;
    *out = (rapt_token_vectors){0};
    text_row *row = text_rows_new(&e->run.m->encoder, e->prompt, &(rapt_text){text, size}, 1, err);
    if (!row)
        return err ? err->code : RAPT_ERR_VALUE;
    rapt_code code = encoder_runner_rows(&e->run, e->run.tapes.list[0], row, 1,
                                         &(encoder_work){embed_compute, embed_copy, &vectors}, err);
    if (vectors) {
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
    const rapt_encoder_model *m = &e->run.m->encoder;
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
    const rapt_encoder_model *m = &e->run.m->encoder;
    if (e->run.m->task != RAPT_TASK_ENCODER)
        return rapt_fail(err, RAPT_ERR_VALUE, "%s gives no embeddings of texts", model_task_of(e->run.m->task)->what);
    e->o = rapt_embedder_options_default();
    if (sized_take(&e->o, options, NULL, 0, "embedder_options", err) != RAPT_OK)
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
    e->run.batch = e->o.batch;
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
    e->run.m = m;
    if (embedder_fill_options(e, options, err) == RAPT_OK && encoder_runner_open(&e->run, &e->o.compute, err) == RAPT_OK)
        return e;
    rapt_embedder_free(e);
    return NULL;
}

void rapt_embedder_free(rapt_embedder *e)
{
    if (!e)
        return;
    encoder_runner_close(&e->run);
    free(e);
}

size_t rapt_embedder_features(const rapt_embedder *e)
{
    return e->o.dimensions;
}

size_t embedder_max_features(const rapt_embedder *e)
{
    return e->run.m->encoder.net->config.block.d_model;
}
