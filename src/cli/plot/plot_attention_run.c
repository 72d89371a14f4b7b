/* cli/plot/plot_attention_run.c: the pass of `rapt plot attention`, which captures attention weights. pass_input.c makes tokens
 * of texts; nothing is drawn here. */
#include "cli/plot/cmd_plot.h"

#include "explain/input/pass_input.h"
#include "io/model_core.h"

/* ---- translation ------------------------------------------------------------------------------------------- */

/* Takes the tokens; they get their names after the pass. */
static void name_later(plot_tokens *to, unknown_list *unknown, const pass_tokens *p)
{
    *to = (plot_tokens){.ids = p->ids, .count = p->count};
    *unknown = p->unknown;
}

/* The encoder alone needs no target. */
static rapt_code plot_attention_run_read_pair(rapt_tape *t, const rapt_model *m, const attention_request *r, attention_view *v,
                                              rapt_error *err)
{
    pass_tokens source, target;
    rapt_code code = pass_read_source(m, rapt_text_of(r->text), r->strict, &source, err);
    if (code)
        return code;
    name_later(&v->source, &v->unknown_source, &source);
    if (r->kind == ATTENTION_SELF)
        return RAPT_OK;
    code = r->target ? pass_read_target(m, rapt_text_of(r->target), r->strict, &target, err)
                     : pass_translate(t, m, &source, &target, err);
    if (!code)
        name_later(&v->target, &v->unknown_target, &target);
    return code;
}

static rapt_tokens row_of(const plot_tokens *t)
{
    return (rapt_tokens){t->ids, 1, t->count};
}

static rapt_code run_translation(rapt_tape *t, const rapt_model *m, const attention_request *r, attention_view *v,
                                 rapt_error *err)
{
    rapt_code code = plot_attention_run_read_pair(t, m, r, v, err);
    if (code)
        return code;
    rapt_tape_begin(t, (rapt_pass){0});
    rapt_tape_capture_attention(t, RAPT_CAPTURE_BEFORE_DROPOUT);
    rapt_tensor *memory = rapt_encoder_forward(t, &m->translation.net->encoder, row_of(&v->source), NULL);
    if (r->kind != ATTENTION_SELF)
        rapt_decoder_forward(t, &m->translation.net->decoder, row_of(&v->target), memory, NULL);
    return rapt_tape_status(t, err);
}

static void describe_translation(const rapt_model *m, attention_kind kind, attention_view *v)
{
    static const char *const words[] = {[ATTENTION_SELF] = "encoder self-attention", [ATTENTION_CROSS] = "cross-attention",
                                        [ATTENTION_CAUSAL] = "decoder self-attention (causal)"};
    bool self = kind == ATTENTION_SELF, causal = kind == ATTENTION_CAUSAL;
    v->word = words[kind];
    v->blocks = self ? m->translation.net->config.layers : m->translation.net->config.decoder_layers;
    v->heads = self ? m->translation.net->config.block.heads : m->translation.net->config.decoder_heads;
    v->queries = self ? &v->source : &v->target;
    v->keys = causal ? &v->target : &v->source;
    v->query = self ? "source (query)" : "target (query)";
    v->key = causal ? "target (key)" : "source (key)";
}

/* ---- language models --------------------------------------------------------------------------------------- */

static rapt_code run_language_model(rapt_tape *t, const rapt_model *m, const attention_request *r, attention_view *v,
                                    rapt_error *err)
{
    pass_tokens given;
    rapt_code code = pass_read_text(m, rapt_text_of(r->text), r->strict, &given, err);
    if (code)
        return code;
    name_later(&v->source, &v->unknown_source, &given);
    rapt_tape_begin(t, (rapt_pass){0});
    rapt_tape_capture_attention(t, RAPT_CAPTURE_BEFORE_DROPOUT);
    rapt_lm_hidden(t, m->language.net, row_of(&v->source));
    return rapt_tape_status(t, err);
}

static void describe_language_model(const rapt_model *m, attention_view *v)
{
    v->word = "causal self-attention";
    v->blocks = m->language.net->config.layers;
    v->heads = m->language.net->config.block.heads;
    v->queries = v->keys = &v->source;
    v->query = "query";
    v->key = "key";
}

/* ---- both -------------------------------------------------------------------------------------------------- */

rapt_code attention_run(rapt_tape *t, const rapt_model *m, const attention_request *r, attention_view *v, rapt_error *err)
{
    bool language = m->task == RAPT_TASK_LANGUAGE_MODEL;
    rapt_code code = language ? run_language_model(t, m, r, v, err) : run_translation(t, m, r, v, err);
    if (code)
        return code;
    if (language) {
        describe_language_model(m, v);
        return plot_name_tokens(m->language.tokenizer, &v->source, err);
    }
    describe_translation(m, r->kind, v);
    code = plot_name_tokens(m->translation.source, &v->source, err);
    return code ? code : plot_name_tokens(m->translation.target, &v->target, err);
}

/* The name that a module has, and its weights on the tape. */
static const char *module_name(const rapt_model *m, attention_kind kind, size_t block)
{
    if (m->task == RAPT_TASK_LANGUAGE_MODEL)
        return m->language.net->blocks[block].attention.name;
    const rapt_decoder_block *decoder = &m->translation.net->decoder.blocks[block];
    switch (kind) {
    case ATTENTION_SELF: return m->translation.net->encoder.blocks[block].attention.name;
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
    known_words_free(&v->unknown_source);
    known_words_free(&v->unknown_target);
}
