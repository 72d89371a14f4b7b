/* examples/17_swiglu.c: chapter 17 of docs/book: SwiGLU by hand, and what models with ReLU, GELU and SwiGLU lose that have
 * equally many parameters.  Usage: 17_swiglu [--table] */
#include "learn.h"
#include "show.h"

#include <math.h>
#include <stdio.h>

enum { GRID = 13, STEPS = 300 };

/* ---- by hand -------------------------------------------------------------------------------------------------------- */

static size_t ffn_size(rapt_params *set, const char *prefix, size_t d, size_t hidden, rapt_ffn_kind kind)
{
    rapt_ffn m;
    size_t before = rapt_params_size(set);
    rapt_ffn_init(&m, set, prefix, d, hidden, d, &(rapt_ffn_options){.kind = kind, .no_bias = true});
    return rapt_params_size(set) - before;
}

static void swiglu(rapt_tape *t, rapt_params *set)
{
    static const rapt_real gates[4] = {1, -1, 0, 10}, ups[4] = {2, 3, 3, 3};
    rapt_tensor *gate = rapt_tape_input(t, 3, (size_t[]){1, 1, 4}, gates, false);
    rapt_tensor *up = rapt_tape_input(t, 3, (size_t[]){1, 1, 4}, ups, false);
    const rapt_tensor *y = rapt_op_swiglu(t, gate, up);
    printf("-- by hand --\n");
    if (!show_ready(t, set))
        return;
    double worst = 0;
    for (int i = 0; i < 4; i++) {
        double g = (double)gates[i], u = (double)ups[i];
        printf("gate %2.0f, up %.0f: silu %.4f, result %.4f\n", g, u, g / (1 + exp(-g)), (double)y->data[i]);
        worst = fmax(worst, fabs((double)y->data[i] - g / (1 + exp(-g)) * u));
    }
    show_check("silu(gate) times up; a gate of 0 closes, a large one multiplies by itself", worst < 1e-5);
    size_t relu = ffn_size(set, "relu.", 768, 4 * 768, RAPT_FFN_RELU);
    size_t three = ffn_size(set, "swiglu.", 768, 2048, RAPT_FFN_SWIGLU);
    printf("768 features: two matrices with 3072 hidden features: %zu; three with 2048: %zu\n", relu, three);
    show_check("three matrices with 8/3 d are as many parameters as two with 4 d: 8 d^2", relu == three && relu == 8 * 768 * 768);
}

static void swiglu_table(rapt_tape *t, rapt_params *set)
{
    char text[GRID][16];
    const char *names[GRID];
    rapt_real gates[GRID * GRID], ups[GRID * GRID];
    for (int i = 0; i < GRID * GRID; i++) {
        ups[i] = (rapt_real)(3 - i / GRID * 0.5);
        gates[i] = (rapt_real)(i % GRID * 0.5 - 3);
    }
    char rows[GRID][16];
    const char *row_names[GRID];
    for (int i = 0; i < GRID; i++) {
        snprintf(text[i], sizeof text[i], "%g", i * 0.5 - 3);
        snprintf(rows[i], sizeof rows[i], "%g", 3 - i * 0.5);
        names[i] = text[i];
        row_names[i] = rows[i];
    }
    rapt_tensor *gate = rapt_tape_input(t, 3, (size_t[]){1, GRID, GRID}, gates, false);
    const rapt_tensor *y = rapt_op_swiglu(t, gate, rapt_tape_input(t, 3, (size_t[]){1, GRID, GRID}, ups, false));
    if (show_ready(t, set))
        show_table(GRID, GRID, y->data, row_names, names);
}

/* ---- equally many parameters -------------------------------------------------------------------------------------- */

static void learned(rapt_tape *t, const learn_text *x)
{
    static const struct {
        const char *name;
        rapt_ffn_kind kind;
        size_t hidden;
    } kinds[3] = {{"ReLU", RAPT_FFN_RELU, 256}, {"GELU", RAPT_FFN_GELU_TANH, 256}, {"SwiGLU", RAPT_FFN_SWIGLU, 171}};
    double loss[3] = {0};
    size_t parameters[3] = {0};
    printf("\n-- %d steps on sentences: loss on others --\n", STEPS);
    for (int k = 0; k < 3; k++) {
        rapt_lm_config c = learn_config(x);
        c.block.ffn_kind = kinds[k].kind;
        c.block.ffn = kinds[k].hidden;
        c.block.no_ffn_bias = true;
        rapt_lm *m = learn_train(t, x, &c, STEPS, NULL);
        if (!m)
            return;
        parameters[k] = rapt_params_size(m->params);
        loss[k] = learn_loss(t, x, m, 0, LEARN_TRAINED);
        printf("%-6s  %zu hidden features, %zu parameters, loss %.4f, perplexity %.2f\n", kinds[k].name, kinds[k].hidden,
               parameters[k], loss[k], exp(loss[k]));
        rapt_lm_free(m);
    }
    show_check("equally many parameters, within a thousandth", parameters[0] == parameters[1] &&
               fabs((double)parameters[2] / (double)parameters[0] - 1) < 0.002);
    show_check("SwiGLU loses less than GELU, and GELU less than ReLU", loss[2] < loss[1] && loss[1] < loss[0]);
}

static void chapter(rapt_tape *t, rapt_params *set)
{
    learn_text x;
    swiglu(t, set);
    if (learn_open(&x)) {
        learned(t, &x);
        learn_close(&x);
    }
}

int main(int argc, char **argv) { return show_run(argc, argv, chapter, swiglu_table); }
