/* tests/io/stored_folder.h: models whose rows blocks of 32 fill, and some do not, for the tests of folders that store weights in
 * fewer bits. It checks nothing but that its own steps succeed. Needs _GNU_SOURCE. */
#ifndef TESTS_IO_STORED_FOLDER_H
#define TESTS_IO_STORED_FOLDER_H

#include "io/model_folder.h"
#include "loading.h"

enum { STORED_D = 64, STORED_FFN = 40, STORED_VOCAB = 40 };

static const rapt_type STORED_TYPES[] = {RAPT_TYPE_FP16, RAPT_TYPE_BF16, RAPT_TYPE_Q8_0, RAPT_TYPE_Q4_0};
enum { STORED_TYPE_COUNT = sizeof STORED_TYPES / sizeof *STORED_TYPES };

/* Different numbers in all parameters, so that one that is dropped, moved or exchanged shows. */
static inline void stored_fill(const rapt_params *set)
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

/* As transformers' classes are: a GPT-2 has learned positions and is tied, a GPT-NeoX has one matrix of q, k and v. */
typedef enum stored_kind { STORED_LLAMA, STORED_GPT2, STORED_NEOX } stored_kind;

static inline rapt_model *stored_lm(stored_kind kind)
{
    rapt_lm_config c = {.vocab = STORED_VOCAB, .layers = 2, .context = 24, .positions = RAPT_POSITIONS_ROTARY,
                        .block = {.d_model = STORED_D, .heads = 4, .kv_heads = 2, .ffn = STORED_FFN, .bias = true,
                                  .norm_place = RAPT_NORM_PLACE_PRE, .norm_kind = RAPT_NORM_KIND_RMS,
                                  .ffn_kind = RAPT_FFN_SWIGLU, .no_ffn_bias = true, .no_norm_bias = true}};
    if (kind == STORED_GPT2) {
        c.tied = true;
        c.positions = RAPT_POSITIONS_LEARNED;
    }
    if (kind != STORED_LLAMA) {
        c.block.kv_heads = 4;
        c.block.norm_kind = RAPT_NORM_KIND_LAYER;
        c.block.ffn_kind = RAPT_FFN_GELU_TANH;
        c.block.no_ffn_bias = c.block.no_norm_bias = false;
    }
    rapt_model *m = language_model(&c, characters('A', STORED_VOCAB));
    stored_fill(m->params);
    return m;
}

/* Translates words "a b c" to "d e". */
static inline rapt_model *stored_translator(void)
{
    rapt_error err = {0};
    rapt_transformer_config c = {.source_vocab = 7, .target_vocab = 6, .layers = 2, .max_positions = 24,
                                 .block = {.d_model = STORED_D, .heads = 4, .ffn = STORED_FFN, .bias = true}};
    rapt_model *m = calloc(1, sizeof *m);
    assert_non_null(m);
    m->translation.net = rapt_transformer_new(&c, 1, &err);
    must(err.code, &err);
    m->params = m->translation.net->params;
    m->translation.source = words("a b c");
    m->translation.target = words("d e");
    m->translation.special = RAPT_SPECIAL_IDS;
    m->translation.max_len = 20;
    stored_fill(m->params);
    return m;
}

static inline void stored_remove(const char *name)
{
    char command[2 * FOLDER_ROOM];
    snprintf(command, sizeof command, "rm -rf '%s'", folder_in(name));
    assert_int_equal(system(command), 0);
}

static inline rapt_model *stored_load(const char *folder, bool inference)
{
    rapt_error err = {0};
    rapt_model *m = load_for(folder, inference, &err);
    if (!m)
        fail_msg("%s", err.message);
    return m;
}

/* The same model of a Hugging Face folder, which stays in the test's folder. Frees the first one. */
static inline rapt_model *stored_hub(rapt_model *m)
{
    rapt_error err = {0};
    stored_remove("hf");
    const rapt_export_options o = {.size = sizeof o, .to = RAPT_EXPORT_HF};
    must(rapt_model_export(m, folder_in("hf"), &o, &err), &err);
    rapt_model_free(m);
    return stored_load(folder_in("hf"), false);
}

/* As the folder NAME in the test's own, in place of what is there. */
static inline void stored_write(const rapt_model *m, const char *name, rapt_type weights)
{
    rapt_error err = {0};
    stored_remove(name);
    const rapt_export_options o = {.size = sizeof o, .to = RAPT_EXPORT_RAPT, .weights = weights};
    must(rapt_model_export(m, folder_in(name), &o, &err), &err);
}

#endif
