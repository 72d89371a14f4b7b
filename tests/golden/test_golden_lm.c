/* tests/golden/test_golden_lm.c: decoder-only language models against PyTorch: GPT-2's, the sales textbook's, a Llama
 * shape, one with ALiBi: logits, all gradients, and ten steps of AdamW. Smaller parts are in test_golden.c.
 * labels: arm-first */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "golden.h"

#include "options.h"
#include "rapt/lm.h"
#include "rapt/train.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How far PyTorch in float32 is from PyTorch in float64 after ten steps, relative to the losses and the gradients' norms, and
 * absolute in the parameters (make_golden.py prints it). rapt may be twice as far; in the double build only the files' own
 * rounding is left. */
typedef struct distances {
    const char *file;
    double losses, norms, parameters;
} distances;

static const distances PYTORCH[] = {{"lm_gpt2", 1.1e-7, 2.4e-7, 2.8e-7}, {"lm_seed", 8.7e-8, 2.3e-7, 2.6e-7},
                                    {"lm_llama", 1.4e-7, 5.0e-7, 2.9e-7}, {"lm_alibi", 1.2e-7, 3.2e-7, 3.1e-7}};

static distances bounds_of(const golden *g)
{
    size_t i = 0;
    while (strcmp(PYTORCH[i].file, g->file) != 0)
        i++;
#ifdef RAPT_DOUBLE
    return (distances){PYTORCH[i].file, 1e-13, 1e-12, 6e-8};
#else
    return (distances){PYTORCH[i].file, 2 * PYTORCH[i].losses, 2 * PYTORCH[i].norms, 2 * PYTORCH[i].parameters};
#endif
}

static rapt_lm_config config_of(golden *g)
{
    const bool bias = golden_size(g, "bias");
    return (rapt_lm_config){.vocab = golden_size(g, "vocab"), .layers = golden_size(g, "layers"),
                            .context = golden_size(g, "context"),
                            .positions = (rapt_positions_kind)golden_size(g, "positions"), .tied = golden_size(g, "tied"),
                            .output_bias = golden_size(g, "output_bias"),
                            .block = {.d_model = golden_size(g, "d_model"), .heads = golden_size(g, "heads"),
                                      .kv_heads = golden_size(g, "kv_heads"), .ffn = golden_size(g, "ffn"),
                                      .norm_place = golden_size(g, "pre") ? RAPT_NORM_PLACE_PRE : RAPT_NORM_PLACE_POST,
                                      .norm_kind = golden_size(g, "rms") ? RAPT_NORM_KIND_RMS : RAPT_NORM_KIND_LAYER,
                                      .ffn_kind = (rapt_ffn_kind)golden_size(g, "ffn_kind"), .bias = bias,
                                      .no_ffn_bias = !bias, .no_norm_bias = !bias,
                                      .shared_norm = golden_size(g, "shared_norm"), .init = RAPT_WEIGHT_INIT_PYTORCH}};
}

/* The file's model is of the shape that the preset has. */
static void check_preset(golden *g, const rapt_lm_config *c)
{
    rapt_lm_config preset;
    const rapt_block_config *a = &c->block, *b = &preset.block;
    if (rapt_lm_preset(g->file + strlen("lm_"), &preset, NULL))
        return;
    assert_true(a->norm_place == b->norm_place && a->norm_kind == b->norm_kind && a->ffn_kind == b->ffn_kind);
    assert_true(c->positions == preset.positions && c->tied == preset.tied && c->output_bias == preset.output_bias);
    assert_true(a->shared_norm == b->shared_norm && a->ffn == 4 * a->d_model && b->ffn == 4 * b->d_model);
    assert_true(a->bias == b->bias || strcmp(g->name, "no_bias") == 0);
}

static void check_block(golden *g, const rapt_lm_config *c)
{
    rapt_lm_block m;
    rapt_param *rotary = NULL;
    if (c->positions == RAPT_POSITIONS_ROTARY)
        rotary = rapt_rotary_init(g->set, "rotary.table", c->context, c->block.d_model / c->block.heads, 10000);
    rapt_lm_block_init(&m, g->set, "", &c->block);
    m.attention.rotary = rotary;
    golden_load(g);
    golden_finish(g, rapt_lm_block_forward(g->tape, &m, golden_input(g, "x"), NULL, 0));
}

static void check_model(golden *g, const rapt_lm_config *c)
{
    rapt_lm m;
    rapt_lm_init(&m, g->set, c);
    golden_load(g);
    golden_finish(g, rapt_lm_forward(g->tape, &m, golden_tokens(g, "tokens")));
}

/* ---- ten steps of AdamW ----------------------------------------------------------------------------------- */

static void check_number(golden *g, const char *name, size_t step, double ours, double bound)
{
    char text[32];
    snprintf(text, sizeof text, "out/%s", name);
    double expected = golden_at(golden_get(g, text), step);
    if (!(fabs(ours - expected) <= bound * expected))
        fail_msg("%s/%s: %s: step %zu has %.9g, PyTorch %.9g", g->file, g->name, name, step, ours, expected);
}

/* Batch number `step` modulo batches of in/NAME [batches, batch, time]. */
static rapt_tokens batch_of(golden *g, const char *name, size_t step)
{
    char text[32];
    snprintf(text, sizeof text, "in/%s", name);
    const safetensors_entry *e = golden_get(g, text);
    assert_int_equal(e->ndim, 3);
    size_t at = step % e->shape[0];
    return (rapt_tokens){golden_ints(g, name) + at * e->shape[1] * e->shape[2], e->shape[1], e->shape[2]};
}

static void train_step(golden *g, const rapt_lm *m, rapt_adam *adam, size_t step)
{
    rapt_error err = {0};
    rapt_tape_begin(g->tape, (rapt_pass){.record = true, .training = true, .step = step});
    rapt_tensor *loss = rapt_lm_loss(g->tape, m, batch_of(g, "tokens", step), batch_of(g, "labels", step), NULL,
                                     NULL);
    if (rapt_backward(g->tape, loss, &err))
        fail_msg("%s/%s: %s", g->file, g->name, err.message);
    double norm = rapt_grad_norm(g->tape, m->params);
    check_number(g, "losses", step, (double)loss->data[0], bounds_of(g).losses);
    check_number(g, "norms", step, norm, bounds_of(g).norms);
    if (rapt_adam_step(adam, g->tape, golden_number(g, "lr", 0), fmin(1, golden_number(g, "clip", 0) / norm), &err))
        fail_msg("%s/%s: %s", g->file, g->name, err.message);
    rapt_params_zero_grad(m->params);
}

/* A key's bias is not in the file: it has no gradient but rounding errors, which Adam makes as large as any other. */
static void check_parameters(golden *g, const rapt_params *set)
{
    for (size_t i = 0; i < rapt_params_count(set); i++) {
        const rapt_param *p = rapt_params_at(set, i);
        if (p->buffer || strstr(p->value.name, "attention.k.bias"))
            continue;
        double off = golden_compare(g, p->value.name, p->value.data, rapt_tensor_size(&p->value), bounds_of(g).parameters);
        g->worst_output = fmax(g->worst_output, off);
    }
}

static void check_training(golden *g, const rapt_lm_config *c)
{
    rapt_lm m;
    rapt_error err = {0};
    rapt_lm_init(&m, g->set, c);
    golden_load(g);
    rapt_adam_options o = ADAM(.beta1 = golden_number(g, "beta1", 0.9), .beta2 = golden_number(g, "beta2", 0.999),
                               .eps = golden_number(g, "eps", 1e-8), .weight_decay = golden_number(g, "weight_decay", 0));
    rapt_adam *adam = rapt_adam_new(m.params, &o, &err);
    if (!adam)
        fail_msg("%s", err.message);
    for (size_t step = 0; step < golden_size(g, "steps"); step++)
        train_step(g, &m, adam, step);
    check_parameters(g, m.params);
    rapt_adam_free(adam);
}

static void test_file(void **state)
{
    golden *g = golden_open(*state);
    while (golden_next(g)) {
        rapt_lm_config c = config_of(g);
        check_preset(g, &c);
        if (strncmp(g->name, "block", strlen("block")) == 0)
            check_block(g, &c);
        else if (strcmp(g->name, "training") == 0)
            check_training(g, &c);
        else
            check_model(g, &c);
    }
    golden_close(g);
}

int main(void)
{
    static char gpt2[] = "lm_gpt2", seed[] = "lm_seed", llama[] = "lm_llama", alibi[] = "lm_alibi";
    const struct CMUnitTest tests[] = {
        {"gpt2", test_file, NULL, NULL, gpt2},
        {"seed", test_file, NULL, NULL, seed},
        {"llama", test_file, NULL, NULL, llama},
        {"alibi", test_file, NULL, NULL, alibi},
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
