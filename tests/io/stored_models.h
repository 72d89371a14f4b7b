/* tests/io/stored_models.h: small models in files with numbers of every type, for tests of what reads them from there. */
#ifndef TESTS_IO_STORED_MODELS_H
#define TESTS_IO_STORED_MODELS_H

#include "io/model_folder.h"
#include "loading.h"

/* A feed-forward layer of more than one K block (KERNELS_K_BLOCK) in either direction. */
enum { D = 96, FFN = 448, VOCAB = 264 };

static const char TEXT[] = "It was a bright cold day in April, and the clocks were striking thirteen. It was a day.\n";

/* A GGUF file of a Llama or a GPT-2, where q, k and v are one matrix, or a folder of rapt. */
typedef struct stored_model {
    const char *name;
    rapt_export_format to;
    rapt_type weights;
    bool gpt2;
} stored_model;

static const stored_model FILES[] = {{"model.gguf", RAPT_EXPORT_GGUF, RAPT_TYPE_FP16, false},
                                     {"model.gguf", RAPT_EXPORT_GGUF, RAPT_TYPE_BF16, false},
                                     {"model.gguf", RAPT_EXPORT_GGUF, RAPT_TYPE_Q8_0, false},
                                     {"model.gguf", RAPT_EXPORT_GGUF, RAPT_TYPE_Q4_0, false},
                                     {"gpt2.gguf", RAPT_EXPORT_GGUF, RAPT_TYPE_Q8_0, true},
                                     {"folder", RAPT_EXPORT_RAPT, RAPT_TYPE_BF16, false}};
enum { FILE_COUNT = sizeof FILES / sizeof *FILES };

static void remove_model(const stored_model *f)
{
    char command[2 * FOLDER_ROOM];
    snprintf(command, sizeof command, "rm -rf '%s'", folder_in(f->name));
    assert_int_equal(system(command), 0);
}

static void write_model(const stored_model *f)
{
    static const char *const specials[] = {"<|endoftext|>"};
    rapt_error err = {0};
    rapt_tokenizer *k = rapt_tokenizer_train_bpe(TEXT, strlen(TEXT), &TRAIN_BPE(.vocab_size = VOCAB, .specials = specials,
                                                                               .special_count = 1), &err);
    must(err.code, &err);
    rapt_lm_config c = {.vocab = rapt_tokenizer_size(k), .layers = 2, .context = 32, .positions = RAPT_POSITIONS_ROTARY,
                        .rotary_base = 10000,
                        .block = {.d_model = D, .heads = 4, .kv_heads = 2, .ffn = FFN, .bias = true,
                                  .norm_place = RAPT_NORM_PLACE_PRE, .norm_kind = RAPT_NORM_KIND_RMS,
                                  .ffn_kind = RAPT_FFN_SWIGLU, .no_ffn_bias = true, .no_norm_bias = true}};
    if (f->gpt2) {
        c.positions = RAPT_POSITIONS_LEARNED;
        c.tied = true;
        c.block = (rapt_block_config){.d_model = D, .heads = 4, .ffn = FFN, .bias = true, .norm_place = RAPT_NORM_PLACE_PRE,
                                      .ffn_kind = RAPT_FFN_GELU_TANH};
    }
    rapt_model *m = language_model(&c, k);
    const rapt_export_options o = {.size = sizeof o, .to = f->to, .weights = f->weights};
    must(rapt_model_export(m, folder_in(f->name), &o, &err), &err);
    rapt_model_free(m);
}

#endif
