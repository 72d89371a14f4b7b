/* tests/io/test_export_gguf.c: language models written as GGUF files: names, rows and keys as llama.cpp's converters have them,
 * tokens and special tokens, and what is refused. What llama.cpp computes from such files: docs/results/gguf-write.md. For
 * src/io/export/export_gguf*.c. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <jansson.h>
#include <math.h>

#include "gguf_file.h"
#include "io/safetensors.h"
#include "io/stored_folder.h"
#include "options.h"

enum { D = 32, HEADS = 4, HEAD = 8, FFN = 40, CONTEXT = 16, VOCAB = 264 };

static const char TEXT[] = "It was a bright cold day in April, and the clocks were striking thirteen. It was a day.\n";

/* ---- models --------------------------------------------------------------------------------------------------- */

static rapt_tokenizer *bpe_of(const rapt_bpe_options *options)
{
    static const char *const specials[] = {"<|endoftext|>"};
    rapt_error err = {0};
    rapt_bpe_options o = *options;
    o.vocab_size = VOCAB;
    o.specials = specials;
    o.special_count = 1;
    rapt_tokenizer *k = rapt_tokenizer_train_bpe(TEXT, strlen(TEXT), &o, &err);
    must(err.code, &err);
    return k;
}

static rapt_tokenizer *bpe(void)
{
    return bpe_of(&TRAIN_BPE());
}

/* Takes over the tokenizer. */
static rapt_model *gguf_model_of(rapt_lm_config c, rapt_tokenizer *k)
{
    c.vocab = rapt_tokenizer_size(k);
    rapt_model *m = language_model(&c, k);
    stored_fill(m->params);
    return m;
}

#define SHAPE(...)                                                                                                             \
    {.layers = 2, .context = CONTEXT,                                                                                          \
     .block = {.d_model = D, .heads = HEADS, .ffn = FFN, .norm_place = RAPT_NORM_PLACE_PRE, __VA_ARGS__}}

static rapt_lm_config gpt2(void)
{
    rapt_lm_config c = SHAPE(.ffn_kind = RAPT_FFN_GELU_TANH, .bias = true);
    c.positions = RAPT_POSITIONS_LEARNED;
    c.tied = true;
    return c;
}

static rapt_lm_config llama(void)
{
    rapt_lm_config c = SHAPE(.kv_heads = 2, .norm_kind = RAPT_NORM_KIND_RMS, .ffn_kind = RAPT_FFN_SWIGLU, .bias = true,
                             .no_ffn_bias = true, .no_norm_bias = true, .norm_eps = 1e-4);
    c.positions = RAPT_POSITIONS_ROTARY;
    c.rotary_base = 700;
    return c;
}

static void written(gguf_file *f, const rapt_model *m, rapt_type weights)
{
    rapt_error err = {0};
    const rapt_export_options o = {.size = sizeof o, .to = RAPT_EXPORT_GGUF, .weights = weights};
    must(rapt_model_export(m, folder_in("m.gguf"), &o, &err), &err);
    gguf_file_open(f, folder_in("m.gguf"));
    unlink(folder_in("m.gguf"));
}

/* ---- tensors -------------------------------------------------------------------------------------------------- */

static const gguf_file_tensor *tensor(const gguf_file *f, const char *name, uint64_t columns, uint64_t rows, uint32_t type)
{
    const gguf_file_tensor *t = gguf_file_tensor_of(f, name);
    if (!t)
        fail_msg("no tensor %s", name);
    if (t->dims[0] != columns || t->dims[1] != rows || t->type != type)
        fail_msg("%s is [%d, %d] of type %d", name, (int)t->dims[0], (int)t->dims[1], (int)t->type);
    return t;
}

/* Rows `first` .. of a tensor in F32 are a parameter. */
static void holds(const gguf_file *f, const char *name, const rapt_params *set, const char *ours, size_t first)
{
    const gguf_file_tensor *t = gguf_file_tensor_of(f, name);
    const rapt_tensor *p = &rapt_params_find(set, ours)->value;
    const size_t columns = p->ndim == 2 ? p->shape[1] : 1;
    if (!t)
        fail_msg("no tensor %s", name);
    assert_int_equal(t->type, 0);
    assert_int_equal(t->ndim, p->ndim);
    assert_memory_equal(t->at + first * columns * sizeof(float), p->data, rapt_tensor_size(p) * sizeof(float));
}

/* In each head the features (j, j + HEAD / 2), which are rotated together, are adjacent. */
static void holds_pairs(const gguf_file *f, const char *name, const rapt_params *set, const char *ours)
{
    const gguf_file_tensor *t = gguf_file_tensor_of(f, name);
    const rapt_tensor *p = &rapt_params_find(set, ours)->value;
    const size_t columns = p->ndim == 2 ? p->shape[1] : 1;
    assert_non_null(t);
    for (size_t i = 0; i < p->shape[0]; i++) {
        const size_t feature = i % HEAD, place = i - feature + feature % (HEAD / 2) * 2 + feature / (HEAD / 2);
        assert_memory_equal(t->at + place * columns * sizeof(float), p->data + i * columns, columns * sizeof(float));
    }
}

static void a_llama_has_its_tensors(void **state)
{
    rapt_model *m = gguf_model_of(llama(), bpe());
    gguf_file f;
    (void)state;
    written(&f, m, RAPT_TYPE_FP32);
    assert_int_equal(f.tensor_count, 2 * 13 + 3);
    holds(&f, "token_embd.weight", m->params, "embedding.weight", 0);
    holds_pairs(&f, "blk.1.attn_q.weight", m->params, "blocks.1.attention.q.weight");
    holds_pairs(&f, "blk.1.attn_q.bias", m->params, "blocks.1.attention.q.bias");
    holds_pairs(&f, "blk.0.attn_k.weight", m->params, "blocks.0.attention.k.weight");
    holds_pairs(&f, "blk.0.attn_k.bias", m->params, "blocks.0.attention.k.bias");
    holds(&f, "blk.1.attn_v.weight", m->params, "blocks.1.attention.v.weight", 0);
    holds(&f, "blk.1.attn_output.bias", m->params, "blocks.1.attention.o.bias", 0);
    holds(&f, "blk.0.attn_norm.weight", m->params, "blocks.0.norm1.weight", 0);
    holds(&f, "blk.0.ffn_norm.weight", m->params, "blocks.0.norm2.weight", 0);
    holds(&f, "blk.1.ffn_gate.weight", m->params, "blocks.1.ffn.gate.weight", 0);
    holds(&f, "blk.1.ffn_up.weight", m->params, "blocks.1.ffn.up.weight", 0);
    holds(&f, "blk.1.ffn_down.weight", m->params, "blocks.1.ffn.down.weight", 0);
    holds(&f, "output_norm.weight", m->params, "norm.weight", 0);
    holds(&f, "output.weight", m->params, "output.weight", 0);
    free(f.data);
    rapt_model_free(m);
}

static void a_gpt2_has_its_tensors(void **state)
{
    static const float zeros[3 * D];
    rapt_lm_config c = gpt2();
    c.positions = RAPT_POSITIONS_SINUSOIDAL;
    c.block.bias = false;
    rapt_model *m = gguf_model_of(c, bpe());
    gguf_file f;
    (void)state;
    written(&f, m, RAPT_TYPE_FP32);
    assert_int_equal(f.tensor_count, 2 * 12 + 4);
    holds(&f, "position_embd.weight", m->params, "positions.table", 0);
    holds(&f, "blk.1.attn_qkv.weight", m->params, "blocks.1.attention.q.weight", 0);
    holds(&f, "blk.1.attn_qkv.weight", m->params, "blocks.1.attention.k.weight", D);
    holds(&f, "blk.1.attn_qkv.weight", m->params, "blocks.1.attention.v.weight", 2 * D);
    assert_memory_equal(tensor(&f, "blk.1.attn_qkv.bias", 3 * D, 1, 0)->at, zeros, sizeof zeros);
    holds(&f, "blk.0.ffn_up.weight", m->params, "blocks.0.ffn.dense1.weight", 0);
    holds(&f, "blk.0.ffn_up.bias", m->params, "blocks.0.ffn.dense1.bias", 0);
    holds(&f, "output_norm.bias", m->params, "norm.bias", 0);
    assert_null(gguf_file_tensor_of(&f, "output.weight")); /* tied */
    free(f.data);
    rapt_model_free(m);
}

/* A tied GPT-NeoX has its matrix twice. */
static void a_neox_has_its_tensors(void **state)
{
    rapt_lm_config c = gpt2();
    c.positions = RAPT_POSITIONS_ROTARY;
    rapt_model *m = gguf_model_of(c, bpe());
    gguf_file f;
    (void)state;
    written(&f, m, RAPT_TYPE_FP32);
    holds(&f, "blk.0.attn_qkv.weight", m->params, "blocks.0.attention.k.weight", D);
    holds(&f, "blk.0.attn_qkv.bias", m->params, "blocks.0.attention.v.bias", 2 * D);
    holds(&f, "output.weight", m->params, "embedding.weight", 0);
    assert_int_equal(gguf_file_number(&f, "gptneox.use_parallel_residual"), 0);
    free(f.data);
    rapt_model_free(m);
}

/* Matrices whose rows blocks of 32 fill; all else, and positions, is F32. */
static void matrices_have_the_format_that_is_asked_for(void **state)
{
    static const struct {
        rapt_type weights;
        uint32_t type, file_type;
        bool blocks;
    } cases[] = {{RAPT_TYPE_FP32, 0, 0, false}, {RAPT_TYPE_FP16, 1, 1, false}, {RAPT_TYPE_BF16, 30, 32, false},
                 {RAPT_TYPE_Q8_0, 8, 7, true}, {RAPT_TYPE_Q4_0, 2, 2, true}};
    rapt_model *m = gguf_model_of(gpt2(), bpe());
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gguf_file f;
        written(&f, m, cases[i].weights);
        tensor(&f, "token_embd.weight", D, VOCAB, cases[i].type);
        tensor(&f, "blk.0.attn_qkv.weight", D, 3 * D, cases[i].type);
        tensor(&f, "blk.1.ffn_down.weight", FFN, D, cases[i].blocks ? 0 : cases[i].type);
        tensor(&f, "position_embd.weight", D, CONTEXT, 0);
        tensor(&f, "blk.0.attn_norm.weight", D, 1, 0);
        tensor(&f, "blk.0.attn_qkv.bias", 3 * D, 1, 0);
        assert_int_equal(gguf_file_number(&f, "general.file_type"), cases[i].file_type);
        free(f.data);
    }
    rapt_model_free(m);
}

/* ---- models of Hugging Face ------------------------------------------------------------------------------------- */

static rapt_model *hub_model(const char *folder)
{
    rapt_error err = {0};
    rapt_model *m = rapt_model_load(folder, NULL, &err);
    must(err.code, &err);
    return m;
}

/* A half of each head is rotated: rows are in the order of the folder's tensor, whose heads have queries, keys and values of
 * their own. Its numbers are of 16 bits. */
static void rows_of_a_neox_folder_are_its_own(void **state)
{
    enum { ROW = 24 * 2, OWN_HEADS = 3, OWN_HEAD = 8 };
    rapt_error err = {0};
    safetensors *s;
    gguf_file f;
    rapt_model *m = hub_model("tests/golden/hub/gpt_neox");
    (void)state;
    written(&f, m, RAPT_TYPE_FP16);
    must(safetensors_open("tests/golden/hub/gpt_neox/model.safetensors", &s, &err), &err);
    const safetensors_entry *e = safetensors_find(s, "gpt_neox.layers.1.attention.query_key_value.weight");
    const gguf_file_tensor *t = tensor(&f, "blk.1.attn_qkv.weight", 24, 72, 1);
    assert_non_null(e);
    for (size_t i = 0; i < 72; i++) {
        const size_t part = i / (OWN_HEADS * OWN_HEAD), head = i / OWN_HEAD % OWN_HEADS;
        const size_t row = (head * 3 + part) * OWN_HEAD + i % OWN_HEAD;
        assert_memory_equal(t->at + i * ROW, (const char *)e->data + row * ROW, ROW);
    }
    assert_int_equal(gguf_file_number(&f, "gptneox.rope.dimension_count"), 4);
    assert_int_equal(gguf_file_number(&f, "gptneox.use_parallel_residual"), 1);
    safetensors_close(s);
    free(f.data);
    rapt_model_free(m);
}

/* Frequencies are divided by 1 where the wavelength is short, by the factor where it is long, and by what is between. */
static void a_llama3_has_its_frequencies(void **state)
{
    rapt_model *m = hub_model("tests/golden/hub/llama3");
    const rapt_lm_config *c = &m->language.net->config;
    const rapt_rotary_scaling *s = &c->rotary_scaling;
    gguf_file f;
    (void)state;
    written(&f, m, RAPT_TYPE_FP32);
    const gguf_file_tensor *t = gguf_file_tensor_of(&f, "rope_freqs.weight");
    assert_non_null(t);
    assert_int_equal(t->ndim, 1);
    for (uint64_t j = 0; j < t->dims[0]; j++) {
        const double length = 2 * 3.14159265358979 * pow(c->rotary_base, (double)j / (double)t->dims[0]);
        double smooth = ((double)s->original / length - s->low_factor) / (s->high_factor - s->low_factor);
        smooth = fmin(fmax(smooth, 0), 1);
        float factor;
        memcpy(&factor, t->at + j * sizeof factor, sizeof factor);
        assert_true(fabs(factor * ((1 - smooth) / s->factor + smooth) - 1) < 1e-5);
    }
    free(f.data);
    rapt_model_free(m);
}

/* Also the id of the token before texts, which a model of rapt does not have. */
static void keys_of_a_folder_come_from_its_files(void **state)
{
    rapt_model *m = hub_model("tests/golden/hub/qwen2");
    gguf_file f;
    (void)state;
    written(&f, m, RAPT_TYPE_FP32);
    assert_int_equal(gguf_file_number(&f, "tokenizer.ggml.bos_token_id"), 256);
    assert_int_equal(gguf_file_number(&f, "tokenizer.ggml.eos_token_id"), 257);
    assert_int_equal(gguf_file_number(&f, "qwen2.attention.head_count_kv"), m->language.net->config.block.kv_heads);
    free(f.data);
    rapt_model_free(m);
}

/* ---- keys ------------------------------------------------------------------------------------------------------- */

static void text_is(const gguf_file *f, const char *key, size_t i, const char *expected)
{
    uint64_t size;
    const char *text = gguf_file_text(f, key, i, &size);
    if (size != strlen(expected) || memcmp(text, expected, size) != 0)
        fail_msg("%s %zu: \"%.*s\" is not \"%s\"", key, i, (int)size, text, expected);
}

static void a_llama_has_its_keys(void **state)
{
    rapt_model *m = gguf_model_of(llama(), bpe());
    gguf_file f;
    (void)state;
    written(&f, m, RAPT_TYPE_FP32);
    text_is(&f, "general.architecture", 0, "llama");
    assert_int_equal(gguf_file_number(&f, "llama.vocab_size"), VOCAB);
    assert_int_equal(gguf_file_number(&f, "llama.context_length"), CONTEXT);
    assert_int_equal(gguf_file_number(&f, "llama.embedding_length"), D);
    assert_int_equal(gguf_file_number(&f, "llama.block_count"), 2);
    assert_int_equal(gguf_file_number(&f, "llama.feed_forward_length"), FFN);
    assert_int_equal(gguf_file_number(&f, "llama.attention.head_count"), HEADS);
    assert_int_equal(gguf_file_number(&f, "llama.attention.head_count_kv"), 2);
    assert_int_equal(gguf_file_number(&f, "llama.rope.dimension_count"), HEAD);
    assert_true(gguf_file_number(&f, "llama.rope.freq_base") == 700);
    assert_true(gguf_file_number(&f, "llama.attention.layer_norm_rms_epsilon") == (double)1e-4f);
    assert_null(gguf_file_key_of(&f, "llama.rope.scaling.type"));
    free(f.data);
    rapt_model_free(m);
}

/* ---- tokenizers ------------------------------------------------------------------------------------------------- */

static void byte_level_bpe_has_tokens_and_merges(void **state)
{
    rapt_model *m = gguf_model_of(llama(), bpe());
    gguf_file f;
    (void)state;
    m->language.end_of_text[0] = VOCAB - 1;
    m->language.end_of_text[1] = 7;
    m->language.end_of_text_count = 2;
    written(&f, m, RAPT_TYPE_FP32);
    text_is(&f, "tokenizer.ggml.model", 0, "gpt2");
    text_is(&f, "tokenizer.ggml.pre", 0, "gpt-2");
    assert_int_equal(gguf_file_key_of(&f, "tokenizer.ggml.tokens")->count, VOCAB);
    text_is(&f, "tokenizer.ggml.tokens", 'A', "A");
    text_is(&f, "tokenizer.ggml.tokens", ' ', "\xC4\xA0"); /* GPT-2's letter for a space */
    text_is(&f, "tokenizer.ggml.tokens", VOCAB - 1, "<|endoftext|>");
    assert_int_equal(gguf_file_key_of(&f, "tokenizer.ggml.merges")->count, VOCAB - 257);
    const gguf_file_key *types = gguf_file_key_of(&f, "tokenizer.ggml.token_type");
    assert_int_equal(types->count, VOCAB);
    assert_int_equal(types->at[4 * 'A'], 1);
    assert_int_equal(types->at[4 * (VOCAB - 1)], 3);
    assert_int_equal(gguf_file_number(&f, "tokenizer.ggml.eos_token_id"), VOCAB - 1);
    assert_int_equal(gguf_file_number(&f, "tokenizer.ggml.eot_token_id"), 7);
    assert_int_equal(gguf_file_number(&f, "tokenizer.ggml.bos_token_id"), VOCAB - 1);
    assert_int_equal(gguf_file_number(&f, "tokenizer.ggml.add_bos_token"), 0);
    free(f.data);
    rapt_model_free(m);
}

static void split_patterns_have_their_names(void **state)
{
    static const char *const patterns[][2] = {
        {"'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}++|\\p{N}{1,3}+| ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*+|\\s++$|"
         "\\s*[\\r\\n]|\\s+(?!\\S)|\\s",
         "dbrx"},
        {"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|"
         "\\s+(?!\\S)|\\s+",
         "dbrx"},
        {"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|"
         "\\s+(?!\\S)|\\s+",
         "deepseek-r1-qwen"}}; /* without NFC, which "qwen2" has */
    (void)state;
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        rapt_model *m = gguf_model_of(gpt2(), bpe_of(&TRAIN_BPE(.pattern = patterns[i][0])));
        gguf_file f;
        written(&f, m, RAPT_TYPE_FP32);
        text_is(&f, "tokenizer.ggml.pre", 0, patterns[i][1]);
        free(f.data);
        rapt_model_free(m);
    }
    rapt_model *m = gguf_model_of(gpt2(), bpe_of(&TRAIN_BPE(.pattern = patterns[2][0],
                                                                     .normalization = RAPT_NORMALIZATION_NFC)));
    gguf_file f;
    written(&f, m, RAPT_TYPE_FP32);
    text_is(&f, "tokenizer.ggml.pre", 0, "qwen2");
    free(f.data);
    rapt_model_free(m);
}

/* Ids of more tokens than the model has rows for are left out, with the merges that make them. */
static void tokens_are_those_that_the_model_has(void **state)
{
    rapt_lm_config c = llama();
    c.vocab = 260;
    rapt_model *m = language_model(&c, bpe());
    gguf_file f;
    (void)state;
    written(&f, m, RAPT_TYPE_FP32);
    assert_int_equal(gguf_file_key_of(&f, "tokenizer.ggml.tokens")->count, 260);
    assert_int_equal(gguf_file_key_of(&f, "tokenizer.ggml.merges")->count, 260 - 256);
    tensor(&f, "token_embd.weight", D, 260, 0);
    assert_int_equal(gguf_file_number(&f, "tokenizer.ggml.eos_token_id"), 259);
    free(f.data);
    rapt_model_free(m);
}

static void characters_are_pieces_of_one_character(void **state)
{
    rapt_error err = {0};
    rapt_model *m = gguf_model_of(gpt2(), rapt_tokenizer_train_characters(TEXT, strlen(TEXT), &err));
    gguf_file f;
    (void)state;
    written(&f, m, RAPT_TYPE_FP32);
    text_is(&f, "tokenizer.ggml.model", 0, "llama");
    text_is(&f, "tokenizer.ggml.tokens", 0, "\n");
    text_is(&f, "tokenizer.ggml.tokens", 1, "\xE2\x96\x81"); /* a space */
    text_is(&f, "tokenizer.ggml.tokens", 2, ",");
    assert_int_equal(gguf_file_key_of(&f, "tokenizer.ggml.scores")->count, m->language.net->config.vocab);
    assert_int_equal(gguf_file_number(&f, "tokenizer.ggml.add_space_prefix"), 0);
    assert_int_equal(gguf_file_number(&f, "tokenizer.ggml.add_bos_token"), 0);
    free(f.data);
    rapt_model_free(m);
}

/* Has the file of a model read back: with the same ids of a text, and without an end of text, though the file names the last
 * token as one. Takes over the tokenizer. */
static void read_back_without_an_end(rapt_tokenizer *k)
{
    rapt_error err = {0};
    int32_t *ids, *again;
    size_t count, again_count, size;
    rapt_model *m = gguf_model_of(gpt2(), k);
    const rapt_export_options o = {.size = sizeof o, .to = RAPT_EXPORT_GGUF};
    must(rapt_model_export(m, folder_in("m.gguf"), &o, &err), &err);
    rapt_model *back = rapt_model_load(folder_in("m.gguf"), NULL, &err);
    must(err.code, &err);
    must(rapt_tokenizer_encode(k, TEXT, &ids, &count, &err), &err);
    must(rapt_tokenizer_encode(back->language.tokenizer, TEXT, &again, &again_count, &err), &err);
    assert_int_equal(again_count, count);
    assert_memory_equal(again, ids, count * sizeof *ids);
    assert_int_equal(back->language.end_of_text_count, 0);
    char *text = rapt_tokenizer_decode(back->language.tokenizer, again, again_count, &size);
    assert_int_equal(size, strlen(TEXT));
    assert_memory_equal(text, TEXT, size);
    free(text);
    free(ids);
    free(again);
    unlink(folder_in("m.gguf"));
    rapt_model_free(back);
    rapt_model_free(m);
}

static void models_without_an_end_are_read_back(void **state)
{
    rapt_error err = {0};
    (void)state;
    read_back_without_an_end(rapt_tokenizer_train_characters(TEXT, strlen(TEXT), &err));
    read_back_without_an_end(rapt_tokenizer_train_bpe(TEXT, strlen(TEXT), &TRAIN_BPE(.vocab_size = VOCAB), &err));
}

static rapt_tokenizer *pieces(const char *path)
{
    rapt_error err = {0};
    rapt_tokenizer *k = rapt_tokenizer_load(path, &err);
    must(err.code, &err);
    return k;
}

/* Pieces, types and scores are those that sentencepiece reads from the file: 800 pieces, the first three of which are no text's,
 * and bytes before 262. */
static void a_sentencepiece_model_stays_one(void **state)
{
    rapt_model *m = gguf_model_of(llama(), pieces("tests/text/sentencepiece/bpe_bytes.model"));
    gguf_file f;
    (void)state;
    written(&f, m, RAPT_TYPE_FP32);
    text_is(&f, "tokenizer.ggml.model", 0, "llama");
    assert_int_equal(gguf_file_key_of(&f, "tokenizer.ggml.tokens")->count, 800);
    text_is(&f, "tokenizer.ggml.tokens", 0, "<unk>");
    text_is(&f, "tokenizer.ggml.tokens", 3, "<ent>");
    text_is(&f, "tokenizer.ggml.tokens", 261, "<0xFF>");
    text_is(&f, "tokenizer.ggml.tokens", 262, "\xE2\x96\x81t");
    const gguf_file_key *types = gguf_file_key_of(&f, "tokenizer.ggml.token_type");
    static const int expected[][2] = {{0, 2}, {1, 3}, {3, 4}, {261, 6}, {262, 1}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_int_equal(types->at[4 * expected[i][0]], expected[i][1]);
    float score;
    memcpy(&score, gguf_file_key_of(&f, "tokenizer.ggml.scores")->at + 4 * 263, sizeof score);
    assert_true(score == -1); /* of the second merge */
    assert_int_equal(gguf_file_number(&f, "tokenizer.ggml.add_space_prefix"), 1);
    assert_int_equal(gguf_file_number(&f, "tokenizer.ggml.unknown_token_id"), 0);
    free(f.data);
    rapt_model_free(m);
}

/* A tokenizer.json of tests/text/pipeline. */
static rapt_tokenizer *components(const char *name)
{
    char path[FOLDER_ROOM];
    snprintf(path, sizeof path, "tests/text/pipeline/%s.json", name);
    json_t *root = json_load_file(path, JSON_ALLOW_NUL, NULL);
    assert_int_equal(json_dump_file(json_object_get(root, "tokenizer"), folder_in("tokenizer.json"), 0), 0);
    json_decref(root);
    rapt_tokenizer *k = pieces(folder_in("tokenizer.json"));
    unlink(folder_in("tokenizer.json"));
    assert_int_equal(rapt_tokenizer_kind_of(k), RAPT_TOKENIZER_PIPELINE);
    return k;
}

/* Byte-level BPE behind single digits: 330 tokens, 74 merges, an added token that is special and one that is not. */
static void digits_before_gpt2s_pattern_have_their_name(void **state)
{
    rapt_model *m = gguf_model_of(llama(), components("smollm"));
    gguf_file f;
    (void)state;
    written(&f, m, RAPT_TYPE_FP32);
    text_is(&f, "tokenizer.ggml.model", 0, "gpt2");
    text_is(&f, "tokenizer.ggml.pre", 0, "smollm");
    text_is(&f, "tokenizer.ggml.tokens", 0, "!");
    text_is(&f, "tokenizer.ggml.tokens", 331, "<tool>");
    text_is(&f, "tokenizer.ggml.merges", 1, "r e");
    assert_int_equal(gguf_file_key_of(&f, "tokenizer.ggml.merges")->count, 74);
    assert_int_equal(gguf_file_key_of(&f, "tokenizer.ggml.token_type")->at[4 * 330], 3);
    assert_int_equal(gguf_file_key_of(&f, "tokenizer.ggml.token_type")->at[4 * 331], 4);
    free(f.data);
    rapt_model_free(m);
}

/* ---- what is refused -------------------------------------------------------------------------------------------- */

static void refused_as(const rapt_model *m, rapt_type weights, const char *message)
{
    rapt_error err = {0};
    const rapt_export_options o = {.size = sizeof o, .to = RAPT_EXPORT_GGUF, .weights = weights};
    assert_int_equal(rapt_model_export(m, folder_in("new/m.gguf"), &o, &err), RAPT_ERR_VALUE);
    if (!strstr(err.message, message) || strncmp(err.message, folder_path, strlen(folder_path)) != 0)
        fail_msg("no \"%s\" in: %s", message, err.message);
    assert_int_equal(folder_entries(folder_path), 0);
}

/* Takes over the model. */
static void refused(rapt_model *m, const char *message)
{
    refused_as(m, RAPT_TYPE_FP32, message);
    rapt_model_free(m);
}

static void settings_that_no_architecture_has_are_refused(void **state)
{
    rapt_lm_config relu = gpt2(), post = gpt2(), bias = gpt2(), few = gpt2();
    rapt_lm_config gelu = gpt2(), gated = gpt2(), scaled = gpt2(), rms = gpt2();
    (void)state;
    relu.block.ffn_kind = RAPT_FFN_RELU;
    refused(gguf_model_of(relu, bpe()), "the model has \"ffn_kind\": \"relu\" or \"silu\", which gpt2, the nearest architecture");
    post.block.norm_place = RAPT_NORM_PLACE_POST;
    refused(gguf_model_of(post, bpe()), "the model has \"norm_place\": \"post\"");
    bias.tied = false;
    bias.output_bias = true;
    refused(gguf_model_of(bias, bpe()), "the model has \"output_bias\": true");
    few.block.kv_heads = 2;
    refused(gguf_model_of(few, bpe()), "the model has fewer \"kv_heads\" than \"heads\"");
    gelu.block.ffn_kind = RAPT_FFN_GELU;
    refused(gguf_model_of(gelu, bpe()), "the model has \"ffn_kind\": \"gelu\"");
    gated.block.ffn_kind = RAPT_FFN_SWIGLU;
    refused(gguf_model_of(gated, bpe()), "the model has \"ffn_kind\": \"swiglu\"");
    scaled.scale_embedding = true;
    refused(gguf_model_of(scaled, bpe()), "the model has \"scale_embedding\": true");
    rms.block.norm_kind = RAPT_NORM_KIND_RMS;
    refused(gguf_model_of(rms, bpe()), "the model has \"norm_kind\": \"rms\"");
    refused(hub_model("tests/golden/hub/mistral_window"), "the model has a sliding window");
    refused(hub_model("tests/golden/hub/llama_yarn"), "the model has rotary positions that are scaled by numbers in the file");
}

static void other_tokenizers_are_refused(void **state)
{
    rapt_error err = {0};
    (void)state;
    refused(gguf_model_of(gpt2(), words("one two three")), "one of words");
    refused(gguf_model_of(gpt2(), bpe_of(&TRAIN_BPE(.pattern = "\\S+|\\s+"))),
            "llama.cpp has no name for the pattern that the tokenizer splits texts by: \\S+|\\s+");
    refused(gguf_model_of(gpt2(), bpe_of(&TRAIN_BPE(.normalization = RAPT_NORMALIZATION_PLAIN))),
            "the tokenizer normalizes texts");
    refused(gguf_model_of(gpt2(), rapt_tokenizer_train_characters("a\xE2\x96\x81", 4, &err)), "the character U+2581");
    refused(gguf_model_of(gpt2(), rapt_tokenizer_train_characters("a\0b", 3, &err)), "the character U+0000");
    refused(gguf_model_of(llama(), pieces("tests/text/sentencepiece/unigram_bytes.model")), "with a kind other than BPE");
    refused(gguf_model_of(llama(), pieces("tests/text/sentencepiece/bpe.model")), "with no pieces of bytes");
    refused(gguf_model_of(llama(), components("llama2")), "no byte-level BPE, and no tokenizer.model beside it");
    refused(translation_model(), "llama.cpp runs language models only");
}

static void numbers_that_a_format_does_not_hold_are_refused(void **state)
{
    rapt_model *m = gguf_model_of(gpt2(), bpe());
    rapt_real *x = rapt_params_find(m->params, "blocks.1.attention.k.weight")->value.data;
    (void)state;
    x[5] = 70000;
    refused_as(m, RAPT_TYPE_FP16, "tensor \"blk.1.attn_qkv.weight\" has the number 70000, which F16 does not hold");
    x[5] = (rapt_real)NAN;
    refused_as(m, RAPT_TYPE_Q8_0, "nan, which Q8_0 does not hold");
    x[5] = -(rapt_real)INFINITY;
    refused_as(m, RAPT_TYPE_Q4_0, "inf, which Q4_0 does not hold");
    refused_as(m, RAPT_TYPE_BF16, "inf, which BF16 does not hold");
    x[5] = (rapt_real)3.4e38; /* nearer to 2^128 than to bfloat16's largest number */
    refused_as(m, RAPT_TYPE_BF16, "3.4e+38, which BF16 does not hold");
    rapt_model_free(m);
}

/* Rows of 48 and 80 numbers, where a block has 32. */
static void blocks_that_fit_no_matrix_are_refused(void **state)
{
    rapt_lm_config c = gpt2();
    (void)state;
    c.block.d_model = 48;
    c.block.ffn = 80;
    rapt_model *m = gguf_model_of(c, bpe());
    refused_as(m, RAPT_TYPE_Q8_0, "no matrix has rows whose length is a multiple of 32");
    refused_as(m, RAPT_TYPE_Q4_0, "so that none can be stored in blocks of Q4_0");
    rapt_model_free(m);
}

static bool stop_at_once(void *context)
{
    (void)context;
    return true;
}

/* Somebody else writes the file meanwhile. */
static bool write_mine(void *context)
{
    (void)context;
    return file_write_atomic(folder_in("m.gguf"), "mine", 4, NULL) != RAPT_OK;
}

static void a_file_that_is_there_stays(void **state)
{
    rapt_error err = {0};
    rapt_model *m = gguf_model_of(gpt2(), bpe());
    rapt_export_options o = {.size = sizeof o, .to = RAPT_EXPORT_GGUF};
    (void)state;
    must(file_write_atomic(folder_in("m.gguf"), "mine", 4, &err), &err);
    assert_int_equal(rapt_model_export(m, folder_in("m.gguf"), &o, &err), RAPT_ERR_VALUE);
    assert_non_null(strstr(err.message, "m.gguf is there already"));
    unlink(folder_in("m.gguf"));
    o.stop = write_mine;
    assert_int_equal(rapt_model_export(m, folder_in("m.gguf"), &o, NULL), RAPT_ERR_IO);
    char *mine = file_text("m.gguf");
    assert_string_equal(mine, "mine");
    free(mine);
    unlink(folder_in("m.gguf"));
    o.stop = stop_at_once;
    assert_int_equal(rapt_model_export(m, folder_in("new/m.gguf"), &o, NULL), RAPT_ERR_INTERRUPTED);
    assert_int_equal(folder_entries(folder_path), 0);
    rapt_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_llama_has_its_tensors),
        cmocka_unit_test(a_gpt2_has_its_tensors),
        cmocka_unit_test(a_neox_has_its_tensors),
        cmocka_unit_test(matrices_have_the_format_that_is_asked_for),
        cmocka_unit_test(rows_of_a_neox_folder_are_its_own),
        cmocka_unit_test(a_llama3_has_its_frequencies),
        cmocka_unit_test(keys_of_a_folder_come_from_its_files),
        cmocka_unit_test(a_llama_has_its_keys),
        cmocka_unit_test(byte_level_bpe_has_tokens_and_merges),
        cmocka_unit_test(split_patterns_have_their_names),
        cmocka_unit_test(tokens_are_those_that_the_model_has),
        cmocka_unit_test(characters_are_pieces_of_one_character),
        cmocka_unit_test(models_without_an_end_are_read_back),
        cmocka_unit_test(a_sentencepiece_model_stays_one),
        cmocka_unit_test(digits_before_gpt2s_pattern_have_their_name),
        cmocka_unit_test(settings_that_no_architecture_has_are_refused),
        cmocka_unit_test(other_tokenizers_are_refused),
        cmocka_unit_test(numbers_that_a_format_does_not_hold_are_refused),
        cmocka_unit_test(blocks_that_fit_no_matrix_are_refused),
        cmocka_unit_test(a_file_that_is_there_stays),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
