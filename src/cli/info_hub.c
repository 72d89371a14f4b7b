/* cli/info_hub.c: everything comes from config.json, generation_config.json and the tokenizer. */
#include "cli/info_hub.h"

#include "cli/cli.h"
#include "cli/cmd_info.h"
#include "explain/input/token_name.h"
#include "io/config_block.h"
#include "nn/block.h"
#include "nn/weight_types.h"

#include <stdio.h>
#include <stdlib.h>

enum { DIFFERENCES = 8, DIFFERENCE = 160 };

/* ---- words ------------------------------------------------------------------------------------------------------ */

/* Switches without a default: the compiler warns if a value is added and has no word. Words of config.json are in its table. */
static const char *place_word(rapt_norm_place place)
{
    switch (place) {
    case RAPT_NORM_PLACE_POST:
    case RAPT_NORM_PLACE_PRE: return CONFIG_NORM_PLACES[place];
    case RAPT_NORM_PLACE_OUTPUT: return "output";
    case RAPT_NORM_PLACE_SANDWICH: return "sandwich";
    }
    return "unknown";
}

static const char *norm_word(rapt_norm_kind kind)
{
    switch (kind) {
    case RAPT_NORM_KIND_LAYER:
    case RAPT_NORM_KIND_RMS: return CONFIG_NORM_KINDS[kind];
    }
    return "unknown";
}

static const char *ffn_word(rapt_ffn_kind kind)
{
    switch (kind) {
    case RAPT_FFN_RELU:
    case RAPT_FFN_GELU:
    case RAPT_FFN_GELU_TANH:
    case RAPT_FFN_SWIGLU:
    case RAPT_FFN_SILU: return CONFIG_FFN_KINDS[kind];
    case RAPT_FFN_GEGLU_TANH: return "geglu_tanh";
    }
    return "unknown";
}

static const char *pooling_word(rapt_pooling pooling)
{
    switch (pooling) {
    case RAPT_POOLING_AS_STORED: return "as stored";
    case RAPT_POOLING_MEAN: return "mean";
    case RAPT_POOLING_CLS: return "cls";
    case RAPT_POOLING_MAX: return "max";
    }
    return "unknown";
}

/* ---- what differs ----------------------------------------------------------------------------------------------- */

/* The ways in which rapt differs from generate() with the same folder; docs/models.md has the differences of all models. */
typedef struct info_differences {
    char text[DIFFERENCES][DIFFERENCE];
    size_t count;
} info_differences;

static info_differences info_hub_differences(const hub_summary *summary)
{
    const rapt_model *m = summary->model;
    info_differences d = {.count = 0};
    const rapt_search_policy *s = &m->search;
    const bool language = m->task == RAPT_TASK_LANGUAGE_MODEL, pair = m->task == RAPT_TASK_TRANSLATION;
    const bool bounded = s->max_length > 0 || s->max_new_tokens > 0;
    const rapt_rotary_scaling *r = language ? &m->language.net->config.rotary_scaling : NULL;
    /* With "do_sample": true both are set. */
    if (language && !s->greedy && (s->temperature == 0 || s->top_k == 0))
        snprintf(d.text[d.count++], DIFFERENCE,
                 "rapt generate samples, where generate() takes the most probable token: --greedy");
    else if (language && !s->greedy)
        snprintf(d.text[d.count++], DIFFERENCE, "samples are drawn with other random numbers");
    if (language && bounded)
        snprintf(d.text[d.count++], DIFFERENCE, "--max-tokens bounds a text, not the folder");
    if (pair && !bounded)
        snprintf(d.text[d.count++], DIFFERENCE,
                 "a translation has up to twice its source's tokens and 10, where generate() stops at 20: --max-length-ratio");
    if (r && r->kind == RAPT_ROTARY_LONG && r->magnitude != 1) /* magnitude 1 is Llama 3's scaling in a GGUF file */
        snprintf(d.text[d.count++], DIFFERENCE, "the context ends at %zu tokens, where its positions would change",
                 m->language.net->config.context);
    for (size_t i = 0; i < 2; i++)
        if (summary->unheeded[i])
            snprintf(d.text[d.count++], DIFFERENCE, "\"%s\" of tokenizer_config.json is not heeded, as in transformers 5: "
                     "tokenizer.json decides what is put around a text", i == 0 ? "add_bos_token" : "add_eos_token");
    if (m->language.has_end_of_turn)
        snprintf(d.text[d.count++], DIFFERENCE, "replies of chats end at token %d, too, \"eos_token\" of the tokenizer",
                 (int)m->language.end_of_turn);
    if (summary->rounds_anew)
        snprintf(d.text[d.count++], DIFFERENCE,
                 "products with matrices in Q4_1 and Q5_1 are made of Q8_0, to which they are rounded: --weights fp32");
    return d;
}

/* ---- special ids ------------------------------------------------------------------------------------------------ */

typedef struct info_special {
    const char *name, *key; /* for people, and for programs */
    const int32_t *ids;
    size_t count;
} info_special;

enum { SPECIALS = 5 };

/* A row that is not there ends them. */
static void info_hub_specials(const rapt_model *m, info_special all[SPECIALS + 1])
{
    const rapt_translation_model *t = &m->translation;
    const info_special language[] = {{"end of text", "eos_token_id", m->language.end_of_text, m->language.end_of_text_count}};
    const info_special pair[] = {{"unknown", "unk_token_id", &t->special.unk, 1},
                                 {"padding", "pad_token_id", &t->special.pad, 1},
                                 {"start", "decoder_start_token_id", &t->special.bos, 1},
                                 {"end", "eos_token_id", &t->special.eos, 1},
                                 {"before a source", "source_begin", t->source_begin, t->source_begin_count}};
    const bool is_language = m->task == RAPT_TASK_LANGUAGE_MODEL;
    const size_t count = is_language ? 1 : m->task == RAPT_TASK_TRANSLATION ? SPECIALS : 0;
    for (size_t i = 0; i <= SPECIALS; i++)
        all[i] = i < count ? (is_language ? language : pair)[i] : (info_special){NULL, NULL, NULL, 0};
}

static const rapt_tokenizer *target_tokenizer(const rapt_model *m)
{
    return m->task == RAPT_TASK_LANGUAGE_MODEL ? m->language.tokenizer
           : m->task == RAPT_TASK_TRANSLATION  ? m->translation.target : m->encoder.tokenizer;
}

static void info_hub_print_specials(const rapt_model *m)
{
    info_special all[SPECIALS + 1];
    const char *before = "special ids   ";
    info_hub_specials(m, all);
    for (const info_special *s = all; s->name; s++) {
        if (s->count == 0)
            continue;
        printf("%s%s", before, s->name);
        for (size_t i = 0; i < s->count; i++) {
            char *name = s->ids[i] >= 0 ? token_name(target_tokenizer(m), s->ids[i]) : NULL;
            printf(s->ids[i] < 0 ? " none" : name && *name ? " %d %s" : " %d", (int)s->ids[i], name ? name : "");
            free(name);
        }
        before = ", ";
    }
    puts(*before == ',' ? "" : "special ids   none");
}

/* ---- as text ---------------------------------------------------------------------------------------------------- */

static void info_hub_print_block(const rapt_block_config *b)
{
    printf(", norms %s (%s)\n", place_word(b->norm_place), norm_word(b->norm_kind));
    printf("d_model       %zu, %zu heads of %zu features, %zu of keys and values, ffn %zu (%s)\n", b->d_model, b->heads,
           block_head_features(b), b->kv_heads, b->ffn, ffn_word(b->ffn_kind));
}

static size_t windowed(const rapt_lm_config *c)
{
    size_t count = 0;
    for (size_t i = 0; i < c->layers; i++)
        count += c->windowed.bits[i / 64] >> i % 64 & 1;
    return count;
}

static void print_lm(const rapt_model *m)
{
    const rapt_lm_config *c = &m->language.net->config;
    printf("blocks        %zu", c->layers);
    info_hub_print_block(&c->block);
    printf("vocabulary    %zu%s\n", c->vocab, c->tied ? ", embedding and output tied" : "");
    printf("context       %zu tokens, %s positions\n", c->context, cli_positions_word(c->positions));
    if (c->window > 0)
        printf("window        %zu tokens, in %zu of the blocks\n", c->window, windowed(c));
    printf("tokenizer     %s, %zu tokens\n", info_tokenizer_kind(m->language.tokenizer),
           rapt_tokenizer_size(m->language.tokenizer));
}

static void print_pair(const rapt_model *m)
{
    const rapt_transformer_config *c = &m->translation.net->config;
    printf("blocks        %zu encoder, %zu decoder", c->layers, c->decoder_layers);
    info_hub_print_block(&c->block);
    if (c->decoder_heads != c->block.heads || c->decoder_ffn != c->block.ffn)
        printf("decoder       %zu heads, ffn %zu\n", c->decoder_heads, c->decoder_ffn);
    printf("vocabularies  %zu source, %zu target%s\n", c->source_vocab, c->target_vocab,
           c->tied ? ", embeddings and output tied" : "");
    printf("sentences     up to %zu tokens, %s positions\n", c->max_positions, cli_positions_word(c->positions));
    printf("tokenizer     %s, %zu source tokens, %zu target tokens\n", info_tokenizer_kind(m->translation.target),
           rapt_tokenizer_size(m->translation.source), rapt_tokenizer_size(m->translation.target));
}

/* What becomes of a cross-encoder's logit. */
static const char *score_word(const rapt_encoder_model *m)
{
    return m->sigmoid ? "sigmoid" : "logit";
}

static void print_encoder(const rapt_model *m)
{
    const rapt_transformer_config *c = &m->encoder.net->config;
    printf("blocks        %zu encoder", c->layers);
    info_hub_print_block(&c->block);
    printf("vocabulary    %zu\n", c->source_vocab);
    if (m->task == RAPT_TASK_CROSS_ENCODER)
        printf("pairs         up to %zu tokens, score: %s\n", m->encoder.max_len, score_word(&m->encoder));
    else
        printf("texts         up to %zu tokens, %s pooling%s\n", m->encoder.max_len, pooling_word(m->encoder.pooling),
               m->encoder.normalize ? ", normalized" : "");
    printf("tokenizer     %s, %zu tokens\n", info_tokenizer_kind(m->encoder.tokenizer),
           rapt_tokenizer_size(m->encoder.tokenizer));
}

/* Bytes of the keys and values of one token, in all layers. For a translator, in its decoder's layers: a token of its own text
 * and a token of the source. */
static double kv_bytes(const hub_summary *s, rapt_type storage)
{
    const rapt_transformer_config *c = s->model->translation.net ? &s->model->translation.net->config : NULL;
    rapt_kv_sizes sizes = s->kv;
    if (c) {
        const rapt_block_config block = block_of_decoder(c);
        sizes = (rapt_kv_sizes){.layers = c->decoder_layers, .features = block_kv_features(&block),
                                .head = block_head_features(&block)};
    }
    sizes.storage = storage;
    return (double)rapt_kv_position_bytes(&sizes);
}

/* "96.0 kB (48.0 kB in bf16, 25.5 kB in q8_0)" for that number of tokens. */
static const char *kv_text(const hub_summary *s, double tokens, char text[96])
{
    char fp32[32], bf16[32], q8[32];
    snprintf(text, 96, "%s (%s in bf16, %s in q8_0)", cli_bytes(tokens * kv_bytes(s, RAPT_TYPE_FP32), fp32),
             cli_bytes(tokens * kv_bytes(s, RAPT_TYPE_BF16), bf16), cli_bytes(tokens * kv_bytes(s, RAPT_TYPE_Q8_0), q8));
    return text;
}

static void info_hub_print_memory(const hub_summary *s)
{
    char fp32[32], bf16[32], q8_0[32], q4_0[32], text[96];
    printf("memory        weights %s in fp32, %s in bf16, %s in q8_0, %s in q4_0\n",
           cli_bytes(s->weights[RAPT_TYPE_FP32], fp32), cli_bytes(s->weights[RAPT_TYPE_BF16], bf16),
           cli_bytes(s->weights[RAPT_TYPE_Q8_0], q8_0), cli_bytes(s->weights[RAPT_TYPE_Q4_0], q4_0));
    if (s->model->task == RAPT_TASK_TRANSLATION)
        printf("              KV cache %s per 1,000 tokens of source and translation\n", kv_text(s, 1000, text));
    else if (s->kv.capacity > 0) {
        printf("              KV cache %s per 1,000 tokens,\n", kv_text(s, 1000, text));
        printf("              %s at the whole context of %zu (--context N: fewer)\n", kv_text(s, (double)s->kv.capacity, text),
               s->kv.capacity);
    }
}

void info_hub_print(const hub_summary *s)
{
    const info_differences d = info_hub_differences(s);
    const rapt_task task = s->model->task;
    (task == RAPT_TASK_LANGUAGE_MODEL ? print_lm : task == RAPT_TASK_TRANSLATION ? print_pair : print_encoder)(s->model);
    if (!s->model->encoder.net)
        info_hub_print_specials(s->model);
    info_hub_print_memory(s);
    for (size_t i = 0; i < d.count; i++)
        printf("%-14s%s\n", i > 0 ? "" : "differs", d.text[i]);
    if (d.count == 0)
        puts("differs       in nothing that is known");
}

/* ---- as JSON ---------------------------------------------------------------------------------------------------- */

static json_t *info_hub_block_json(const rapt_block_config *b)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:s, s:s, s:s}", "d_model", (json_int_t)b->d_model, "heads", (json_int_t)b->heads,
                     "head_features", (json_int_t)block_head_features(b), "kv_heads", (json_int_t)b->kv_heads, "ffn",
                     (json_int_t)b->ffn, "ffn_kind", ffn_word(b->ffn_kind), "norm_place", place_word(b->norm_place), "norm_kind",
                     norm_word(b->norm_kind));
}

static json_t *lm_json(const rapt_lm_config *c)
{
    return json_pack("{s:I, s:I, s:b, s:I, s:s, s:I}", "layers", (json_int_t)c->layers, "vocabulary", (json_int_t)c->vocab,
                     "tied", (int)c->tied, "context", (json_int_t)c->context, "positions", cli_positions_word(c->positions),
                     "window", (json_int_t)c->window);
}

static json_t *pair_json(const rapt_transformer_config *c)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:I, s:s}", "layers", (json_int_t)c->layers, "decoder_layers",
                     (json_int_t)c->decoder_layers, "decoder_heads", (json_int_t)c->decoder_heads, "decoder_ffn",
                     (json_int_t)c->decoder_ffn, "source_vocabulary", (json_int_t)c->source_vocab, "target_vocabulary",
                     (json_int_t)c->target_vocab, "tied", (int)c->tied, "sentence", (json_int_t)c->max_positions,
                     "positions", cli_positions_word(c->positions));
}

static json_t *encoder_json(const rapt_model *m)
{
    const rapt_transformer_config *c = &m->encoder.net->config;
    return json_pack("{s:I, s:I, s:s}", "layers", (json_int_t)c->layers, "vocabulary", (json_int_t)c->source_vocab, "positions",
                     cli_positions_word(c->positions));
}

/* How an encoder makes a vector of a text. */
static json_t *embedding_json(const rapt_encoder_model *m)
{
    return json_pack("{s:I, s:s, s:b}", "tokens", (json_int_t)m->max_len, "pooling", pooling_word(m->pooling), "normalize",
                     (int)m->normalize);
}

static json_t *sizes_json(const rapt_model *m)
{
    return m->task == RAPT_TASK_LANGUAGE_MODEL ? lm_json(&m->language.net->config)
           : m->task == RAPT_TASK_TRANSLATION  ? pair_json(&m->translation.net->config) : encoder_json(m);
}

static const rapt_block_config *info_hub_block_of(const rapt_model *m)
{
    return m->task == RAPT_TASK_LANGUAGE_MODEL ? &m->language.net->config.block
           : m->task == RAPT_TASK_TRANSLATION  ? &m->translation.net->config.block : &m->encoder.net->config.block;
}

static json_t *info_hub_specials_json(const rapt_model *m)
{
    info_special all[SPECIALS + 1];
    json_t *o = json_object();
    info_hub_specials(m, all);
    for (const info_special *s = all; o && s->name; s++) {
        json_t *list = json_array();
        for (size_t i = 0; list && i < s->count; i++)
            if (s->ids[i] >= 0)
                json_array_append_new(list, json_integer(s->ids[i]));
        json_object_set_new(o, s->key, list);
    }
    return o;
}

/* "context" is of language models. */
static json_t *info_hub_memory_json(const hub_summary *s)
{
    json_t *o = json_object();
    for (rapt_type p = RAPT_TYPE_FP32; o && p <= RAPT_TYPE_Q4_0; p++)
        json_object_set_new(o, rapt_type_name(p), json_integer((json_int_t)s->weights[p]));
    json_object_set_new(o, "kv_bytes_per_token", json_integer((json_int_t)kv_bytes(s, RAPT_TYPE_FP32)));
    json_object_set_new(o, "kv_bytes_per_token_bf16", json_integer((json_int_t)kv_bytes(s, RAPT_TYPE_BF16)));
    json_object_set_new(o, "kv_bytes_per_token_q8_0", json_integer((json_int_t)kv_bytes(s, RAPT_TYPE_Q8_0)));
    if (o && s->kv.capacity > 0)
        json_object_set_new(o, "context", json_integer((json_int_t)s->kv.capacity));
    return o;
}

static json_t *differences_json(const hub_summary *s)
{
    const info_differences d = info_hub_differences(s);
    json_t *list = json_array();
    for (size_t i = 0; list && i < d.count; i++)
        json_array_append_new(list, json_string(d.text[i]));
    return list;
}

bool info_hub_add_json(const hub_summary *s, json_t *o)
{
    const rapt_model *m = s->model;
    const rapt_tokenizer *k = target_tokenizer(m);
    json_t *net = info_hub_block_json(info_hub_block_of(m)), *sizes = sizes_json(m);
    const bool ok = net && sizes && json_object_update(net, sizes) == 0;
    json_decref(sizes);
    json_t *more = json_pack("{s:o, s:s, s:I, s:o, s:o, s:o}", "network", net, "tokenizer_kind", info_tokenizer_kind(k),
                             "tokenizer_size", (json_int_t)rapt_tokenizer_size(k), "special_ids", info_hub_specials_json(m),
                             "memory", info_hub_memory_json(s), "differs", differences_json(s));
    bool added = ok && more && json_object_update(o, more) == 0;
    if (added && m->task == RAPT_TASK_ENCODER)
        added = json_object_set_new(o, "embedding", embedding_json(&m->encoder)) == 0;
    if (added && m->task == RAPT_TASK_CROSS_ENCODER)
        added = json_object_set_new(o, "pairs", json_pack("{s:I, s:s}", "tokens", (json_int_t)m->encoder.max_len, "score",
                                                          score_word(&m->encoder))) == 0;
    json_decref(more);
    return added;
}
