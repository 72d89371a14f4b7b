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

#include "io/stored_models.h"
#include "levels.h"
#include "ops/held_weight.h"
#include "tensor/param_source.h"
#include "tensor/params.h"

enum { BATCH = 2, TIME = 11 };

/* With adapters of these options, whose B is not 0. */
static rapt_model *adapted_by(const stored_model *f, bool held, const rapt_model_lora_options *lora)
{
    rapt_error err = {0};
    rapt_load_options o = rapt_load_options_default();
    o.held = held;
    rapt_model *m = rapt_model_load(folder_in(f->name), &o, &err);
    must(err.code, &err);
    must(rapt_model_add_lora(m, lora, &err), &err);
    for (size_t i = 0; i < rapt_params_count(m->params); i++) {
        rapt_param *p = params_at(m->params, i);
        for (size_t k = 0; strstr(p->value.name, "lora_B") && k < rapt_tensor_size(&p->value); k++)
            p->value.data[k] = (rapt_real)0.01 * (rapt_real)((k * 7 + i) % 13);
    }
    return m;
}

static rapt_model *adapted(const stored_model *f, bool held, const char *save)
{
    return adapted_by(f, held, &MODEL_LORA(.lora.rank = 3, .save = save));
}

/* Marks the memory of the held matrices, and says how many there are. */
static size_t mark_memory(const rapt_model *m)
{
    size_t count = 0;
    for (size_t i = 0; i < rapt_params_count(m->params); i++) {
        rapt_param *p = params_at(m->params, i);
        count += param_source_is_held(p);
        for (size_t k = 0; param_source_is_held(p) && k < rapt_tensor_size(&p->value); k++)
            p->value.data[k] = NAN;
    }
    return count;
}

static void memory_is_as_marked(const rapt_model *m)
{
    for (size_t i = 0; i < rapt_params_count(m->params); i++) {
        const rapt_param *p = params_at(m->params, i);
        for (size_t k = 0; param_source_is_held(p) && k < rapt_tensor_size(&p->value); k++)
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

/* A pass of the file's model with these adapters, for each number of threads and both types. */
static void as_in_memory(const stored_model *f, const char *isa, const rapt_model_lora_options *lora)
{
    rapt_model *want = adapted_by(f, false, lora), *got = adapted_by(f, true, lora);
    assert_int_equal(mark_memory(want), 0);
    assert_int_equal(mark_memory(got), 2 * (f->gpt2 ? 6 : 7)); /* q, k, v, o; gate, up, down or two */
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

/* Also of weight-decomposed adapters, whose lengths are of the rows of the file. */
static void gradients_are_as_in_memory(void **state)
{
    const char *isa = levels_wanted(state);
    for (size_t i = 0; i < FILE_COUNT; i++) {
        write_model(&FILES[i]);
        as_in_memory(&FILES[i], isa, &MODEL_LORA(.lora.rank = 3));
        as_in_memory(&FILES[i], isa, &MODEL_LORA(.lora.rank = 3, .lora.dora = true));
        remove_model(&FILES[i]);
    }
}

/* Panels that are kept: made in the first pass, read in the second one and by a tape that does not record. */
static void gradients_are_the_same_with_kept_panels(void **state)
{
    const rapt_compute c = {.threads = 2, .isa = levels_wanted(state), .type = RAPT_TYPE_BF16};
    for (size_t i = 0; i < FILE_COUNT; i++) {
        rapt_error err = {0};
        write_model(&FILES[i]);
        rapt_model *want = adapted(&FILES[i], false, NULL), *got = adapted(&FILES[i], true, NULL);
        rapt_tape *t = rapt_tape_new(&c, &err);
        must(err.code, &err);
        const size_t held = mark_memory(got);
        held_weights_keep(got->params, t);
        must(rapt_params_error(got->params)->code, rapt_params_error(got->params));
        same_pass(t, want, got);
        size_t filled = 0, read = 0;
        for (size_t k = 0; k < rapt_params_count(got->params); k++)
            for (int turned = 0; turned < 2; turned++) {
                const rapt_param *p = params_at(got->params, k);
                const param_kept *kept = param_source_is_held(p) ? param_source_kept(p, turned) : NULL;
                filled += kept && kept->filled;
                read += kept && kept->filled && turned;
            }
        assert_int_equal(read, held);
        assert_true(filled > held); /* backwards, too, but for inputs without a gradient */
        same_pass(t, want, got);
        memory_is_as_marked(got);
        rapt_tape_free(t);
        rapt_model_free(want);
        rapt_model_free(got);
        remove_model(&FILES[i]);
    }
}

static void same_elements(const rapt_model *want, const rapt_model *got)
{
    for (size_t i = 0; i < rapt_params_count(want->params); i++) {
        const rapt_tensor *a = &rapt_params_at(want->params, i)->value, *b = &rapt_params_at(got->params, i)->value;
        if (memcmp(a->data, b->data, rapt_tensor_size(a) * sizeof *a->data) != 0)
            fail_msg("%s", a->name);
    }
}

/* A program that asks for elements gets them (rapt_params_at). */
static void elements_come_when_they_are_asked_for(void **state)
{
    (void)state;
    for (size_t i = 0; i < FILE_COUNT; i++) {
        write_model(&FILES[i]);
        rapt_model *want = adapted(&FILES[i], false, NULL), *got = adapted(&FILES[i], true, NULL);
        same_elements(want, got);
        rapt_model_free(want);
        rapt_model_free(got);
        remove_model(&FILES[i]);
    }
}

/* An embedding that is trained as a whole, of which a step reads few rows, and which decays in all. */
static void saved_matrices_are_trained_as_in_memory(void **state)
{
    static const rapt_adam_options decays = ADAM(.weight_decay = 0.1);
    rapt_error err = {0};
    (void)state;
    write_model(&FILES[1]);
    rapt_model *both[] = {adapted(&FILES[1], false, "embed_tokens"), adapted(&FILES[1], true, "embed_tokens")};
    for (size_t i = 0; i < 2; i++) {
        rapt_tape *t = rapt_tape_new(&(rapt_compute){.threads = 1}, &err);
        rapt_adam *adam = rapt_adam_new(both[i]->params, &decays, &err);
        must(err.code, &err);
        for (int step = 0; step < 3; step++) {
            pass(t, both[i]);
            must(rapt_adam_step(adam, t, 0.05, 1, &err), &err);
        }
        rapt_adam_free(adam);
        rapt_tape_free(t);
    }
    same_elements(both[0], both[1]);
    rapt_model_free(both[0]);
    rapt_model_free(both[1]);
    remove_model(&FILES[1]);
}

int main(void)
{
    struct CMUnitTest tests[2 + 2 * LEVELS_MOST] = {cmocka_unit_test(elements_come_when_they_are_asked_for),
                                                cmocka_unit_test(saved_matrices_are_trained_as_in_memory)};
    const size_t count = levels_tests(tests + 2, "gradients", gradients_are_as_in_memory, kernels_names);
    levels_tests(tests + 2 + count, "kept", gradients_are_the_same_with_kept_panels, kernels_names);
    return cmocka_run_group_tests_name("held base", tests, folder_make, remove_folder);
}
