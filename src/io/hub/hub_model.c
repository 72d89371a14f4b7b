/* io/hub/hub_model.c: loads and checks Hugging Face models. */
#include "io/hub/hub_model.h"

#include "base/pool.h"
#include "base/quote.h"
#include "base/thread.h"
#include "io/config_block.h"
#include "io/hub/hub_generation.h"
#include "io/hub/hub_origin.h"
#include "io/hub/hub_parts.h"
#include "io/hub/hub_sentence.h"
#include "io/hub/hub_weights.h"

#include <stdlib.h>
#include <string.h>

bool hub_model_is(const json_t *config)
{
    return json_is_string(json_object_get(config, "model_type")) && !json_object_get(config, "format");
}

/* ---- config.json ---------------------------------------------------------------------------------------------- */

static void refuse_architecture(hub_config *c, const hub_family *family)
{
    const json_t *list = hub_value(c, "architectures");
    const char *name = json_string_value(json_array_get(list, 0));
    char reason[192];
    const bool encoder = family->read_encoder != NULL;
    snprintf(reason, sizeof reason, "of models of type %s rapt runs %s%s", family->type, family->architecture,
             encoder ? "Model, also ForMaskedLM and ForPreTraining, for embeddings, and ForSequenceClassification of one "
                       "label, a cross-encoder" : "");
    if (list && (!name || !(encoder ? hub_encoder_is_class(family, name) || hub_is_cross_encoder(family, c->root)
                                    : strcmp(name, family->architecture) == 0)))
        hub_refuse(c, "architectures", reason);
}

/* One of the two, as the family has it. */
typedef struct hub_net {
    rapt_lm_config lm;
    rapt_transformer_config pair; /* or an encoder alone */
    bool sigmoid;                 /* cross-encoder: see rapt_encoder_model */
} hub_net;

/* Whether the sizes fit together. */
static rapt_code check_sizes(const hub_family *family, const hub_net *k, const char *path, rapt_error *err)
{
    const config_stack stack = family->read ? config_lm_stack(&k->lm) : hub_embedding_stack(&k->pair);
    return family->read_pair ? hub_translation_check(&k->pair, path, err) : config_block_check(&stack, path, err);
}

static rapt_code read_config(const hub_family *family, const json_t *config, const char *path, hub_net *k, rapt_error *err)
{
    hub_config c = {.root = config, .path = path, .err = err};
    refuse_architecture(&c, family);
    if (hub_value(&c, "quantization_config"))
        hub_refuse(&c, "quantization_config", "rapt reads weights of F32, F16 and BF16");
    hub_flag_is(&c, "is_encoder_decoder", family->read_pair != NULL, family->read_pair != NULL);
    hub_ignore(&c, hub_inert_keys);
    hub_ignore(&c, hub_generation_keys);
    if (family->read)
        family->read(&c, &k->lm);
    else
        (family->read_pair ? family->read_pair : family->read_encoder)(&c, &k->pair);
    if (hub_is_cross_encoder(family, config))
        hub_read_cross_encoder(&c, &k->pair, &k->sigmoid);
    hub_refuse_others(&c);
    return c.code ? c.code : check_sizes(family, k, path, err);
}

/* ---- generation ----------------------------------------------------------------------------------------------- */

/* The tokens of the files, or else the default of the class. */
static rapt_code load_end_of_text(rapt_language_model *l, const hub_family *family, size_t vocab, const hub_generation *g,
                                  rapt_error *err)
{
    bool there;
    rapt_code code = hub_generation_ids(g, "eos_token_id", vocab, l->end_of_text, RAPT_END_OF_TEXT_MAX, &l->end_of_text_count,
                                        &there, err);
    if (!code && !there && !g->file && family->end_of_text >= 0 && (size_t)family->end_of_text < vocab)
        l->end_of_text[l->end_of_text_count++] = family->end_of_text;
    return code;
}

static rapt_code load_generation(rapt_model *m, const hub_family *family, size_t vocab, const model_source *from, rapt_error *err)
{
    hub_generation g;
    rapt_code code = hub_generation_open(&g, from, err);
    code = code ? code : load_end_of_text(&m->language, family, vocab, &g, err);
    code = code ? code : hub_generation_policy(&g, vocab, &m->search, err);
    hub_generation_close(&g);
    return code;
}

/* Loads everything except the network: the tokenizer, and how the folder decodes. */
static rapt_code load_lm_text(rapt_model *m, const hub_family *family, size_t vocab, const model_source *from, rapt_error *err)
{
    rapt_error why = {0};
    m->language.tokenizer = rapt_tokenizer_load(from->folder, &why);
    if (!m->language.tokenizer)
        return rapt_fail(err, why.code, "%s", why.message);
    rapt_code code = load_generation(m, family, vocab, from, err);
    return code ? code : hub_special_end_of_turn(&m->language, vocab, from, err);
}

/* ---- all ------------------------------------------------------------------------------------------------------ */

static rapt_code load_language_model(rapt_model *m, const hub_family *family, const rapt_lm_config *k, const weights *w,
                                     const model_source *from, rapt_error *err)
{
    rapt_error why = {0};
    m->language.net = rapt_lm_new(k, model_source_stays(from) ? RAPT_SEED_UNSET : RAPT_SEED_NONE, &why);
    if (!m->language.net)
        return rapt_fail(err, why.code, "%s", why.message);
    m->params = m->language.net->params;
    const place_model files = {family->places, family->type, m->params, &m->language.net->config.block};
    return hub_origin_fill(m, &files, w, from, err);
}

static rapt_code load_text(rapt_model *m, const hub_family *family, const hub_net *k, const model_source *from, rapt_error *err)
{
    m->encoder.sigmoid = k->sigmoid;
    return family->read        ? load_lm_text(m, family, k->lm.vocab, from, err)
           : family->read_pair ? hub_translation_load_text(m, &k->pair, from, err)
                               : hub_embedding_load_text(m, family, &k->pair, from, err);
}

/* Its parameters have shapes only. */
static rapt_code make_shapes(rapt_model *m, const hub_net *k, rapt_error *err)
{
    rapt_error why = {0};
    rapt_lm *lm = m->task == RAPT_TASK_LANGUAGE_MODEL ? rapt_lm_new(&k->lm, RAPT_SEED_SHAPES, &why) : NULL;
    rapt_transformer *pair = m->task == RAPT_TASK_TRANSLATION ? rapt_transformer_new(&k->pair, RAPT_SEED_SHAPES, &why) : NULL;
    rapt_encoder_only *encoder = !lm && !pair && !why.code ? rapt_encoder_only_new(&k->pair, RAPT_SEED_SHAPES, &why) : NULL;
    m->language.net = lm;
    m->translation.net = pair;
    m->encoder.net = encoder;
    m->params = lm ? lm->params : pair ? pair->params : encoder ? encoder->params : NULL;
    return m->params ? RAPT_OK : rapt_fail(err, why.code, "%s", why.message);
}

/* Makes a network of shapes, if there are tensors for that many layers, and compares names, types and shapes. This happens before
 * memory for values is allocated, because a damaged configuration could ask for any amount. */
static rapt_code check_shapes_of_files(rapt_model *shapes, const hub_family *family, const hub_net *k, const weights *w,
                                       const model_source *from, rapt_error *err)
{
    const size_t layers = family->read ? k->lm.layers : k->pair.layers + (family->read_pair ? k->pair.decoder_layers : 0);
    if (layers > weights_count(w))
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: the files hold %zu tensors; config.json asks for %zu layers", from->folder,
                         weights_count(w), layers);
    rapt_code code = make_shapes(shapes, k, err);
    if (code)
        return code;
    const rapt_block_config *block = family->read        ? &shapes->language.net->config.block
                                     : family->read_pair ? &shapes->translation.net->config.block
                                                         : &shapes->encoder.net->config.block;
    return hub_fill(shapes->params, &(place_model){family->places, family->type, shapes->params, block}, w, from, NULL, err);
}

/* Decides the part of the configuration that only the files tell: a tied output. */
static rapt_code settle_output(const hub_family *family, hub_net *k, const weights *w, const model_source *from, rapt_error *err)
{
    bool own = false;
    if (!family->tied_by_files)
        return RAPT_OK;
    rapt_code code = hub_find_output(w, from->places ? from->places : family->places, from->folder, &own, err);
    k->pair.tied = !own;
    return code;
}

static rapt_code load_checked_net(rapt_model *m, const hub_family *family, const hub_net *k, const weights *w,
                                  const model_source *from, rapt_error *err)
{
    rapt_model *shapes = calloc(1, sizeof *shapes);
    if (!shapes)
        return rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for a model", from->folder);
    shapes->task = m->task;
    rapt_code code = check_shapes_of_files(shapes, family, k, w, from, err);
    rapt_model_free(shapes);
    if (code)
        return code;
    return family->read        ? load_language_model(m, family, &k->lm, w, from, err)
           : family->read_pair ? hub_translation_load(m, family, &k->pair, w, from, err)
                               : hub_embedding_load(m, family, &k->pair, w, from, err);
}

/* load_text, which may run in a thread of its own while the network is loaded. */
typedef struct text_loading {
    rapt_model *m;
    const hub_family *family;
    const hub_net k;
    const model_source *from;
    rapt_error err;
    rapt_code code;
    bool aside;
    thread_handle thread;
} text_loading;

/* A thread_fn. */
static void *load_text_aside(void *context)
{
    text_loading *t = context;
    t->code = load_text(t->m, t->family, &t->k, t->from, &t->err);
    return NULL;
}

/* A tokenizer is read by one thread, while the others check and copy weights. A language model's text and network share no member
 * of the model. The error is the text's, if both have one, as if they were loaded one after the other. */
static rapt_code load_text_and_net(rapt_model *m, const hub_family *family, hub_net *k, const weights *w,
                                   const model_source *from, rapt_error *err)
{
    text_loading t = {.m = m, .family = family, .k = *k, .from = from};
    rapt_error why = {0};
    t.aside = family->read && pool_usual_threads() > 1 && thread_start_without_signals(&t.thread, load_text_aside, &t);
    if (!t.aside)
        load_text_aside(&t);
    rapt_code net = t.aside ? RAPT_OK : t.code;
    net = net ? net : settle_output(family, k, w, from, &why);
    net = net ? net : load_checked_net(m, family, k, w, from, &why);
    if (t.aside)
        thread_join(t.thread);
    const rapt_error *first = t.code ? &t.err : &why;
    if (first->code)
        rapt_fail(err, first->code, "%s", first->message);
    return t.code ? t.code : net;
}

static rapt_code load_hub(rapt_model *m, const hub_family *family, const model_source *from, rapt_error *err)
{
    hub_net k = {0};
    weights *w = NULL;
    rapt_code code = read_config(family, from->config, from->config_path, &k, err);
    code = code ? code : weights_open(from->folder, &w, err);
    code = code ? code : load_text_and_net(m, family, &k, w, from, err);
    if (model_source_stays(from))
        m->files = w;
    else
        weights_close(w);
    return code;
}

/* NULL with `err` set: rapt does not run the type. */
static const hub_family *find_family(const json_t *config, const char *path, rapt_error *err)
{
    const char *type = json_string_value(json_object_get(config, "model_type"));
    const hub_family *family = hub_family_of(type);
    if (!family)
        rapt_fail(err, RAPT_ERR_VALUE, "%s: a model of type \"%s\"; rapt runs %s", path, quote(type).text,
                  hub_family_list(false).text);
    return family;
}

static rapt_task hub_task_of(const hub_family *family, const json_t *config)
{
    return family->read        ? RAPT_TASK_LANGUAGE_MODEL
           : family->read_pair ? RAPT_TASK_TRANSLATION
                               : hub_is_cross_encoder(family, config) ? RAPT_TASK_CROSS_ENCODER : RAPT_TASK_ENCODER;
}

/* Bytes of an element in a generator: matrices of linear layers are packed. The rows of an embedding that is not such a matrix
 * are read as they are needed. */
static double element_bytes(const rapt_model *m, const rapt_param *p, rapt_type precision)
{
    const rapt_transformer *pair = m->translation.net;
    const rapt_preprocessor *first = m->language.net ? &m->language.net->input
                                     : pair ? &pair->encoder.input : &m->encoder.net->encoder.input;
    const rapt_preprocessor *last = pair ? &pair->decoder.input : first;
    const rapt_param *output = m->language.net ? m->language.net->output.weight : pair ? pair->decoder.output.weight : NULL;
    const bool looked_up = p != output && (p == first->embedding.weight || p == last->embedding.weight);
    const bool table = p == first->positions.table || p == last->positions.table || p == first->types.weight;
    const bool packed = p->value.ndim == 2 && !table;
    static const double bytes[] = {4, 2, 34.0 / 32, 18.0 / 32}; /* by rapt_type: blocks have a scale of 2 bytes */
    if (p->buffer || looked_up)
        return 0;
    return !packed ? 4 : bytes[p == output && precision == RAPT_TYPE_Q4_0 ? RAPT_TYPE_Q8_0 : precision];
}

static void sum_up_memory(hub_summary *s)
{
    for (size_t i = 0; i < rapt_params_count(s->model->params); i++) {
        const rapt_param *p = rapt_params_at(s->model->params, i);
        const double elements = (double)rapt_tensor_size(&p->value);
        for (int precision = 0; precision <= RAPT_TYPE_Q4_0; precision++)
            s->weights[precision] += elements * element_bytes(s->model, p, (rapt_type)precision);
    }
    if (s->model->language.net)
        s->kv = rapt_lm_kv_sizes(s->model->language.net, 1);
}

/* Whether a matrix for products is stored in blocks that have no kernels of their own (nn/pack.c), as GGUF files may have. An
 * embedding counts if it is also the output matrix. */
static bool rounds_anew(const rapt_model *m, const weights *w)
{
    const bool tied = m->language.net ? m->language.net->config.tied : m->translation.net && m->translation.net->config.tied;
    bool any = false;
    for (size_t i = 0; w && i < weights_count(w) && !any; i++) {
        const weights_tensor *t = weights_at(w, i);
        any = (t->blocks == &BLOCKS_Q4_1 || t->blocks == &BLOCKS_Q5_1) && (tied || strcmp(t->name, "token_embd.weight") != 0);
    }
    return any;
}

/* Checks everything except values. */
static rapt_code check_folder(const hub_family *family, hub_net *k, const weights *w, const model_source *from, hub_summary *s,
                              rapt_error *err)
{
    rapt_model *m = s->model = calloc(1, sizeof *m);
    if (!m)
        return rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for a model", from->folder);
    m->task = hub_task_of(family, from->config);
    m->family = family->type;
    rapt_code code = load_text(m, family, k, from, err);
    code = code ? code : settle_output(family, k, w, from, err);
    code = code ? code : check_shapes_of_files(m, family, k, w, from, err);
    if (!code)
        sum_up_memory(s);
    s->rounds_anew = !code && rounds_anew(m, w);
    if (!code && m->task == RAPT_TASK_LANGUAGE_MODEL)
        code = hub_special_unheeded(m->language.tokenizer, from, s->unheeded, err);
    return code;
}

rapt_code hub_model_check(const model_source *from, const weights *w, hub_summary *summary, rapt_error *err)
{
    hub_net k = {0};
    const hub_family *family = find_family(from->config, from->config_path, err);
    *summary = (hub_summary){.program = family ? model_task_of(hub_task_of(family, from->config))->program : NULL};
    rapt_code code = family ? read_config(family, from->config, from->config_path, &k, err) : RAPT_ERR_VALUE;
    if (!code && from->folder)
        code = check_folder(family, &k, w, from, summary, err);
    if (code) {
        rapt_model_free(summary->model);
        summary->model = NULL;
    }
    return code;
}

rapt_code hub_model_load(rapt_model *m, const model_source *from, rapt_task wanted, rapt_error *err)
{
    const hub_family *family = find_family(from->config, from->config_path, err);
    if (!family)
        return RAPT_ERR_VALUE;
    m->task = hub_task_of(family, from->config);
    m->family = family->type;
    const model_task *task = model_task_of(m->task);
    if (wanted == RAPT_TASK_ENCODER && m->task != wanted && hub_sentence_is_there(from->folder))
        return rapt_fail(err, RAPT_ERR_VALUE, "%s is an embedder of type %s, by its modules.json of sentence-transformers; of "
                         "these rapt runs bert, roberta, xlm-roberta and distilbert", from->folder, family->type);
    if (wanted != RAPT_TASK_ANY && m->task != wanted)
        return rapt_fail(err, RAPT_ERR_VALUE, "%s is %s; %s runs it", from->folder, task->what, task->program);
    if (from->sealing)
        return rapt_fail(err, RAPT_ERR_VALUE, "%s is a Hugging Face folder, which has no seal", from->folder);
    if (from->places && from->add)
        return rapt_fail(err, RAPT_ERR_VALUE, "%s is a GGUF file; rapt adds adapters to Hugging Face folders, whose names they "
                         "have: convert it with `rapt convert %s --to hf -o DIR`", from->folder, from->folder);
    return load_hub(m, family, from, err);
}
