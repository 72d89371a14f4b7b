/* tests/io/test_held_base.c: a model that is held for adapters (rapt_load_options.held) has the loss and the gradients of the
 * same model in memory, to the bit, on every level with any number of threads, and reads no layer into memory. For
 * src/tensor/source_panels.c, src/ops/held_weight.c and src/io/lora.
 * labels: not-raced levels arm-first */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "io/model_folder.h"
#include "levels.h"
#include "loading.h"
#include "tensor/param_source.h"
#include "tensor/params.h"

/* A feed-forward layer of more than one K block (KERNELS_K_BLOCK) in either direction. */
enum { D = 96, FFN = 448, BATCH = 2, TIME = 11, VOCAB = 264 };

static const char TEXT[] = "It was a bright cold day in April, and the clocks were striking thirteen. It was a day.\n";

/* Writes a model of Llama's kind, in place of the last one, with matrices of a type. */
static void write_model(const char *path, rapt_type weights)
{
    static const char *const specials[] = {"<|endoftext|>"};
    rapt_error err = {0};
    rapt_tokenizer *k = rapt_tokenizer_train_bpe(TEXT, strlen(TEXT), &TRAIN_BPE(.vocab_size = VOCAB, .specials = specials,
                                                                               .special_count = 1), &err);
    must(err.code, &err);
    const rapt_lm_config c = {.vocab = rapt_tokenizer_size(k), .layers = 2, .context = 32, .positions = RAPT_POSITIONS_ROTARY,
                              .rotary_base = 10000,
                              .block = {.d_model = D, .heads = 4, .kv_heads = 2, .ffn = FFN, .bias = true,
                                        .norm_place = RAPT_NORM_PLACE_PRE, .norm_kind = RAPT_NORM_KIND_RMS,
                                        .ffn_kind = RAPT_FFN_SWIGLU, .no_ffn_bias = true, .no_norm_bias = true}};
    rapt_model *m = language_model(&c, k);
    unlink(path);
    const rapt_export_options o = {.size = sizeof o, .to = RAPT_EXPORT_GGUF, .weights = weights};
    must(rapt_model_export(m, path, &o, &err), &err);
    rapt_model_free(m);
}

/* With adapters whose B is not 0. */
static rapt_model *adapted(const char *path, bool held)
{
    rapt_error err = {0};
    rapt_load_options o = rapt_load_options_default();
    o.held = held;
    rapt_model *m = rapt_model_load(path, &o, &err);
    must(err.code, &err);
    must(rapt_model_add_lora(m, &MODEL_LORA(.lora.rank = 3), &err), &err);
    for (size_t i = 0; i < rapt_params_count(m->params); i++) {
        rapt_param *p = params_at(m->params, i);
        for (size_t k = 0; strstr(p->value.name, "lora_B") && k < rapt_tensor_size(&p->value); k++)
            p->value.data[k] = (rapt_real)0.01 * (rapt_real)((k * 7 + i) % 13);
    }
    return m;
}

static bool is_held(const rapt_param *p)
{
    return param_source_is_held(p);
}

/* Marks the memory of the held matrices, and says how many there are. */
static size_t mark_memory(const rapt_model *m)
{
    size_t count = 0;
    for (size_t i = 0; i < rapt_params_count(m->params); i++) {
        rapt_param *p = params_at(m->params, i);
        count += is_held(p);
        for (size_t k = 0; is_held(p) && k < rapt_tensor_size(&p->value); k++)
            p->value.data[k] = NAN;
    }
    return count;
}

static void memory_is_as_marked(const rapt_model *m)
{
    for (size_t i = 0; i < rapt_params_count(m->params); i++) {
        const rapt_param *p = params_at(m->params, i);
        for (size_t k = 0; is_held(p) && k < rapt_tensor_size(&p->value); k++)
            assert_true(isnan(p->value.data[k]));
    }
}

static rapt_real pass(rapt_tape *t, rapt_model *m)
{
    int32_t ids[BATCH * (TIME + 1)];
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        ids[i] = (int32_t)(i * 29 % 256);
    rapt_params_zero_grad(m->params);
    rapt_tape_begin(t, (rapt_pass){.record = true, .training = true});
    const rapt_tokens x = {.ids = ids, .batch = BATCH, .time = TIME}, y = {.ids = ids + 1, .batch = BATCH, .time = TIME};
    rapt_tensor *loss = rapt_lm_loss(t, m->language.net, x, y, NULL, NULL);
    rapt_error err = {0};
    must(rapt_backward(t, loss, &err), &err);
    return loss->data[0];
}

static void same_pass(rapt_tape *t, rapt_model *want, rapt_model *got)
{
    const rapt_real loss = pass(t, want);
    assert_true(loss == pass(t, got));
    for (size_t i = 0; i < rapt_params_count(want->params); i++) {
        const rapt_param *a = params_at(want->params, i), *b = params_at(got->params, i);
        assert_string_equal(a->value.name, b->value.name);
        if (a->value.requires_grad && memcmp(a->value.grad, b->value.grad, rapt_tensor_size(&a->value) * sizeof *a->value.grad))
            fail_msg("gradient of %s", a->value.name);
    }
}

static void gradients_are_those_of_a_model_in_memory(void **state)
{
    static const rapt_type types[] = {RAPT_TYPE_FP16, RAPT_TYPE_BF16, RAPT_TYPE_Q8_0, RAPT_TYPE_Q4_0};
    const char *isa = levels_wanted(state);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        write_model(folder_in("model.gguf"), types[i]);
        rapt_model *want = adapted(folder_in("model.gguf"), false), *got = adapted(folder_in("model.gguf"), true);
        assert_int_equal(mark_memory(want), 0);
        assert_int_equal(mark_memory(got), 2 * 7); /* q, k, v, o, gate, up, down */
        for (int threads = 1; threads <= 3; threads++)
            for (int bf16 = 0; bf16 < 2; bf16++) {
                const rapt_compute c = {.threads = threads, .isa = isa, .type = bf16 ? RAPT_TYPE_BF16 : RAPT_TYPE_FP32};
                rapt_error err = {0};
                rapt_tape *t = rapt_tape_new(&c, &err);
                must(err.code, &err);
                same_pass(t, want, got);
                rapt_tape_free(t);
            }
        memory_is_as_marked(got);
        rapt_model_free(want);
        rapt_model_free(got);
    }
    unlink(folder_in("model.gguf"));
}

/* A program that asks for elements gets them (rapt_params_at). */
static void elements_come_when_they_are_asked_for(void **state)
{
    (void)state;
    write_model(folder_in("model.gguf"), RAPT_TYPE_Q8_0);
    rapt_model *want = adapted(folder_in("model.gguf"), false), *got = adapted(folder_in("model.gguf"), true);
    for (size_t i = 0; i < rapt_params_count(want->params); i++) {
        const rapt_tensor *a = &rapt_params_at(want->params, i)->value, *b = &rapt_params_at(got->params, i)->value;
        assert_memory_equal(a->data, b->data, rapt_tensor_size(a) * sizeof *a->data);
    }
    rapt_model_free(want);
    rapt_model_free(got);
    unlink(folder_in("model.gguf"));
}

int main(void)
{
    struct CMUnitTest tests[1 + LEVELS_MOST] = {cmocka_unit_test(elements_come_when_they_are_asked_for)};
    levels_tests(tests + 1, "gradients", gradients_are_those_of_a_model_in_memory, kernels_names);
    return cmocka_run_group_tests_name("held base", tests, folder_make, remove_folder);
}
