/* tests/io/test_gguf_round_trip.c: language models written as GGUF files and read back: for each model type that is written as
 * its own architecture, the same parameters, to the bit, and the same logits. For src/io/export/export_gguf_arch.c and
 * src/io/gguf, which have a table of architectures each. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/hub/hub_family.h"
#include "io/stored_folder.h"
#include "options.h"
#include "rapt/tape.h"

enum { D = 32, HEADS = 4, HEAD = 8, FFN = 40, CONTEXT = 16, VOCAB = 264, LAYERS = 9 };

static rapt_lm_config decoder(void)
{
    rapt_lm_config c = {.layers = LAYERS, .context = CONTEXT, .positions = RAPT_POSITIONS_ROTARY, .tied = true,
                        .block = {.d_model = D, .heads = HEADS, .kv_heads = 2, .ffn = FFN, .norm_kind = RAPT_NORM_KIND_RMS,
                                  .norm_place = RAPT_NORM_PLACE_PRE, .norm_eps = 1e-5, .ffn_kind = RAPT_FFN_SWIGLU,
                                  .no_ffn_bias = true, .no_norm_bias = true}};
    c.rotary_base = 500000;
    c.rotary_scaling.fp32 = true;
    return c;
}

static void one_layer(rapt_layer_set *set, size_t layer)
{
    set->bits[layer / 64] |= (uint64_t)1 << layer % 64;
}

static rapt_lm_config llama(void)
{
    rapt_lm_config c = decoder();
    c.block.head_dim = 2 * HEAD;
    c.tied = false;
    c.rotary_scaling = (rapt_rotary_scaling){.kind = RAPT_ROTARY_LINEAR, .factor = 4, .fp32 = true};
    return c;
}

static rapt_lm_config llama_with_biases(void)
{
    rapt_lm_config c = decoder();
    c.block.bias = true;
    c.block.no_ffn_bias = false;
    return c;
}

static rapt_lm_config gpt2(void)
{
    rapt_lm_config c = {.layers = LAYERS, .context = CONTEXT, .positions = RAPT_POSITIONS_LEARNED, .tied = true,
                        .block = {.d_model = D, .heads = HEADS, .ffn = FFN, .norm_place = RAPT_NORM_PLACE_PRE,
                                  .ffn_kind = RAPT_FFN_GELU_TANH, .bias = true}};
    return c;
}

static rapt_lm_config neox(void)
{
    rapt_lm_config c = gpt2();
    c.positions = RAPT_POSITIONS_ROTARY;
    c.rotary_scaling.fp32 = true;
    c.block.rotary_dim = HEAD / 2;
    c.block.ffn_kind = RAPT_FFN_GELU;
    c.parallel = true;
    c.tied = false;
    return c;
}

/* The activation is in the file, too: without a key it is the class's. */
static rapt_lm_config neox_with_tanh(void)
{
    rapt_lm_config c = neox();
    c.block.ffn_kind = RAPT_FFN_GELU_TANH;
    c.parallel = false;
    return c;
}

static rapt_lm_config qwen2(void)
{
    rapt_lm_config c = decoder();
    c.block.bias = true;
    c.block.no_o_bias = true;
    return c;
}

static rapt_lm_config qwen3(void)
{
    rapt_lm_config c = decoder();
    c.block.head_dim = 2 * HEAD;
    c.block.qk_norm = RAPT_QK_NORM_HEAD;
    return c;
}

/* Each fourth layer has no positions. */
static rapt_lm_config smollm3(void)
{
    rapt_lm_config c = decoder();
    one_layer(&c.unrotated, 3);
    one_layer(&c.unrotated, 7);
    return c;
}

static rapt_lm_config olmo2(void)
{
    rapt_lm_config c = decoder();
    c.block.norm_place = RAPT_NORM_PLACE_OUTPUT;
    c.block.qk_norm = RAPT_QK_NORM_ALL;
    c.tied = false;
    return c;
}

static rapt_lm_config granite(void)
{
    rapt_lm_config c = decoder();
    c.embedding_multiplier = 12;
    c.block.residual_scale = 0.25;
    c.block.scores.scale = 0.125;
    c.logits_divisor = 8;
    return c;
}

static rapt_lm_config gemma(void)
{
    rapt_lm_config c = decoder();
    c.block.ffn_kind = RAPT_FFN_GEGLU_TANH;
    c.block.head_dim = 2 * HEAD;
    c.scale_embedding = true;
    return c;
}

static rapt_lm_config gemma2(void)
{
    rapt_lm_config c = gemma();
    c.block.norm_place = RAPT_NORM_PLACE_SANDWICH;
    c.block.scores.cap = 50;
    c.logits_cap = 30;
    c.window = 4;
    for (size_t i = 0; i < LAYERS; i += 2)
        one_layer(&c.windowed, i);
    return c;
}

/* Other layers have a window than where no key says which. */
static rapt_lm_config gemma3(void)
{
    rapt_lm_config c = gemma();
    c.block.norm_place = RAPT_NORM_PLACE_SANDWICH;
    c.block.qk_norm = RAPT_QK_NORM_HEAD;
    c.local_rotary_base = 1000;
    c.window = 4;
    for (size_t i = 0; i < LAYERS; i += 3)
        one_layer(&c.windowed, i);
    return c;
}

static rapt_lm_config phi3(void)
{
    rapt_lm_config c = decoder();
    c.block.rotary_dim = HEAD / 2;
    c.tied = false;
    return c;
}

static rapt_lm_config starcoder2(void)
{
    rapt_lm_config c = gpt2();
    c.positions = RAPT_POSITIONS_ROTARY;
    c.rotary_scaling.fp32 = true;
    c.block.kv_heads = 2;
    c.tied = false;
    return c;
}

/* The file has biases, which are zeros. */
static rapt_lm_config starcoder2_without_biases(void)
{
    rapt_lm_config c = starcoder2();
    c.block.bias = false;
    c.block.no_ffn_bias = true;
    return c;
}

static rapt_lm_config own_neox(void)
{
    rapt_lm_config c = gpt2();
    c.positions = RAPT_POSITIONS_ROTARY;
    c.rotary_scaling.fp32 = true;
    return c;
}

static rapt_lm_config own_granite(void)
{
    rapt_lm_config c = decoder();
    c.scale_embedding = true;
    return c;
}

static const struct {
    const char *family; /* NULL: of rapt */
    rapt_lm_config (*config)(void);
} MODELS[] = {{NULL, decoder}, {NULL, gpt2}, {NULL, own_neox}, {NULL, own_granite}, {"llama", llama},
              {"llama", llama_with_biases}, {"mistral", decoder}, {"gpt2", gpt2}, {"gpt_neox", neox},
              {"gpt_neox", neox_with_tanh}, {"qwen2", qwen2}, {"qwen3", qwen3}, {"smollm3", smollm3},
              {"olmo2", olmo2}, {"granite", granite}, {"gemma", gemma}, {"gemma2", gemma2}, {"gemma3_text", gemma3},
              {"phi3", phi3}, {"starcoder2", starcoder2},
              {"starcoder2", starcoder2_without_biases}};
enum { COUNT = sizeof MODELS / sizeof *MODELS };

static const char *name_of(size_t i)
{
    return MODELS[i].family ? MODELS[i].family : "of rapt";
}

/* ---- models --------------------------------------------------------------------------------------------------- */

static rapt_model *made(size_t i)
{
    static const char TEXT[] = "It was a bright cold day in April, and the clocks were striking thirteen. It was a day.\n";
    static const char *const specials[] = {"<|endoftext|>"};
    rapt_error err = {0};
    const rapt_bpe_options o = TRAIN_BPE(.vocab_size = VOCAB, .specials = specials, .special_count = 1);
    rapt_tokenizer *k = rapt_tokenizer_train_bpe(TEXT, strlen(TEXT), &o, &err);
    must(err.code, &err);
    rapt_lm_config c = MODELS[i].config();
    c.vocab = rapt_tokenizer_size(k);
    rapt_model *m = language_model(&c, k);
    m->family = MODELS[i].family;
    stored_fill(m->params);
    return m;
}

/* Logits of a row that is as long as the context, for free(). */
static rapt_real *logits_of(const rapt_model *m)
{
    int32_t ids[CONTEXT];
    rapt_error err = {0};
    for (size_t i = 0; i < CONTEXT; i++)
        ids[i] = (int32_t)(i * 37 % VOCAB);
    rapt_tape *t = rapt_tape_new(&(rapt_compute){.threads = 1}, &err);
    must(err.code, &err);
    rapt_tape_begin(t, (rapt_pass){0});
    const rapt_tensor *y = rapt_lm_forward(t, m->language.net, (rapt_tokens){.ids = ids, .batch = 1, .time = CONTEXT});
    assert_string_equal(rapt_tape_error(t)->message, "");
    assert_int_equal(rapt_tensor_size(y), CONTEXT * m->language.net->config.vocab);
    rapt_real *logits = malloc(rapt_tensor_size(y) * sizeof *logits);
    assert_non_null(logits);
    memcpy(logits, y->data, rapt_tensor_size(y) * sizeof *logits);
    rapt_tape_free(t);
    return logits;
}

/* A file may hold the shared matrix a second time: what is read has it, too. */
static void has_parameters(size_t i, const rapt_model *read, const rapt_model *m)
{
    for (size_t k = 0; k < rapt_params_count(m->params); k++) {
        const rapt_param *ours = rapt_params_at(m->params, k);
        const rapt_param *theirs = rapt_params_find(read->params, ours->value.name);
        if (!theirs)
            fail_msg("%s: no %s", name_of(i), ours->value.name);
        if (!ours->buffer)
            assert_memory_equal(theirs->value.data, ours->value.data, rapt_tensor_size(&ours->value) * sizeof(rapt_real));
    }
}

static rapt_model *written_and_read(size_t i, const rapt_model *m)
{
    rapt_error err = {0};
    const rapt_export_options o = {.size = sizeof o, .to = RAPT_EXPORT_GGUF};
    if (rapt_model_export(m, folder_in("m.gguf"), &o, &err))
        fail_msg("%s: %s", name_of(i), err.message);
    rapt_model *read = rapt_model_load(folder_in("m.gguf"), NULL, &err);
    unlink(folder_in("m.gguf"));
    if (!read)
        fail_msg("%s: %s", name_of(i), err.message);
    return read;
}

static void what_is_written_is_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        rapt_model *m = made(i), *read = written_and_read(i, m);
        has_parameters(i, read, m);
        rapt_real *ours = logits_of(m), *theirs = logits_of(read);
        for (size_t k = 0; k < CONTEXT * m->language.net->config.vocab; k++)
            if (ours[k] != theirs[k])
                fail_msg("%s (row %zu): a logit of %.9g in place of %.9g", name_of(i), i, (double)theirs[k], (double)ours[k]);
        free(ours);
        free(theirs);
        rapt_model_free(m);
        rapt_model_free(read);
    }
}

static bool is_tried(const char *family)
{
    for (size_t i = 0; i < COUNT; i++)
        if (MODELS[i].family && strcmp(MODELS[i].family, family) == 0)
            return true;
    return false;
}

/* A new type is written and read, or refused by name. */
static void each_type_is_tried(void **state)
{
    hub_type_list list = hub_family_list(false);
    char *rest = list.text;
    (void)state;
    for (char *type; (type = strsep(&rest, ", "));) {
        if (!*type || !hub_family_of(type)->read || is_tried(type))
            continue;
        rapt_error err = {0};
        rapt_model *m = made(0);
        m->family = type;
        const rapt_export_options o = {.size = sizeof o, .to = RAPT_EXPORT_GGUF};
        assert_int_equal(rapt_model_export(m, folder_in("m.gguf"), &o, &err), RAPT_ERR_VALUE);
        if (!strstr(err.message, "rapt writes no GGUF file of a model of type"))
            fail_msg("%s: add a row to MODELS: %s", type, err.message);
        rapt_model_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(each_type_is_tried),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
