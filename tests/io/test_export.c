/* tests/io/test_export.c: models written for other programs: what was written is read by src/io/hub, which is compared with
 * transformers in test_hub.c; and what is refused. For src/io/export.
 * labels: raced-late */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "folder.h"
#include "io/model_core.h"
#include "loading.h"
#include "options.h"

enum { VOCAB = 300, CONTEXT = 32, D = 24, HEADS = 3 };

static const char TEXT[] = "It was a bright cold day in April, and the clocks were striking thirteen. It was a day.\n";

/* ---- models --------------------------------------------------------------------------------------------------- */

/* Numbers of a wide range in all parameters, so that one that is dropped, moved or exchanged shows. */
static void fill(const rapt_params *set)
{
    uint32_t state = 12345;
    for (size_t i = 0; i < rapt_params_count(set); i++) {
        rapt_param *p = rapt_params_at(set, i);
        for (size_t k = 0; k < rapt_tensor_size(&p->value) && !p->buffer; k++) {
            state = state * 1664525 + 1013904223;
            p->value.data[k] = (rapt_real)((double)(state >> 8) / (1 << 23) - 1) / 2;
        }
    }
}

static rapt_tokenizer *bpe(void)
{
    rapt_error err = {0};
    static const char *const specials[] = {"<|endoftext|>"};
    const rapt_bpe_options o = TRAIN_BPE(.vocab_size = VOCAB, .specials = specials, .special_count = 1);
    rapt_tokenizer *k = rapt_tokenizer_train_bpe(TEXT, strlen(TEXT), &o, &err);
    assert_string_equal(err.message, "");
    return k;
}

/* Takes ownership of the tokenizer. */
static rapt_model *model_of(rapt_lm_config c, rapt_tokenizer *k)
{
    rapt_error err = {0};
    rapt_model *m = calloc(1, sizeof *m);
    assert_non_null(m);
    c.vocab = rapt_tokenizer_size(k);
    m->task = RAPT_TASK_LANGUAGE_MODEL;
    m->language.net = rapt_lm_new(&c, 7, &err);
    assert_string_equal(err.message, "");
    m->language.tokenizer = k;
    m->params = m->language.net->params;
    fill(m->params);
    return m;
}

#define SHAPE(...) {.layers = 2, .context = CONTEXT, .block = {.d_model = D, .heads = HEADS, __VA_ARGS__}}

static rapt_lm_config gpt2(void)
{
    rapt_lm_config c = SHAPE(.ffn = 40, .norm_place = RAPT_NORM_PLACE_PRE, .ffn_kind = RAPT_FFN_GELU_TANH, .bias = true);
    c.positions = RAPT_POSITIONS_LEARNED;
    c.tied = true;
    return c;
}

static rapt_lm_config llama(void)
{
    rapt_lm_config c = SHAPE(.ffn = 40, .kv_heads = 1, .norm_place = RAPT_NORM_PLACE_PRE, .norm_kind = RAPT_NORM_KIND_RMS,
                             .ffn_kind = RAPT_FFN_SWIGLU, .no_ffn_bias = true, .no_norm_bias = true, .norm_eps = 1e-4);
    c.positions = RAPT_POSITIONS_ROTARY;
    c.rotary_base = 700;
    return c;
}

static rapt_lm_config gpt(void)
{
    rapt_lm_config c = gpt2();
    c.block.norm_place = RAPT_NORM_PLACE_POST;
    c.block.ffn = 4 * D;
    return c;
}

/* ---- there and back ------------------------------------------------------------------------------------------- */

static rapt_model *write_and_read(const rapt_model *m, const char *name)
{
    rapt_error err = {0};
    assert_int_equal(rapt_model_export(m, folder_in(name), NULL, &err), RAPT_OK);
    rapt_model *read = rapt_model_load(folder_in(name), NULL, &err);
    assert_string_equal(err.message, "");
    assert_non_null(read);
    return read;
}

static void same_logits(const rapt_model *a, const rapt_model *b)
{
    rapt_error err = {0};
    int32_t ids[CONTEXT];
    for (int32_t i = 0; i < CONTEXT; i++)
        ids[i] = i * 37 % (int32_t)a->language.net->config.vocab;
    const rapt_tokens tokens = {.ids = ids, .batch = 1, .time = CONTEXT};
    rapt_tape *t = rapt_tape_new(&(rapt_compute){.threads = 1}, &err);
    rapt_tape *u = rapt_tape_new(&(rapt_compute){.threads = 2}, &err);
    rapt_tape_begin(t, (rapt_pass){0});
    rapt_tape_begin(u, (rapt_pass){0});
    const rapt_tensor *x = rapt_lm_forward(t, a->language.net, tokens), *y = rapt_lm_forward(u, b->language.net, tokens);
    assert_int_equal(rapt_tape_error(t)->code, RAPT_OK);
    assert_int_equal(rapt_tape_error(u)->code, RAPT_OK);
    assert_int_equal(rapt_tensor_size(x), rapt_tensor_size(y));
    assert_memory_equal(x->data, y->data, rapt_tensor_size(x) * sizeof *x->data);
    rapt_tape_free(t);
    rapt_tape_free(u);
}

static void language_models_come_back_with_their_bits(void **state)
{
    rapt_lm_config cases[] = {gpt2(), gpt2(), gpt2(), gpt2(), llama(), llama(), llama(), gpt2(), llama(), gpt2()};
    cases[1].block.bias = false;
    cases[1].block.no_ffn_bias = cases[1].block.no_norm_bias = true;
    cases[1].block.ffn_kind = RAPT_FFN_GELU;
    cases[2].tied = false;
    cases[2].block.ffn_kind = RAPT_FFN_RELU;
    cases[3].positions = RAPT_POSITIONS_SINUSOIDAL;
    cases[5].tied = true;
    cases[6].block.bias = true;
    cases[6].block.no_ffn_bias = false;
    cases[7].block.shared_norm = true;
    cases[8].scale_embedding = true; /* Granite */
    cases[9].positions = RAPT_POSITIONS_ROTARY; /* GPT-NeoX */
    cases[9].tied = false;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char name[16];
        snprintf(name, sizeof name, "%zu", i);
        rapt_model *m = model_of(cases[i], bpe()), *read = write_and_read(m, name);
        same_logits(m, read);
        assert_int_equal(rapt_tokenizer_hash(m->language.tokenizer), rapt_tokenizer_hash(read->language.tokenizer));
        rapt_model_free(m);
        rapt_model_free(read);
    }
}

/* The token that ends a text, and that generation begins after. */
static void special_tokens_come_back(void **state)
{
    (void)state;
    rapt_model *m = model_of(gpt2(), bpe());
    m->language.end_of_text[0] = rapt_tokenizer_special(m->language.tokenizer, "<|endoftext|>");
    m->language.end_of_text_count = 1;
    rapt_model *one = write_and_read(m, "one");
    assert_int_equal(one->language.end_of_text_count, 1);
    assert_int_equal(one->language.end_of_text[0], m->language.end_of_text[0]);
    m->language.end_of_text[1] = 5;
    m->language.end_of_text_count = 2;
    rapt_model *two = write_and_read(m, "two");
    assert_int_equal(two->language.end_of_text_count, 2);
    assert_int_equal(two->language.end_of_text[1], 5);
    m->language.end_of_text_count = 0;
    rapt_model *none = write_and_read(m, "none");
    assert_int_equal(none->language.end_of_text_count, 0);
    rapt_model_free(m);
    rapt_model_free(one);
    rapt_model_free(two);
    rapt_model_free(none);
}

/* ---- tokenizers ----------------------------------------------------------------------------------------------- */

static const char *const LINES[] = {"It was, a day!", " it  was\ta\u00A0day\u202F.", "...a..was.,!?day d ,It", "",
                                    "\xCE\x9F\xCE\x94\xCE\x9F\xCE\xA3 \xCE\xA3\xCE\x91\xCE\xA3 \xCE\x91\xCE\xA3. \xCE\xA3",
                                    "\xCE\x91\xCE\xA3'\xCE\x92 \xCE\x91\xCC\x81\xCE\xA3", "unknown \xE6\x97\xA5 \xC4\xB0S",
                                    "April clocks"};

/* A model folder's tokenizer gives the same ids as the model's. */
static void same_ids(const rapt_tokenizer *a, const rapt_tokenizer *b)
{
    for (size_t i = 0; i < sizeof LINES / sizeof *LINES; i++) {
        rapt_error err = {0};
        int32_t *x = NULL, *y = NULL;
        size_t n = 0, m = 0;
        const rapt_code code = rapt_tokenizer_encode_bytes(a, LINES[i], strlen(LINES[i]), NULL, &x, &n, NULL);
        const rapt_code other = rapt_tokenizer_encode_bytes(b, LINES[i], strlen(LINES[i]), NULL, &y, &m, &err);
        if ((code == RAPT_OK) != (other == RAPT_OK) || n != m || (n && memcmp(x, y, n * sizeof *x) != 0))
            fail_msg("\"%s\": %zu and %zu ids %s", LINES[i], n, m, err.message);
        if (code == RAPT_OK) {
            char *text = rapt_tokenizer_decode(a, x, n, NULL), *again = rapt_tokenizer_decode(b, y, m, NULL);
            assert_string_equal(text, again);
            free(text);
            free(again);
        }
        free(x);
        free(y);
    }
}

static void every_kind_of_tokenizer_gives_its_ids(void **state)
{
    static const char *const lines[] = {"It was, a day! .was \xCE\xBF\xCE\xB4\xCE\xBF\xCF\x82 \xCF\x83\xCE\xB1\xCF\x82 "
                                        "\xCE\xB1\xCF\x82 \xCF\x83",
                                        "a . , ? .. i\xCC\x87s \xCE\xB1\xCF\x83'\xCE\xB2 \xCE\xB1\xCC\x81\xCF\x82"};
    const rapt_bpe_options plain = TRAIN_BPE(.vocab_size = VOCAB, .specials_first = true,
                                    .normalization = RAPT_NORMALIZATION_PLAIN_LOWERCASE);
    rapt_error err = {0};
    (void)state;
    rapt_tokenizer *const kinds[] = {
        rapt_tokenizer_train_words(lines, 2, NULL, &err),
        rapt_tokenizer_train_words(lines, 2, &TRAIN_WORDS(.lowercase = true), &err),
        rapt_tokenizer_train_characters(TEXT, strlen(TEXT), &err),
        rapt_tokenizer_train_characters_with(TEXT, strlen(TEXT), &TRAIN_CHARACTERS(.specials_first = true), &err),
        rapt_tokenizer_train_bpe(TEXT, strlen(TEXT), &plain, &err)};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char name[16];
        assert_non_null(kinds[i]);
        snprintf(name, sizeof name, "%zu", i);
        rapt_model *m = model_of(gpt2(), kinds[i]), *read = write_and_read(m, name);
        same_ids(kinds[i], read->language.tokenizer);
        rapt_model_free(m);
        rapt_model_free(read);
    }
}

static void refused(const rapt_model *m, const char *message)
{
    rapt_error err = {0};
    assert_int_equal(rapt_model_export(m, folder_in("no"), NULL, &err), RAPT_ERR_VALUE);
    if (!strstr(err.message, message) || strncmp(err.message, folder_path, strlen(folder_path)) != 0)
        fail_msg("no \"%s\" in: %s", message, err.message);
    assert_int_equal(folder_entries(folder_path), 0);
}

/* ---- CTranslate2 ---------------------------------------------------------------------------------------------- */

typedef struct variable {
    char name[96], alias[96];
    int dimensions, type;
    uint32_t shape[4], bytes;
    const char *data;
} variable;

typedef struct bin {
    char *file, *at;
    char specification[64];
    uint32_t version, revision, count;
    variable list[128];
} bin;

static uint32_t take(bin *b, size_t size)
{
    uint32_t number = 0;
    memcpy(&number, b->at, size);
    b->at += size;
    return number;
}

static void take_text(bin *b, char *text, size_t room)
{
    const uint32_t length = take(b, 2);
    assert_in_range(length, 2, room);
    memcpy(text, b->at, length);
    assert_int_equal(strlen(text) + 1, length);
    b->at += length;
}

/* As export_folder.h describes model_bin.c, which is what CTranslate2's model.cc reads; to the last byte. */
static void bin_read(bin *b, const char *path)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    assert_non_null(b->file = b->at = calloc(1, 1 << 20));
    const size_t size = fread(b->file, 1, 1 << 20, f);
    fclose(f);
    b->version = take(b, 4);
    take_text(b, b->specification, sizeof b->specification);
    b->revision = take(b, 4);
    b->count = take(b, 4);
    for (uint32_t i = 0; i < b->count; i++) {
        variable *v = &b->list[i];
        take_text(b, v->name, sizeof v->name);
        assert_true(i == 0 || strcmp(b->list[i - 1].name, v->name) < 0);
        v->dimensions = (int)take(b, 1);
        for (int d = 0; d < v->dimensions; d++)
            v->shape[d] = take(b, 4);
        v->type = (int)take(b, 1);
        v->bytes = take(b, 4);
        v->data = b->at;
        b->at += v->bytes;
    }
    for (uint32_t i = take(b, 4); i > 0; i--) {
        take_text(b, b->list[b->count].name, sizeof b->list->name);
        take_text(b, b->list[b->count].alias, sizeof b->list->alias);
        b->count++;
    }
    assert_int_equal(b->at - b->file, size);
}

static const variable *bin_find(const bin *b, const char *name)
{
    for (uint32_t i = 0; i < b->count; i++)
        if (strcmp(b->list[i].name, name) == 0)
            return b->list[i].alias[0] ? bin_find(b, b->list[i].alias) : &b->list[i];
    fail_msg("no variable %s", name);
    return NULL;
}

/* Rows first .. of a variable are a parameter. */
static void holds(const bin *b, const char *name, const rapt_params *set, const char *ours, size_t first)
{
    const variable *v = bin_find(b, name);
    const rapt_tensor *t = &rapt_params_find(set, ours)->value;
    const size_t columns = t->ndim == 2 ? t->shape[1] : 1, bytes = rapt_tensor_size(t) * sizeof(float);
    assert_int_equal(v->type, 0);
    assert_int_equal(v->dimensions, t->ndim);
    assert_true(t->ndim == 1 || v->shape[1] == columns);
    assert_true(first * columns * sizeof(float) + bytes <= v->bytes);
    assert_memory_equal(v->data + first * columns * sizeof(float), t->data, bytes);
}

static int number_of(const bin *b, const char *name)
{
    const variable *v = bin_find(b, name);
    int16_t two;
    memcpy(&two, v->data, sizeof two);
    assert_int_equal(v->dimensions, 0);
    return v->type == 1 ? *(const int8_t *)v->data : two;
}

static rapt_model *translator_of(rapt_transformer_config c)
{
    rapt_error err = {0};
    static const char *const lines[] = {"It was a bright cold day in April", "and the clocks were striking thirteen"};
    rapt_model *m = calloc(1, sizeof *m);
    assert_non_null(m);
    m->task = RAPT_TASK_TRANSLATION;
    m->translation.source = rapt_tokenizer_train_words(lines, 1, NULL, &err);
    m->translation.target = c.tied ? m->translation.source : rapt_tokenizer_train_words(lines, 2, NULL, &err);
    c.source_vocab = rapt_tokenizer_size(m->translation.source);
    c.target_vocab = rapt_tokenizer_size(m->translation.target);
    m->translation.net = rapt_transformer_new(&c, 3, &err);
    assert_string_equal(err.message, "");
    m->translation.special = RAPT_SPECIAL_IDS;
    m->translation.max_len = 20;
    m->params = m->translation.net->params;
    fill(m->params);
    return m;
}

static rapt_transformer_config translator(void)
{
    return (rapt_transformer_config){.layers = 2, .max_positions = 20, .scale_embedding = true,
                                     .block = {.d_model = D, .heads = HEADS, .ffn = 40}};
}

static void translators_are_written_for_ctranslate2(void **state)
{
    rapt_error err = {0};
    bin b = {0};
    (void)state;
    rapt_model *m = translator_of(translator());
    const rapt_export_options o = {.size = sizeof o, .to = RAPT_EXPORT_CTRANSLATE2};
    assert_int_equal(rapt_model_export(m, folder_in("ct2"), &o, &err), RAPT_OK);
    bin_read(&b, folder_in("ct2/model.bin"));
    assert_int_equal(b.version, 6);
    assert_string_equal(b.specification, "TransformerSpec");
    assert_int_equal(b.revision, 7);
    holds(&b, "encoder/embeddings_0/weight", m->params, "encoder.embedding.weight", 0);
    holds(&b, "encoder/position_encodings/encodings", m->params, "encoder.positions.table", 0);
    holds(&b, "encoder/layer_1/self_attention/linear_0/weight", m->params, "encoder.1.attention.q.weight", 0);
    holds(&b, "encoder/layer_1/self_attention/linear_0/weight", m->params, "encoder.1.attention.v.weight", 2 * D);
    holds(&b, "encoder/layer_0/ffn/linear_1/bias", m->params, "encoder.0.ffn.dense2.bias", 0);
    holds(&b, "decoder/layer_1/attention/linear_1/weight", m->params, "decoder.1.cross_attention.v.weight", D);
    holds(&b, "decoder/layer_0/attention/layer_norm/gamma", m->params, "decoder.0.norm2.weight", 0);
    holds(&b, "decoder/layer_0/ffn/layer_norm/beta", m->params, "decoder.0.norm3.bias", 0);
    holds(&b, "decoder/projection/weight", m->params, "decoder.output.weight", 0);
    holds(&b, "decoder/projection/bias", m->params, "decoder.output.bias", 0);
    assert_int_equal(number_of(&b, "decoder/num_heads"), HEADS);
    assert_int_equal(number_of(&b, "encoder/scale_embeddings"), 1);
    assert_int_equal(number_of(&b, "encoder/pre_norm"), 0);
    assert_int_equal(number_of(&b, "decoder/alignment_layer"), -1);
    assert_true(file_exists(folder_in("ct2/target_vocabulary.json")) && file_exists(folder_in("ct2/target/tokenizer.json")));
    free(b.file);
    rapt_model_free(m);
}

static void language_models_are_written_for_ctranslate2(void **state)
{
    rapt_error err = {0};
    bin b = {0};
    json_error_t where;
    (void)state;
    rapt_lm_config c = llama();
    c.tied = true;
    rapt_model *m = model_of(c, bpe());
    const rapt_export_options o = {.size = sizeof o, .to = RAPT_EXPORT_CTRANSLATE2};
    assert_int_equal(rapt_model_export(m, folder_in("ct2"), &o, &err), RAPT_OK);
    bin_read(&b, folder_in("ct2/model.bin"));
    assert_string_equal(b.specification, "TransformerDecoderSpec");
    assert_int_equal(b.revision, 8);
    holds(&b, "decoder/projection/weight", m->params, "embedding.weight", 0);
    holds(&b, "decoder/layer_1/self_attention/linear_0/weight", m->params, "blocks.1.attention.v.weight", D + D / HEADS);
    holds(&b, "decoder/layer_0/ffn/linear_0/weight", m->params, "blocks.0.ffn.gate.weight", 0);
    holds(&b, "decoder/layer_0/ffn/linear_0_noact/weight", m->params, "blocks.0.ffn.up.weight", 0);
    assert_int_equal(number_of(&b, "decoder/layer_1/self_attention/num_heads_kv"), 1);
    assert_int_equal(number_of(&b, "decoder/activation"), 2);
    float base;
    memcpy(&base, bin_find(&b, "decoder/layer_0/self_attention/rotary_base")->data, sizeof base);
    assert_true(base == 700);
    json_t *vocabulary = json_load_file(folder_in("ct2/vocabulary.json"), 0, &where);
    assert_int_equal(json_array_size(vocabulary), rapt_tokenizer_size(m->language.tokenizer));
    const char *end = json_string_value(json_array_get(vocabulary, rapt_tokenizer_size(m->language.tokenizer) - 1));
    assert_string_equal(end, "<|endoftext|>");
    json_decref(vocabulary);
    free(b.file);
    rapt_model_free(m);
}

/* ---- translators for transformers ------------------------------------------------------------------------------ */

static const rapt_tensor *logits_of(rapt_tape *t, const rapt_model *m)
{
    static const int32_t source[] = {5, 4, 9, 8, 3}, target[] = {2, 4, 6, 7, 10, 5, 8};
    rapt_tape_begin(t, (rapt_pass){0});
    const rapt_tensor *y = rapt_transformer_forward(t, m->translation.net, (rapt_tokens){.ids = source, .batch = 1, .time = 5},
                                                    NULL, (rapt_tokens){.ids = target, .batch = 1, .time = 7});
    assert_int_equal(rapt_tape_error(t)->code, RAPT_OK);
    return y;
}

/* Sums of features in another order: not the same bits. */
static void close_logits(const rapt_model *a, const rapt_model *b)
{
    rapt_error err = {0};
    rapt_tape *t = rapt_tape_new(&(rapt_compute){.threads = 1}, &err);
    rapt_tape *u = rapt_tape_new(&(rapt_compute){.threads = 1}, &err);
    const rapt_tensor *x = logits_of(t, a), *y = logits_of(u, b);
    double most = 0, worst = 0;
    assert_int_equal(rapt_tensor_size(x), rapt_tensor_size(y));
    for (size_t i = 0; i < rapt_tensor_size(x); i++) {
        most = fmax(most, fabs((double)x->data[i]));
        worst = fmax(worst, fabs((double)(x->data[i] - y->data[i])));
    }
    if (!(most > 0.1 && worst < 3e-6 * most))
        fail_msg("%g of %g", worst, most);
    rapt_tape_free(t);
    rapt_tape_free(u);
}

static void translators_come_back(void **state)
{
    rapt_transformer_config cases[] = {translator(), translator(), translator(), translator()};
    static const char *const families[] = {"marian", "marian", "pegasus", "marian"};
    cases[1].tied = cases[2].tied = true;
    cases[1].block.bias = true;
    cases[1].block.ffn_kind = RAPT_FFN_SILU;
    cases[2].block.norm_place = RAPT_NORM_PLACE_PRE;
    cases[2].block.no_ffn_bias = cases[2].block.no_norm_bias = true;
    cases[2].scale_embedding = false;
    cases[3].block.d_model = 27;
    cases[3].block.shared_norm = true;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char name[16];
        snprintf(name, sizeof name, "%zu", i);
        rapt_model *m = translator_of(cases[i]), *read = write_and_read(m, name);
        assert_string_equal(read->family, families[i]);
        close_logits(m, read);
        assert_memory_equal(&read->translation.special, &m->translation.special, sizeof m->translation.special);
        same_ids(m->translation.source, read->translation.source);
        same_ids(m->translation.target, read->translation.target);
        rapt_model_free(m);
        rapt_model_free(read);
    }
}

static void what_no_translator_computes_is_refused(void **state)
{
    rapt_transformer_config cases[] = {translator(), translator(), translator(), translator(), translator(), translator(),
                                       translator()};
    static const char *const settings[] = {"\"positions\": \"learned\"", "\"positions\": \"rotary\"", "\"norm_kind\": \"rms\"",
                                           "\"norm_eps\"", "\"ffn_kind\": \"swiglu\"", "fewer \"kv_heads\"",
                                           "\"tied\": false, which PegasusForConditionalGeneration"};
    cases[0].positions = RAPT_POSITIONS_LEARNED;
    cases[1].positions = RAPT_POSITIONS_ROTARY;
    cases[2].block.norm_kind = RAPT_NORM_KIND_RMS;
    cases[3].block.norm_eps = 1e-6;
    cases[4].block.ffn_kind = RAPT_FFN_SWIGLU;
    cases[5].block.kv_heads = 1;
    cases[6].block.norm_place = RAPT_NORM_PLACE_PRE;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rapt_model *m = translator_of(cases[i]);
        refused(m, settings[i]);
        rapt_model_free(m);
    }
}

static void what_ctranslate2_has_not_is_refused(void **state)
{
    rapt_transformer_config cases[] = {translator(), translator()};
    static const char *const settings[] = {"\"positions\": \"rotary\"", "fewer \"kv_heads\""};
    cases[0].positions = RAPT_POSITIONS_ROTARY;
    cases[1].block.kv_heads = 1;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rapt_error err = {0};
        rapt_model *m = translator_of(cases[i]);
        const rapt_export_options o = {.size = sizeof o, .to = RAPT_EXPORT_CTRANSLATE2};
        assert_int_equal(rapt_model_export(m, folder_in("no"), &o, &err), RAPT_ERR_VALUE);
        assert_non_null(strstr(err.message, settings[i]));
        assert_int_equal(folder_entries(folder_path), 0);
        rapt_model_free(m);
    }
}

/* ---- what is refused ------------------------------------------------------------------------------------------ */

static void what_no_class_computes_is_refused(void **state)
{
    rapt_lm_config cases[] = {gpt2(), gpt2(), gpt2(), gpt(), gpt(), gpt(), llama(), llama(), llama(), gpt()};
    static const char *const settings[] = {"fewer \"kv_heads\"", "\"scale_embedding\": true", "\"ffn_kind\": \"swiglu\"",
                                           "\"ffn_kind\": \"gelu\"", "\"ffn\"", "\"output_bias\": true",
                                           "\"norm_place\": \"post\"",
                                           "other than \"swiglu\"", "\"ffn_kind\": \"swiglu\"", "\"norm_kind\": \"rms\""};
    cases[0].block.kv_heads = 1;
    cases[1].scale_embedding = true;
    cases[2].block.ffn_kind = RAPT_FFN_SWIGLU;
    cases[3].block.ffn_kind = RAPT_FFN_GELU;
    cases[4].block.ffn = D;
    cases[5].tied = false;
    cases[5].output_bias = true;
    cases[6].block.norm_place = RAPT_NORM_PLACE_POST;
    cases[7].block.ffn_kind = RAPT_FFN_RELU;
    cases[8].block.norm_kind = RAPT_NORM_KIND_LAYER;
    cases[9].block.norm_kind = RAPT_NORM_KIND_RMS;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rapt_model *m = model_of(cases[i], bpe());
        refused(m, settings[i]);
        rapt_model_free(m);
    }
}

static bool at_once(void *context)
{
    (void)context;
    return true;
}

static void nothing_is_left_of_what_fails(void **state)
{
    rapt_error err = {0};
    (void)state;
    rapt_model *m = model_of(gpt2(), bpe());
    const rapt_export_options stopped = {.size = sizeof stopped, .stop = at_once};
    assert_int_equal(rapt_model_export(m, folder_in("a/b/c"), &stopped, &err), RAPT_ERR_INTERRUPTED);
    assert_int_equal(folder_entries(folder_path), 0);
    err = (rapt_error){0};
    assert_int_equal(rapt_model_export(m, "/dev/null/x", NULL, &err), RAPT_ERR_IO);
    err = (rapt_error){0};
    assert_int_equal(rapt_model_export(m, folder_in("a/b/"), NULL, &err), RAPT_OK);
    assert_int_equal(folder_entries(folder_in("a")), 1);
    assert_int_equal(rapt_model_export(m, folder_in("a/b"), NULL, &err), RAPT_ERR_VALUE);
    assert_non_null(strstr(err.message, "is there already"));
    rapt_model_free(m);
}

typedef struct told {
    size_t tensor, count, calls;
} told;

static void note_progress(void *context, size_t tensor, size_t count)
{
    told *t = context;
    assert_true(tensor >= t->tensor && tensor <= t->tensor + 1 && tensor >= 1 && tensor <= count);
    assert_true(t->calls == 0 || count == t->count);
    *t = (told){tensor, count, t->calls + 1};
}

/* In every format the last tensor is told, and each before it. */
static void progress_is_told(void **state)
{
    rapt_error err = {0};
    (void)state;
    rapt_model *m = model_of(gpt2(), bpe());
    const rapt_export_format formats[] = {RAPT_EXPORT_HF, RAPT_EXPORT_CTRANSLATE2, RAPT_EXPORT_GGUF, RAPT_EXPORT_RAPT};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        char name[16];
        told t = {0};
        rapt_export_options o = rapt_export_options_default();
        o.to = formats[i], o.on_progress = note_progress, o.context = &t;
        o.weights = o.to == RAPT_EXPORT_RAPT ? RAPT_TYPE_BF16 : RAPT_TYPE_FP32;
        snprintf(name, sizeof name, "told%zu", i);
        if (rapt_model_export(m, folder_in(name), &o, &err) != RAPT_OK)
            fail_msg("%s", err.message);
        assert_true(t.calls > 10);
        assert_int_equal(t.tensor, t.count);
    }
    rapt_model_free(m);
    m = rapt_model_load(folder_in("told0"), NULL, NULL);
    assert_non_null(m);
    told t = {0};
    const rapt_export_options again = {.size = sizeof again, .on_progress = note_progress, .context = &t}, none = {.to = 0};
    assert_int_equal(rapt_model_export(m, folder_in("again"), &again, &err), RAPT_OK);
    assert_true(t.calls > 10 && t.tensor == t.count);
    assert_int_equal(rapt_model_export(m, folder_in("none"), &none, &err), RAPT_ERR_VALUE);
    assert_non_null(strstr(err.message, "rapt_export_options_default()"));
    rapt_model_free(m);
}

/* What stops at the third parameter is neither loaded nor left. */
static bool at_the_third(void *context)
{
    return ++*(int *)context >= 3;
}

static void loading_is_cancelled(void **state)
{
    rapt_error err = {0};
    (void)state;
    rapt_model *m = model_of(gpt2(), bpe());
    assert_int_equal(rapt_model_export(m, folder_in("hf"), NULL, &err), RAPT_OK);
    assert_int_equal(rapt_model_save(m, folder_in("own"), &err), RAPT_OK);
    rapt_model_free(m);
    for (int i = 0; i < 4; i++) {
        int asked = 0;
        rapt_load_options o = rapt_load_options_default();
        o.inference = i / 2, o.stop = at_the_third, o.context = &asked;
        err = (rapt_error){0};
        assert_null(rapt_model_load(folder_in(i % 2 ? "hf" : "own"), &o, &err));
        assert_int_equal(err.code, RAPT_ERR_INTERRUPTED);
        assert_int_equal(asked, 3);
    }
}

/* What was written is a Hugging Face folder, which is written again with the same files; what can't be written begins none. */
static void folders_of_others_are_written_again(void **state)
{
    rapt_error err = {0};
    (void)state;
    rapt_model *m = model_of(gpt2(), bpe());
    assert_int_equal(rapt_model_export(m, folder_in("first"), NULL, &err), RAPT_OK);
    rapt_model *read = rapt_model_load(folder_in("first"), NULL, NULL);
    rapt_model *later = load_inference(folder_in("first"), RAPT_TASK_LANGUAGE_MODEL, NULL);
    const rapt_export_options stopped = {.size = sizeof stopped, .stop = at_once};
    const rapt_export_options other = {.size = sizeof other, .to = RAPT_EXPORT_CTRANSLATE2};
    assert_non_null(read);
    assert_non_null(later);
    assert_int_equal(rapt_model_export(read, folder_in("no"), &stopped, &err), RAPT_ERR_INTERRUPTED);
    assert_int_equal(rapt_model_export(read, folder_in("no"), &other, &err), RAPT_ERR_VALUE);
    assert_int_equal(rapt_model_export(later, folder_in("no"), NULL, &err), RAPT_ERR_VALUE);
    assert_int_equal(folder_entries(folder_path), 1);
    assert_int_equal(rapt_model_export(read, folder_in("again"), NULL, &err), RAPT_OK);
    assert_int_equal(folder_entries(folder_in("again")), folder_entries(folder_in("first")));
    assert_int_equal(rapt_model_export(read, folder_in("again"), NULL, &err), RAPT_ERR_VALUE);
    rapt_model_free(later);
    rapt_model_free(read);
    rapt_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {IN_FOLDER(language_models_come_back_with_their_bits), IN_FOLDER(special_tokens_come_back),
                                       IN_FOLDER(every_kind_of_tokenizer_gives_its_ids),
                                       IN_FOLDER(translators_are_written_for_ctranslate2),
                                       IN_FOLDER(language_models_are_written_for_ctranslate2),
                                       IN_FOLDER(what_ctranslate2_has_not_is_refused),
                                       IN_FOLDER(translators_come_back), IN_FOLDER(what_no_translator_computes_is_refused),
                                       IN_FOLDER(what_no_class_computes_is_refused), IN_FOLDER(nothing_is_left_of_what_fails),
                                       IN_FOLDER(progress_is_told), IN_FOLDER(loading_is_cancelled),
                                       IN_FOLDER(folders_of_others_are_written_again)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
