/* tests/io/test_hub.c: Hugging Face folders as models: what they compute, against what transformers computes; and what is
 * refused. For src/io/hub. tests/golden/hub is made by tools/make_hub.py with PyTorch and transformers.
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

#include "distance.h"
#include "folder.h"
#include "io/hub_folder.h"
#include "io/safetensors.h"
#include "loading.h"
#include "nn/pack.h"
#include "rapt/io.h"
#include "rapt/observe.h"
#include "rapt/tape.h"
#include "tape/tape_core.h"

#define GOLDEN RAPT_SOURCE_DIR "/tests/golden/hub/"
enum { PROMPT = 8, GREEDY = 16 };

static const char *const NAMES[] = {"gpt2", "gpt2_exact", "llama", "llama_heads", "llama3", "llama_linear", "mistral",
                                    "qwen2", "qwen3", "smollm3", "granite", "olmo2", "gpt_neox", "gpt_neox_4",
                                    "gpt_neox_serial", "mistral_window", "qwen2_window", "gemma", "gemma2", "gemma3", "gemma3_4",
                                    "phi3", "phi3_long", "llama_yarn", "starcoder2", "starcoder2_window", "bloom", "mpt",
                                    "llama3_4", "gpt2_exact_4"};
enum { COUNT = sizeof NAMES / sizeof *NAMES };

typedef struct case_hub {
    rapt_model *m;
    safetensors *expected;
} case_hub;

static case_hub hub_open(const char *name)
{
    char path[1024];
    rapt_error err = {0};
    case_hub c;
    snprintf(path, sizeof path, GOLDEN "%s", name);
    c.m = rapt_model_load(path, NULL, &err);
    assert_string_equal(err.message, "");
    assert_non_null(c.m);
    snprintf(path, sizeof path, GOLDEN "%s/expected.safetensors", name);
    assert_int_equal(safetensors_open(path, &c.expected, &err), RAPT_OK);
    return c;
}

static void hub_close(case_hub *c)
{
    safetensors_close(c->expected);
    rapt_model_free(c->m);
}

static const safetensors_entry *hub_entry(const case_hub *c, const char *name)
{
    const safetensors_entry *e = safetensors_find(c->expected, name);
    assert_non_null(e);
    return e;
}

static double hub_number(const case_hub *c, const char *name)
{
    const safetensors_entry *e = hub_entry(c, name);
    assert_int_equal(e->dtype, SAFETENSORS_F64);
    return *(const double *)e->data;
}

/* The distance of rapt's logits from PyTorch's in float64 is at most twice the distance of PyTorch's in float32. */
static void logits_are_the_references(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        rapt_error err = {0};
        case_hub c = hub_open(NAMES[i]);
        const safetensors_entry *ids = hub_entry(&c, "ids"), *logits = hub_entry(&c, "logits");
        rapt_tape *t = rapt_tape_new(&(rapt_compute){.threads = 2}, &err);
        rapt_tape_begin(t, (rapt_pass){0});
        const rapt_tensor *y = rapt_lm_forward(t, c.m->language.net,
                                               (rapt_tokens){.ids = ids->data, .batch = 1, .time = ids->shape[0]});
        assert_int_equal(rapt_tape_error(t)->code, RAPT_OK);
        const size_t count = logits->shape[0] * logits->shape[1];
        const rapt_real *last = y->data + rapt_tensor_size(y) - count;
        double worst = 0;
        for (size_t k = 0; k < count; k++)
            worst = fmax(worst, fabs((double)last[k] - ((const double *)logits->data)[k]));
        distance_show(NAMES[i], "logits", worst, hub_number(&c, "error"));
        if (!(worst <= 2 * hub_number(&c, "error")))
            fail_msg("%s: %g from the logits in float64, PyTorch's in float32 %g", NAMES[i], worst, hub_number(&c, "error"));
        rapt_tape_free(t);
        hub_close(&c);
    }
}

static int32_t best_of(const rapt_tensor *logits)
{
    size_t n = rapt_tensor_size(logits), best = 0;
    for (size_t i = 1; i < n; i++)
        best = logits->data[i] > logits->data[best] ? i : best;
    return (int32_t)best;
}

/* Token by token, with a KV cache. */
static void greedy_tokens_are_the_references(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        rapt_error err = {0};
        int32_t text[PROMPT + GREEDY];
        case_hub c = hub_open(NAMES[i]);
        const rapt_lm *net = c.m->language.net;
        const int32_t *expected = hub_entry(&c, "greedy")->data;
        rapt_tape *t = rapt_tape_new(&(rapt_compute){.threads = 1}, &err);
        rapt_kv_cache *cache = rapt_kv_cache_new(rapt_lm_kv_sizes(net, 1), &err);
        assert_true(hub_number(&c, "margin") > 1e-3);
        memcpy(text, hub_entry(&c, "ids")->data, PROMPT * sizeof *text);
        for (size_t k = 0; k < GREEDY; k++) {
            rapt_tape_begin(t, (rapt_pass){0});
            text[PROMPT + k] = best_of(rapt_lm_next(t, net, cache, text, PROMPT + GREEDY, PROMPT + k));
            assert_int_equal(text[PROMPT + k], expected[k]);
        }
        rapt_kv_cache_free(cache);
        rapt_tape_free(t);
        hub_close(&c);
    }
}

static const rapt_real *seen_output;

static void see_output(void *context, const rapt_observation *step)
{
    (void)context;
    if (strcmp(step->name, "output") == 0)
        seen_output = step->values;
}

/* Logits of the whole text, computed in pieces of `piece` tokens with a KV cache, 0: as whole rows; of `batch` equal rows. */
static rapt_real *hub_logits(const case_hub *c, int threads, size_t batch, size_t piece, rapt_observe_fn *observer)
{
    rapt_error err = {0};
    const safetensors_entry *ids = hub_entry(c, "ids");
    const rapt_lm *net = c->m->language.net;
    const size_t time = ids->shape[0], width = net->config.vocab;
    rapt_tape *t = rapt_tape_new(&(rapt_compute){.threads = threads}, &err);
    rapt_kv_cache *cache = rapt_kv_cache_new(rapt_lm_kv_sizes(net, batch), &err);
    rapt_real *all = malloc(batch * time * width * sizeof *all);
    int32_t rows[2 * 64];
    rapt_observe(t, observer, NULL);
    for (size_t at = 0, count; at < time; at += count) {
        count = piece && piece < time - at ? piece : time - at;
        for (size_t b = 0; b < batch; b++)
            memcpy(rows + b * count, (const int32_t *)ids->data + at, count * sizeof *rows);
        const rapt_tokens tokens = {.ids = rows, .batch = batch, .time = count};
        rapt_tape_begin(t, (rapt_pass){0});
        const rapt_tensor *y = piece ? rapt_lm_step(t, net, cache, tokens, false) : rapt_lm_forward(t, net, tokens);
        assert_int_equal(rapt_tape_error(t)->code, RAPT_OK);
        if (observer) /* what is called "output" are the logits, with their bound where they have one */
            assert_memory_equal(seen_output, y->data, rapt_tensor_size(y) * sizeof *y->data);
        for (size_t b = 0; b < batch; b++)
            memcpy(all + (b * time + at) * width, y->data + b * count * width, count * width * sizeof *all);
    }
    rapt_kv_cache_free(cache);
    rapt_tape_free(t);
    return all;
}

/* Bits are the same for any number of threads, batch and division of the text. */
static void bits_are_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        case_hub c = hub_open(NAMES[i]);
        const size_t size = hub_entry(&c, "ids")->shape[0] * c.m->language.net->config.vocab * sizeof(rapt_real);
        rapt_real *whole = hub_logits(&c, 1, 1, 0, NULL), *batch = hub_logits(&c, 3, 2, 0, NULL);
        rapt_real *pieces = hub_logits(&c, 2, 2, 13, NULL), *tokens = hub_logits(&c, 1, 1, 1, NULL);
        const bool same = memcmp(whole, batch, size) == 0 && memcmp(whole, (char *)batch + size, size) == 0 &&
                          memcmp(whole, pieces, size) == 0 && memcmp(whole, tokens, size) == 0;
        if (!same)
            fail_msg("%s: other bits in a batch, in pieces or token by token", NAMES[i]);
        free(whole), free(batch), free(pieces), free(tokens);
        hub_close(&c);
    }
}

/* The unfused operations, as an observer sees them, compute the same, but for rounding. */
static void observed_logits_are_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        case_hub c = hub_open(NAMES[i]);
        const size_t count = hub_entry(&c, "ids")->shape[0] * c.m->language.net->config.vocab;
        rapt_real *fused = hub_logits(&c, 1, 1, 0, NULL), *seen = hub_logits(&c, 1, 1, 0, see_output);
        double worst = 0;
        for (size_t k = 0; k < count; k++)
            worst = fmax(worst, fabs((double)fused[k] - (double)seen[k]));
        if (!(worst <= 4 * hub_number(&c, "error")))
            fail_msg("%s: observed, %g apart; PyTorch's float32 is %g from float64", NAMES[i], worst, hub_number(&c, "error"));
        free(fused), free(seen);
        hub_close(&c);
    }
}

/* Logits after the whole text; of packed weights where `packs`. free() them. */
static rapt_real *last_logits(const rapt_model *m, const safetensors_entry *ids, rapt_type precision, bool packs)
{
    rapt_error err = {0};
    const rapt_lm *net = m->language.net;
    const size_t count = ids->shape[0], bytes = net->config.vocab * sizeof(rapt_real);
    rapt_tape *t = rapt_tape_new(&(rapt_compute){.threads = 3, .type = precision}, &err);
    rapt_kv_cache *cache = rapt_kv_cache_new(rapt_lm_kv_sizes(net, 1), &err);
    packed_weights *packed = packs ? pack_lm(net, t, t->pool, false, &err) : NULL;
    tape_use_packed(t, packed);
    rapt_tape_begin(t, (rapt_pass){0});
    const rapt_tensor *y = rapt_lm_next(t, net, cache, ids->data, count, count);
    assert_int_equal(rapt_tape_error(t)->code, RAPT_OK);
    rapt_real *logits = malloc(bytes);
    memcpy(logits, y->data, bytes);
    packed_weights_free(packed);
    rapt_kv_cache_free(cache);
    rapt_tape_free(t);
    return logits;
}

/* Packed from the files, a model computes what it does when all of it was read; and all of it can still be read. */
static void models_for_inference_are_the_same(void **state)
{
    static const rapt_type precisions[] = {RAPT_TYPE_FP32, RAPT_TYPE_BF16};
    (void)state;
    for (size_t i = 0; i < 2 * COUNT; i++) {
        char path[1024];
        rapt_error err = {0};
        case_hub c = hub_open(NAMES[i / 2]);
        const safetensors_entry *ids = hub_entry(&c, "ids");
        snprintf(path, sizeof path, GOLDEN "%s", NAMES[i / 2]);
        rapt_model *m = load_inference(path, RAPT_TASK_LANGUAGE_MODEL, &err);
        assert_non_null(m);
        rapt_real *want = last_logits(c.m, ids, precisions[i % 2], false), *got = last_logits(m, ids, precisions[i % 2], true);
        assert_memory_equal(want, got, m->language.net->config.vocab * sizeof *want);
        for (size_t k = 0; k < rapt_params_count(m->params); k++) {
            const rapt_tensor *x = &rapt_params_at(m->params, k)->value, *y = &rapt_params_at(c.m->params, k)->value;
            assert_string_equal(x->name, y->name);
            assert_memory_equal(x->data, y->data, rapt_tensor_size(x) * sizeof *x->data);
        }
        free(want);
        free(got);
        rapt_model_free(m);
        hub_close(&c);
    }
}

/* What generation_config.json says counts. */
static void special_tokens_are_read(void **state)
{
    (void)state;
    case_hub c = hub_open("llama3");
    assert_int_equal(c.m->language.end_of_text_count, 2);
    assert_int_equal(c.m->language.end_of_text[0], 257);
    assert_int_equal(c.m->language.end_of_text[1], 258);
    assert_string_equal(c.m->family, "llama");
    hub_close(&c);
}

/* A Llama's is token 2 if the folder has no generation_config.json and does not name one. null means none. */
static void the_class_has_an_end_of_text(void **state)
{
    static const char *const values[] = {"", "null", "7"};
    static const int32_t expected[] = {2, -1, 7};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        rapt_error err = {0};
        hub_folder_with(GOLDEN, "llama", "eos_token_id", values[i]);
        unlink(folder_in("generation_config.json"));
        rapt_model *m = rapt_model_load(folder_path, NULL, &err);
        assert_string_equal(err.message, "");
        assert_int_equal(m->language.end_of_text_count, expected[i] < 0 ? 0 : 1);
        assert_true(expected[i] < 0 || m->language.end_of_text[0] == expected[i]);
        rapt_model_free(m);
    }
}

/* The factors of longer texts are not used, so there are none. */
static void a_long_context_ends_where_its_factors_change(void **state)
{
    (void)state;
    case_hub c = hub_open("phi3_long");
    assert_int_equal(c.m->language.net->config.context, 90);
    hub_close(&c);
}

/* ---- what is refused ------------------------------------------------------------------------------------------- */

/* A key, its value, and how the message goes on behind the path of config.json or the folder. */
static void what_is_not_known_is_refused(void **state)
{
    static const char *const cases[][4] = {
        {"llama", "model_type", "\"mamba\"", "a model of type \"mamba\"; rapt runs gpt2, llama, mistral, qwen2, "},
        {"llama", "architectures", "[\"LlamaModel\"]", "of models of type llama rapt runs LlamaForCausalLM"},
        {"llama", "num_experts", "8", "\"num_experts\" is 8: rapt does not know what this key changes"},
        {"llama", "quantization_config", "{\"quant_method\": \"gptq\"}", "\"quantization_config\" is {"},
        {"llama", "hidden_act", "\"gelu\"", "\"hidden_act\" is \"gelu\": of such models rapt computes silu"},
        {"llama", "head_dim", "4", "has the shape [48, 48]; config.json asks for [24, 48]"},
        {"llama", "head_dim", "7", "rotary positions turn pairs of features; a head has 7"},
        {"llama", "num_attention_heads", "7", "\"num_key_value_heads\" is 2: they do not divide the heads"},
        {"qwen2", "num_attention_heads", "10", "heads do not divide the features"},
        {"llama", "num_key_value_heads", "4", "\"num_key_value_heads\" is 4: they do not divide the heads"},
        {"llama", "num_hidden_layers", "1000000000", "the files hold 20 tensors; config.json asks for 1000000000 layers"},
        {"llama", "vocab_size", "1073741824", "has the shape [259, 48]; config.json asks for [1073741824, 48]"},
        {"llama", "num_hidden_layers", "3", "tensor \"model.layers.2.input_layernorm.weight\" is missing"},
        {"llama", "num_hidden_layers", "1", "does not belong to a model of type llama"},
        {"llama", "num_hidden_layers", "-1", "it must be a whole number from 1 to 2^30"},
        {"llama", "hidden_size", "", "\"hidden_size\" is missing: it must be a whole number"},
        {"llama", "intermediate_size", "79", "has the shape [80, 48]; config.json asks for [79, 48]"},
        {"llama", "attention_bias", "true", "tensor \"model.layers.0.self_attn.q_proj.bias\" is missing"},
        {"llama", "rms_norm_eps", "\"small\"", "it must be a number"},
        {"llama3", "rope_parameters", "{\"rope_type\": \"dynamic\", \"factor\": 2}",
         "rapt knows the types default, linear, llama3, yarn and longrope"},
        {"llama", "rope_scaling", "{\"type\": \"ntk\", \"factor\": 2}", "rapt knows the types default, linear"},
        {"phi3", "full_attn_mod", "2", "\"full_attn_mod\" is 2: rapt computes such models with 1"},
        {"phi3", "lm_head_bias", "true", "rapt does not compute such models"},
        {"phi3", "rope_parameters", "{\"rope_type\": \"linear\", \"factor\": 4}", "rapt knows the types default and longrope"},
        {"phi3_long", "head_dim", "10", "must have a number for each pair"},
        {"llama3", "rope_parameters", "{\"rope_type\": \"linear\", \"rope_theta\": 1e4}",
         "\"factor\" is missing: it must be a number from 1"},
        {"llama3", "rope_parameters", "{\"rope_type\": \"default\", \"beta_fast\": 1}", "\"beta_fast\" is 1: rapt does not know"},
        {"llama3", "tie_word_embeddings", "true", "tensor \"lm_head.weight\" is not the embedding"},
        {"llama3", "rope_scaling", "{\"rope_type\": \"linear\", \"factor\": 4}", "\"rope_scaling\" is there, too"},
        {"llama", "rope_parameters", "{\"rope_type\": \"linear\", \"factor\": 1e-30}", "it must be a number from 1 to 1e+06"},
        {"llama", "rms_norm_eps", "0.0", "it must be a number from 1e-12 to 0.1"},
        {"gpt2", "n_head", "5", "5 heads do not divide d_model, 48"},
        {"llama", "rope_interleaved", "true", "rapt does not compute such models"},
        {"qwen2", "layer_types", "\"full_attention\"", "as many types as there are layers"},
        {"qwen2", "layer_types", "[\"sliding_attention\", \"full_attention\"]", "sliding_attention without a window"},
        {"qwen2", "layer_types", "[\"full_attention\", \"linear_attention\"]", "full_attention and sliding_attention"},
        {"smollm3", "use_sliding_window", "true", "rapt does not compute such models"},
        {"gemma", "hidden_activation", "\"silu\"", "of such models rapt computes gelu_pytorch_tanh"},
        {"gemma", "use_bidirectional_attention", "true", "rapt does not compute such models"},
        {"gemma3", "rope_parameters", "{\"full_attention\": {\"rope_type\": \"default\"}, \"mtp\": {}}", "its members must be"},
        {"gemma3", "rope_parameters", "{\"sliding_attention\": {\"rope_type\": \"linear\", \"factor\": 2}}", "are not scaled"},
        {"gemma3", "rope_parameters", "{\"rope_type\": \"default\", \"rope_theta\": 100}", "it must have full_attention and"},
        {"gemma3", "final_logit_softcapping", "30.0", "of such models rapt computes logits without"},
        {"qwen3", "head_dim", "", "config.json asks for [384, 24]"},
        {"smollm3", "no_rope_layers", "[1, 0]", "as many numbers as there are layers"},
        {"smollm3", "no_rope_layers", "[1, 0, 2]", "its numbers must be 0 or 1"},
        {"granite", "logits_scaling", "0", "it must be a number from 1e-06 to 1e+06"},
        {"gpt_neox", "rope_parameters", "{\"rope_type\": \"default\", \"partial_rotary_factor\": 0.4}",
         "turn pairs of features of a head"},
        {"gpt_neox", "hidden_act", "\"mish\"", "rapt computes gelu_new"},
        {"gpt_neox_4", "rotary_emb_base", "10000", "\"rope_theta\" is 5000: such models have the name"},
        {"llama3", "rope_parameters", "{\"rope_type\": \"default\", \"partial_rotary_factor\": 0.5}",
         "of such models rapt rotates all features of a head"},
        {"starcoder2", "norm_type", "\"rms_norm\"", "\"norm_type\" is \"rms_norm\": rapt does not compute such models"},
        {"starcoder2", "mlp_type", "\"gated\"", "rapt does not compute such models"},
        {"starcoder2", "rms_norm_eps", "1e-6", "rapt does not know what this key changes"},
        {"starcoder2", "hidden_act", "\"mish\"", "rapt computes gelu_new"},
        {"starcoder2", "use_bias", "false", "c_fc.bias\" does not belong to a model of type starcoder2"},
        {"bloom", "apply_residual_connection_post_layernorm", "true", "rapt does not compute such models"},
        {"bloom", "n_inner", "80", "such models have four times the features"},
        {"bloom", "n_head", "5", "5 heads do not divide d_model, 48"},
        {"mpt", "attn_config", "{\"alibi\": false}", "\"alibi\" is false: rapt does not compute such models"},
        {"mpt", "attn_config", "{\"clip_qkv\": 6}", "rapt does not clip queries, keys and values"},
        {"mpt", "attn_config", "{\"alibi_bias_max\": 16}", "rapt computes slopes down to 2^-8"},
        {"mpt", "attn_config", "{\"rope\": true}", "rapt does not know what this key changes"},
        {"mpt", "attn_config", "7", "it must be an object"},
        {"mpt", "no_bias", "false", "rapt does not compute such models"},
        {"mpt", "expansion_ratio", "2", "such models have four times the features"},
        {"mpt", "logit_scale", "0.5", "rapt does not scale such models' logits"},
        {"olmo2", "clip_qkv", "8", "rapt does not know what this key changes"},
        {"mistral_window", "layer_types", "[\"full_attention\", \"sliding_attention\"]", "have \"sliding_window\" in all layers"},
        {"mistral", "layer_types", "[\"full_attention\", \"sliding_attention\"]", "no window without \"sliding_window\""},
        {"phi3", "layer_types", "[\"full_attention\", \"full_attention\"]", "such models have \"sliding_window\" in all layers"},
        {"mistral", "sliding_window", "0", "it must be a whole number from 1"},
        {"gpt2", "scale_attn_by_inverse_layer_idx", "true", "rapt does not compute such models"},
        {"gpt2", "activation_function", "\"mish\"", "rapt computes gelu_new"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rapt_error err = {0};
        rapt_model *m = rapt_model_load(hub_folder_with(GOLDEN, cases[i][0], cases[i][1], cases[i][2]), NULL, &err);
        if (m || !strstr(err.message, cases[i][3]) || strncmp(err.message, folder_path, strlen(folder_path)) != 0)
            fail_msg("%s with %s %s: %s", cases[i][0], cases[i][1], cases[i][2], m ? "accepted" : err.message);
        rapt_model_free(m);
    }
}

/* A matrix of another type is named: integers are no weights, and doubles rounded to fp32 would be other numbers. */
static void other_types_are_refused(void **state)
{
    static const double zeros[1 << 16];
    static const struct {
        safetensors_dtype dtype;
        const char *says;
    } cases[] = {{SAFETENSORS_F64, "is F64; rapt reads weights of F32, F16 and BF16"},
                 {SAFETENSORS_I64, "is of I64, not of floating-point numbers"}};
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        rapt_error err = {0};
        safetensors *from;
        safetensors_entry entries[64];
        char named[256];
        hub_folder_with(GOLDEN, "llama", "_", "0");
        assert_int_equal(safetensors_open(folder_in("model.safetensors"), &from, &err), RAPT_OK);
        const size_t count = safetensors_count(from);
        assert_true(count <= 64);
        for (size_t i = 0; i < count; i++)
            entries[i] = *safetensors_at(from, i);
        entries[0].bytes = entries[0].bytes / safetensors_dtype_bytes(entries[0].dtype) * sizeof *zeros;
        entries[0].dtype = cases[k].dtype;
        entries[0].data = zeros;
        assert_true(entries[0].bytes <= sizeof zeros && unlink(folder_in("model.safetensors")) == 0);
        assert_int_equal(safetensors_write(folder_in("model.safetensors"), entries, count, NULL, &err), RAPT_OK);
        snprintf(named, sizeof named, "tensor \"%s\" %s", entries[0].name, cases[k].says);
        safetensors_close(from);
        assert_null(rapt_model_load(folder_path, NULL, &err));
        if (!strstr(err.message, named))
            fail_msg("%s: %s", named, err.message);
    }
}

/* Keys that change nothing do no harm; what transformers 4 wrote is read as what 5 writes. All is saved as it
 * was. */
static void what_changes_nothing_is_accepted(void **state)
{
    static const char *const cases[][3] = {
        {"llama", "_name_or_path", "\"x\""}, {"llama", "attn_implementation", "null"}, {"llama", "rope_parameters", "null"},
        {"llama", "torch_dtype", "\"float16\""}, {"llama", "is_llama_config", "true"}, {"llama", "eos_token_id", ""},
        {"mistral", "sliding_window", "96"}, {"gpt2", "n_ctx", "64"}, {"gpt2", "n_special", "0"},
        {"mistral_window", "layer_types", "[\"sliding_attention\", \"sliding_attention\"]"},
        {"qwen2", "use_mrope", "false"}, {"smollm3", "no_rope_layers", "null"}, {"qwen3", "num_key_value_heads", "1"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rapt_error err = {0};
        rapt_model *m = rapt_model_load(hub_folder_with(GOLDEN, cases[i][0], cases[i][1], cases[i][2]), NULL, &err);
        assert_string_equal(err.message, "");
        hub_folder_comes_back(m);
        rapt_model_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(logits_are_the_references),
                                       cmocka_unit_test(greedy_tokens_are_the_references),
                                       cmocka_unit_test(bits_are_the_same), cmocka_unit_test(observed_logits_are_the_same),
                                       cmocka_unit_test(models_for_inference_are_the_same),
                                       cmocka_unit_test(special_tokens_are_read),
                                       cmocka_unit_test(a_long_context_ends_where_its_factors_change),
                                       IN_FOLDER(what_is_not_known_is_refused), IN_FOLDER(other_types_are_refused),
                                       IN_FOLDER(the_class_has_an_end_of_text),
                                       IN_FOLDER(what_changes_nothing_is_accepted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
