/* decode/generate.c: text that goes on after a prompt, token by token. For `rapt generate`, samples in training, and C
 * programs. How a token is chosen is in sampler.c, when its text can be shown in text_stream.c. */
#include "rapt/generate.h"

#include "decode/prompt.h"
#include "decode/sampler.h"
#include "decode/text_stream.h"
#include "ops/tape_core.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK ((size_t)64 << 10)

typedef struct generation {
    rapt_tape *t;
    const rapt_lm *m;
    const rapt_tokenizer *k;
    const rapt_generate_options *o;
    sampler sampler;
    rapt_kv_cache *cache;
    text_stream *out;
    arena scratch;
    prompt text; /* the prompt and what came after it */
    size_t room; /* ids that fit into `text` */
    int32_t end_of_text;
    rapt_generated report;
} generation;

/* ---- one token ------------------------------------------------------------------------------------------------ */

/* Logits after all tokens there are; NULL with `err` set. */
static const rapt_real *next_logits(generation *g, rapt_error *err)
{
    return prompt_logits(g->t, g->m, g->cache, g->text.ids, g->text.count, err);
}

/* A window of the repetition penalty may reach further back than the model sees; without one, what it sees counts. */
static void set_history(const generation *g, sampler_input *in)
{
    bool all = g->o->sample.repetition_window > 0;
    in->count = all ? g->text.count : rapt_lm_visible(&g->m->config, g->text.count);
    in->history = g->text.ids + g->text.count - in->count;
}

static rapt_code generate_choose(generation *g, int32_t *id, rapt_error *err)
{
    const rapt_real *logits = next_logits(g, err);
    sampler_input in = {.logits = logits, .vocab = g->m->config.vocab, .row = g->o->row, .position = g->text.count};
    set_history(g, &in);
    return logits ? sampler_choose(&g->sampler, &in, &g->scratch, id, err) : err->code;
}

static rapt_code generate_append(generation *g, int32_t id, rapt_error *err)
{
    if (g->text.count == g->room) {
        size_t room = 2 * g->room + 64;
        int32_t *longer = realloc(g->text.ids, room * sizeof *longer);
        if (!longer)
            return rapt_fail(err, RAPT_ERR_MEMORY, "no memory for %zu tokens", room);
        g->text.ids = longer;
        g->room = room;
    }
    g->text.ids[g->text.count++] = id;
    g->report.tokens++;
    return RAPT_OK;
}

/* Rank files have ids without a text, which a model that is trained hardly chooses: they add nothing. */
static rapt_code generate_show(generation *g, int32_t id, rapt_error *err)
{
    size_t size;
    const char *bytes = rapt_tokenizer_token(g->k, id, &size);
    return bytes ? text_stream_push(g->out, bytes, size, err) : RAPT_OK;
}

static rapt_code generate_run(generation *g, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    while (!code && g->report.tokens < g->o->max_tokens && !text_stream_done(g->out)) {
        int32_t id;
        code = generate_choose(g, &id, err);
        if (!code && id == g->end_of_text) {
            g->report.end = RAPT_FINISH_END_OF_TEXT;
            break;
        }
        if (!code)
            code = generate_append(g, id, err);
        if (!code)
            code = generate_show(g, id, err);
    }
    if (!code)
        code = text_stream_finish(g->out, err);
    if (text_stream_stopped(g->out))
        g->report.end = RAPT_FINISH_STOP;
    return code;
}

/* ---- all of them ---------------------------------------------------------------------------------------------- */

static rapt_code check_biases(const generation *g, rapt_error *err)
{
    const rapt_sample_options *o = &g->o->sample;
    for (size_t i = 0; i < o->bias_count; i++)
        if (o->biases[i].id < 0 || (size_t)o->biases[i].id >= g->m->config.vocab)
            return rapt_fail(err, RAPT_ERR_VALUE, "logit bias of token %d; the model knows 0 to %zu", (int)o->biases[i].id,
                             g->m->config.vocab - 1);
    return RAPT_OK;
}

static rapt_code generate_set_up(generation *g, const char *text, size_t size, rapt_text_sink sink, void *context,
                                 rapt_error *err)
{
    rapt_code code = sampler_init(&g->sampler, &g->o->sample, g->t->k, err);
    if (!code)
        code = check_biases(g, err);
    if (!code)
        code = prompt_encode(g->m, g->k, text, size, &g->text, err);
    if (code)
        return code;
    g->room = g->report.prompt_tokens = g->text.count;
    g->end_of_text = prompt_end_of_text(g->m, g->k);
    g->out = text_stream_new(g->o->stops, g->o->stop_count, sink, context, err);
    g->cache = g->out ? rapt_kv_cache_new(rapt_lm_kv_sizes(g->m, 1), err) : NULL;
    return g->cache ? RAPT_OK : err->code;
}

static void generate_tear_down(generation *g)
{
    rapt_kv_cache_free(g->cache);
    text_stream_free(g->out);
    free(g->text.ids);
    arena_free(&g->scratch);
    if (g->o->report)
        *g->o->report = g->report;
}

rapt_code rapt_generate(rapt_tape *t, const rapt_lm *m, const rapt_tokenizer *k, const char *text, size_t size,
                        const rapt_generate_options *options, rapt_text_sink sink, void *context, rapt_error *err)
{
    static const rapt_generate_options none = {0};
    rapt_error own = {0};
    generation g = {.t = t, .m = m, .k = k, .o = options ? options : &none};
    err = err ? err : &own;
    arena_init(&g.scratch, CHUNK);
    rapt_code code = generate_set_up(&g, text, size, sink, context, err);
    if (!code)
        code = generate_run(&g, err);
    generate_tear_down(&g);
    return code;
}

typedef struct collected {
    char *text; /* NUL-terminated */
    size_t size, room;
} collected;

static rapt_code generate_collect(void *context, const char *text, size_t size, rapt_error *err)
{
    collected *c = context;
    if (size >= c->room - c->size) {
        size_t room = 2 * c->room + size;
        char *longer = realloc(c->text, room);
        if (!longer)
            return rapt_fail(err, RAPT_ERR_MEMORY, "no memory for a text of %zu bytes", room);
        c->text = longer;
        c->room = room;
    }
    memcpy(c->text + c->size, text, size);
    c->size += size;
    c->text[c->size] = '\0';
    return RAPT_OK;
}

char *rapt_generate_text(rapt_tape *t, const rapt_lm *m, const rapt_tokenizer *k, const char *text, size_t size,
                         const rapt_generate_options *options, size_t *length, rapt_error *err)
{
    collected c = {.text = calloc(1, 64), .room = 64};
    rapt_code code = c.text ? rapt_generate(t, m, k, text, size, options, generate_collect, &c, err)
                            : rapt_fail(err, RAPT_ERR_MEMORY, "no memory for a text");
    if (code) {
        free(c.text);
        return NULL;
    }
    if (length)
        *length = c.size;
    return c.text;
}
