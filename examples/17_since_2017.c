/* examples/17_since_2017.c: chapter 17 of docs/book: a model with all four parts that changed since the first Transformer, rotary
 * positions, RMS norm, SwiGLU and grouped queries, beside one of chapter 16.  Usage: 17_since_2017 [--table] */
#include "input.h"
#include "learn.h"
#include "show.h"

#include <math.h>
#include <stdio.h>

enum { STEPS = 40, LONGER = 300, HEADS = 4 };

static const char *const names[2] = {"chapter 16", "all four"};

/* STEPS steps on all windows; the loss of each is in `losses`, the last one is returned. */
static double train(rapt_tape *t, rapt_lm *m, const input_windows *s, double losses[STEPS])
{
    rapt_adam *adam = rapt_adam_new(m->params, NULL, NULL);
    double loss = NAN;
    for (int step = 0; adam && step < STEPS; step++) {
        rapt_tape_begin(t, (rapt_pass){.record = true});
        rapt_tensor *at = rapt_lm_loss(t, m, s->inputs, s->labels, NULL, NULL);
        rapt_params_zero_grad(m->params);
        if (rapt_backward(t, at, NULL) != RAPT_OK)
            break;
        loss = losses[step] = (double)at->data[0];
        rapt_adam_step(adam, t, 0.003, fmin(1, 1 / rapt_grad_norm(t, m->params)), NULL);
    }
    rapt_adam_free(adam);
    return show_ready(t, m->params) ? loss : NAN;
}

/* The sizes of a model of four blocks: as chapter 16 has it, or with all that this chapter has. */
static rapt_lm_config sizes(size_t vocab, bool modern)
{
    rapt_lm_config c;
    rapt_lm_preset("gpt2", &c, NULL);
    rapt_block_config b = {.d_model = SALES_FEATURES, .heads = HEADS, .ffn = 4 * SALES_FEATURES, .bias = true,
                           .ffn_kind = RAPT_FFN_GELU_TANH, .norm_place = RAPT_NORM_PLACE_PRE,
                           .init = RAPT_WEIGHT_INIT_GPT2, .std = 0.125};
    if (modern) {
        c.positions = RAPT_POSITIONS_ROTARY;
        b.norm_kind = RAPT_NORM_KIND_RMS;
        b.ffn_kind = RAPT_FFN_SWIGLU;
        b.ffn = 168; /* 8/3 of 64 is 171 */
        b.kv_heads = 2;
        b.bias = false;
        b.no_ffn_bias = true;
    }
    c.vocab = vocab;
    c.layers = 4;
    c.context = SALES_TIME;
    c.block = b;
    return c;
}

static void whole(rapt_tape *t, rapt_params *set)
{
    input_windows s = input_sales_numbered(set);
    size_t d = SALES_FEATURES, parameters[2];
    double loss[2], losses[STEPS];
    printf("-- four windows, after %d steps --\n", STEPS);
    for (int k = 0; k < 2; k++) {
        rapt_lm_config c = sizes(s.vocabulary, k == 1);
        rapt_error err = {0};
        rapt_lm *m = rapt_lm_new(&c, 1, &err);
        if (!m) {
            fprintf(stderr, "%s\n", err.message);
            show_check("memory for a model", false);
            return;
        }
        parameters[k] = rapt_params_size(m->params);
        loss[k] = train(t, m, &s, losses);
        printf("%-10s  %zu parameters, loss %.4f\n", names[k], parameters[k], loss[k]);
        rapt_lm_free(m);
    }
    size_t block = 2 * d * d + 2 * d * (d / 2) + 3 * d * 168 + 2 * d;
    printf("a block: %zu parameters, against %zu\n", block, 12 * d * d + 13 * d);
    show_check("q and o d^2, k and v d^2 / 2, three matrices of 168 d, two norms of d",
               parameters[1] == 4 * block + s.vocabulary * d + d);
    show_check("both learn the windows", fmax(loss[0], loss[1]) < 0.1 && fmin(loss[0], loss[1]) > 2 * log(2) / 64);
}

/* Both models learn real sentences: what each loses on sentences that it has not seen. */
static void sentences(rapt_tape *t, const learn_text *x)
{
    double loss[2] = {0};
    printf("\n-- sentences, after %d steps: loss on others --\n", LONGER);
    for (int k = 0; k < 2; k++) {
        rapt_lm_config c = sizes(x->vocabulary, k == 1);
        c.layers = 2;
        c.context = LEARN_TRAINED;
        rapt_lm *m = learn_train(t, x, &c, LONGER, NULL);
        if (!m)
            return;
        loss[k] = learn_loss(t, x, m, 0, LEARN_TRAINED);
        size_t parameters = rapt_params_size(m->params);
        printf("%-10s  %zu parameters, loss %.4f, perplexity %.2f\n", names[k], parameters, loss[k], exp(loss[k]));
        rapt_lm_free(m);
    }
    show_check("all four: fewer parameters and a smaller loss", loss[1] < loss[0] - 0.05);
}

static void chapter(rapt_tape *t, rapt_params *set)
{
    learn_text x;
    whole(t, set);
    if (learn_open(&x)) {
        sentences(t, &x);
        learn_close(&x);
    }
}

/* The loss of every second step on the four windows. */
static void picture(rapt_tape *t, rapt_params *set)
{
    static char text[STEPS][16];
    const char *columns[STEPS / 2];
    rapt_real rows[2][STEPS / 2] = {{0}};
    input_windows s = input_sales_numbered(set);
    for (int k = 0; k < 2; k++) {
        double losses[STEPS] = {0};
        rapt_lm_config c = sizes(s.vocabulary, k == 1);
        rapt_lm *m = rapt_lm_new(&c, 1, NULL);
        if (!m || isnan(train(t, m, &s, losses)))
            show_check("a model learns", false);
        for (int i = 0; i < STEPS / 2; i++) {
            snprintf(text[i], sizeof text[i], "%d", 2 * i);
            columns[i] = text[i];
            rows[k][i] = (rapt_real)losses[2 * i];
        }
        rapt_lm_free(m);
    }
    show_table(2, STEPS / 2, rows[0], names, columns);
}

int main(int argc, char **argv) { return show_run(argc, argv, chapter, picture); }
