/* examples/17_rms_norm.c: chapter 17 of docs/book: RMS norm by hand, a model that learns with it and with layer norm, and, with
 * --times, how long each takes.  Usage: 17_rms_norm [--table|--times] */
#include "input.h"
#include "learn.h"
#include "show.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { STEPS = 300, TIMED = 20 };

/* ---- by hand -------------------------------------------------------------------------------------------------------- */

static bool close_to(double a, double b, double tolerance) { return fabs(a - b) <= tolerance; }

static void rms_norm(rapt_tape *t, rapt_params *set)
{
    static const rapt_real rows[6] = {1, 7, 101, 107, 10, 70};
    static const char *const names[3] = {"1 7", "101 107", "10 70"}, *const columns[4] = {"layer 0", "layer 1", "RMS 0", "RMS 1"};
    rapt_tensor *x = rapt_tape_input(t, 3, (size_t[]){1, 3, 2}, rows, false);
    const rapt_tensor *layer = rapt_op_layer_norm(t, x, NULL, NULL, 1e-9), *rms = rapt_op_rms_norm(t, x, NULL, 1e-9);
    printf("-- by hand --\n");
    if (!show_ready(t, set))
        return;
    rapt_real table[12];
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 4; j++)
            table[i * 4 + j] = (j < 2 ? layer : rms)->data[i * 2 + j % 2];
    show_frame(3, 4, table, names, columns);
    bool hand = close_to((double)rms->data[0], 0.2, 1e-6) && close_to((double)rms->data[1], 1.4, 1e-6);
    show_check("(1, 7) has root mean square 5: 0.2 and 1.4", hand);
    show_check("layer norm: -1 and 1, shifted or scaled", show_difference(2, layer->data, (rapt_real[]){-1, 1}) < 1e-6 &&
               show_difference(4, layer->data + 2, (rapt_real[]){-1, 1, -1, 1}) < 1e-4);
    show_check("RMS norm: scaled the same, shifted not", show_difference(2, rms->data, rms->data + 4) < 1e-6 &&
                                                              show_difference(2, rms->data, rms->data + 2) > 0.3);
}

static void rms_table(rapt_tape *t, rapt_params *set)
{
    static const char *const columns[6] = {"mean: x", "mean: layer", "mean: RMS", "rms: x", "rms: layer", "rms: RMS"};
    rapt_tensor *x = input_sales(t, set);
    const rapt_tensor *stages[3] = {x, rapt_op_layer_norm(t, x, NULL, NULL, 1e-5), rapt_op_rms_norm(t, x, NULL, 1e-5)};
    rapt_real table[SALES_TIME * 6] = {0};
    if (!show_ready(t, set))
        return;
    for (size_t i = 0; i < SALES_TIME; i++)
        for (size_t k = 0; k < 3; k++) {
            double sum = 0, squares = 0;
            for (size_t j = 0; j < SALES_FEATURES; j++) {
                double value = (double)stages[k]->data[i * SALES_FEATURES + j];
                sum += value;
                squares += value * value;
            }
            table[i * 6 + k] = (rapt_real)(sum / SALES_FEATURES);
            table[i * 6 + 3 + k] = (rapt_real)sqrt(squares / SALES_FEATURES);
        }
    show_table(SALES_TIME, 6, table, input_sales_words, columns);
}

/* ---- a model with either ------------------------------------------------------------------------------------------ */

static void learned(rapt_tape *t, const learn_text *x)
{
    static const char *const names[2] = {"layer norm", "RMS norm"};
    double loss[2] = {0};
    size_t parameters[2] = {0};
    printf("\n-- %d steps on sentences: loss on others --\n", STEPS);
    for (int k = 0; k < 2; k++) {
        rapt_lm_config c = learn_config(x);
        c.block.norm_kind = k ? RAPT_NORM_KIND_RMS : RAPT_NORM_KIND_LAYER;
        rapt_lm *m = learn_train(t, x, &c, STEPS, NULL);
        if (!m)
            return;
        parameters[k] = rapt_params_size(m->params);
        loss[k] = learn_loss(t, x, m, 0, LEARN_TRAINED);
        printf("%-10s  %zu parameters, loss %.4f, perplexity %.2f\n", names[k], parameters[k], loss[k], exp(loss[k]));
        rapt_lm_free(m);
    }
    show_check("five norms without a beta: 5 x 64 parameters fewer", parameters[0] - parameters[1] == 5 * LEARN_FEATURES);
    show_check("the loss is the same within 0.02", fabs(loss[0] - loss[1]) < 0.02);
}

static void chapter(rapt_tape *t, rapt_params *set)
{
    learn_text x;
    rms_norm(t, set);
    if (learn_open(&x)) {
        learned(t, &x);
        learn_close(&x);
    }
}

/* ---- time ------------------------------------------------------------------------------------------------------------ */

/* Training steps of a model of four blocks with 384 features on two windows of 256 tokens: seconds of a step, of its norms. */
static bool time_steps(rapt_tape *t, bool rms, double *step, double *norms)
{
    static const int32_t ids[512];
    rapt_tokens tokens = {.ids = ids, .batch = 2, .time = 256};
    rapt_lm_config c;
    rapt_lm_preset("gpt2", &c, NULL);
    c.layers = 4;
    c.vocab = 1000;
    c.block.d_model = 384;
    c.block.heads = 6;
    c.block.ffn = 4 * 384;
    c.block.norm_kind = rms ? RAPT_NORM_KIND_RMS : RAPT_NORM_KIND_LAYER;
    rapt_lm *m = rapt_lm_new(&c, 1, NULL);
    double begin = 0;
    for (int i = 0; m && i <= TIMED; i++) {
        if (i == 1) { /* the first step allocates */
            rapt_tape_profile(t, true);
            begin = learn_clock();
        }
        rapt_tape_begin(t, (rapt_pass){.record = true});
        rapt_tensor *loss = rapt_lm_loss(t, m, tokens, tokens, NULL, NULL);
        rapt_params_zero_grad(m->params);
        if (rapt_backward(t, loss, NULL) != RAPT_OK)
            break;
    }
    *step = (learn_clock() - begin) / TIMED;
    *norms = 0;
    size_t count = 0;
    const rapt_profile_entry *entries = rapt_tape_profile_entries(t, &count);
    for (size_t i = 0; i < count; i++)
        *norms += strstr(entries[i].op, "norm") ? entries[i].seconds / TIMED : 0;
    rapt_tape_profile(t, false);
    bool ok = m && show_ready(t, m->params);
    rapt_lm_free(m);
    return ok;
}

static int times(void)
{
    rapt_tape *t = rapt_tape_new(&(rapt_compute){.threads = 1}, NULL);
    double step[2], norms[2];
    if (!t || !time_steps(t, false, &step[0], &norms[0]) || !time_steps(t, true, &step[1], &norms[1])) {
        show_check("steps can be timed", false);
        return show_end(t, NULL);
    }
    printf("            a step, ms  its norms, ms  share\n");
    for (int k = 0; k < 2; k++)
        printf("%-10s  %10.1f  %13.2f  %4.1f %%\n", k ? "RMS norm" : "layer norm", 1e3 * step[k], 1e3 * norms[k],
               100 * norms[k] / step[k]);
    return show_end(t, NULL);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--times") == 0)
        return times();
    return show_run(argc, argv, chapter, rms_table);
}
