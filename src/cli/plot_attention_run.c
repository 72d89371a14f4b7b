/* cli/plot_attention_run.c: the pass of `rapt plot attention`: texts as tokens that fit the model, and attention that
 * keeps its weights. It draws nothing. */
#include "cli/plot_attention.h"

#include "decode/search.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK ((size_t)256 << 10)

/* ---- translation ------------------------------------------------------------------------------------------- */

/* The words of the source and <eos>, for which plot_encode leaves room. */
static rapt_code read_source(const rapt_model *m, const char *text, plot_tokens *t, rapt_error *err)
{
    rapt_code code = plot_encode(m->source, m->net->config.source_vocab, "the text", text, false, t, err);
    if (code)
        return code;
    t->ids[t->count++] = RAPT_EOS;
    if (t->count > m->max_len)
        return rapt_fail(err, RAPT_VALUE, "the text has %zu tokens with <eos>; the model takes %zu", t->count, m->max_len);
    return RAPT_OK;
}

static void begin_with_bos(plot_tokens *t)
{
    memmove(t->ids + 1, t->ids, t->count * sizeof *t->ids);
    t->ids[0] = RAPT_BOS;
    t->count++;
}

static rapt_code read_target(const rapt_model *m, const char *text, plot_tokens *t, rapt_error *err)
{
    size_t most = m->net->config.max_positions;
    rapt_code code = plot_encode(m->target, m->net->config.target_vocab, "the target", text, false, t, err);
    if (code)
        return code;
    begin_with_bos(t);
    if (t->count > most)
        return rapt_fail(err, RAPT_VALUE, "the target has %zu tokens with <bos>; the model has %zu positions", t->count, most);
    return RAPT_OK;
}

/* The decoder's input at the last step of the search: all but the token that it found there. */
static rapt_code take_translation(const search_hypothesis *h, plot_tokens *t, rapt_error *err)
{
    t->ids = malloc(h->length * sizeof *t->ids);
    if (!t->ids)
        return rapt_fail(err, RAPT_NO_MEMORY, "no memory for a translation");
    t->count = h->length - 1;
    memcpy(t->ids, h->tokens, t->count * sizeof *t->ids);
    begin_with_bos(t);
    return RAPT_OK;
}

static rapt_code translate(rapt_tape *t, const rapt_model *m, const plot_tokens *source, plot_tokens *target, rapt_error *err)
{
    arena memory;
    search_result result;
    int32_t len = (int32_t)source->count;
    size_t limit = search_limit(m, source->count);
    search_batch batch = {{source->ids, 1, source->count}, &len, &limit};
    arena_init(&memory, CHUNK);
    rapt_code code = search_greedy(t, m->net, &batch, &memory, &result, err);
    if (!code)
        code = take_translation(&result.best[0], target, err);
    arena_free(&memory);
    return code;
}

static rapt_tokens row_of(const plot_tokens *t)
{
    return (rapt_tokens){t->ids, 1, t->count};
}

/* The encoder alone needs no target. */
static rapt_code run_translation(rapt_tape *t, const rapt_model *m, attention_kind kind, const char *text, const char *given,
                                 attention_view *v, rapt_error *err)
{
    rapt_code code = read_source(m, text, &v->source, err);
    if (!code && kind != ATTENTION_SELF)
        code = given ? read_target(m, given, &v->target, err) : translate(t, m, &v->source, &v->target, err);
    if (code)
        return code;
    rapt_tape_begin(t, (rapt_pass){0});
    rapt_tape_watch_attention(t, RAPT_WEIGHTS_BEFORE_DROPOUT);
    rapt_tensor *memory = rapt_encoder_forward(t, &m->net->encoder, row_of(&v->source), NULL);
    if (kind != ATTENTION_SELF)
        rapt_decoder_forward(t, &m->net->decoder, row_of(&v->target), memory, NULL);
    return rapt_tape_status(t, err);
}

static void describe_translation(const rapt_model *m, attention_kind kind, attention_view *v)
{
    static const char *const words[] = {[ATTENTION_SELF] = "encoder self-attention", [ATTENTION_CROSS] = "cross-attention",
                                        [ATTENTION_CAUSAL] = "decoder self-attention (causal)"};
    bool self = kind == ATTENTION_SELF, causal = kind == ATTENTION_CAUSAL;
    v->word = words[kind];
    v->blocks = m->net->config.layers;
    v->heads = m->net->config.block.heads;
    v->queries = self ? &v->source : &v->target;
    v->keys = causal ? &v->target : &v->source;
    v->query = self ? "source (query)" : "target (query)";
    v->key = causal ? "target (key)" : "source (key)";
}

static rapt_code name_translation(const rapt_model *m, attention_view *v, rapt_error *err)
{
    rapt_code code = plot_name_tokens(m->source, &v->source, err);
    return code ? code : plot_name_tokens(m->target, &v->target, err);
}

/* ---- language models --------------------------------------------------------------------------------------- */

static rapt_code run_language_model(rapt_tape *t, const rapt_model *m, const char *text, attention_view *v, rapt_error *err)
{
    size_t context = m->lm->config.context;
    rapt_code code = plot_encode(m->tokenizer, m->lm->config.vocab, "the text", text, true, &v->source, err);
    if (code)
        return code;
    if (v->source.count > context)
        return rapt_fail(err, RAPT_VALUE, "the text has %zu tokens; the model's context is %zu", v->source.count, context);
    rapt_tape_begin(t, (rapt_pass){0});
    rapt_tape_watch_attention(t, RAPT_WEIGHTS_BEFORE_DROPOUT);
    rapt_lm_hidden(t, m->lm, row_of(&v->source));
    return rapt_tape_status(t, err);
}

static void describe_language_model(const rapt_model *m, attention_view *v)
{
    v->word = "causal self-attention";
    v->blocks = m->lm->config.layers;
    v->heads = m->lm->config.heads;
    v->queries = v->keys = &v->source;
    v->query = "query";
    v->key = "key";
}

/* ---- both -------------------------------------------------------------------------------------------------- */

rapt_code attention_run(rapt_tape *t, const rapt_model *m, attention_kind kind, const char *text, const char *target,
                        attention_view *v, rapt_error *err)
{
    bool language = m->task == RAPT_LANGUAGE_MODEL;
    rapt_code code = language ? run_language_model(t, m, text, v, err) : run_translation(t, m, kind, text, target, v, err);
    if (code)
        return code;
    if (language) {
        describe_language_model(m, v);
        return plot_name_tokens(m->tokenizer, &v->source, err);
    }
    describe_translation(m, kind, v);
    return name_translation(m, v, err);
}

/* The name that a module has, and its weights on the tape. */
static const char *module_name(const rapt_model *m, attention_kind kind, size_t block)
{
    if (m->task == RAPT_LANGUAGE_MODEL)
        return m->lm->blocks[block].attention.name;
    const rapt_decoder_block *decoder = &m->net->decoder.blocks[block];
    switch (kind) {
    case ATTENTION_SELF: return m->net->encoder.blocks[block].attention.name;
    case ATTENTION_CROSS: return decoder->cross_attention.name;
    default: return decoder->self_attention.name;
    }
}

const rapt_real *attention_weights(const rapt_tape *t, const rapt_model *m, attention_kind kind, size_t block)
{
    return rapt_tape_attention(t, module_name(m, kind, block))->data;
}

void attention_view_free(attention_view *v)
{
    plot_tokens_free(&v->source);
    plot_tokens_free(&v->target);
}
