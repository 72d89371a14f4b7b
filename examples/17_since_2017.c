/* examples/17_since_2017.c: chapter 17 of docs/book: what changed since the first Transformer: rotary positions, RMS norm, SwiGLU
 * and grouped queries, each by hand and in a model.  Usage: 17_since_2017 [--table [rotary|rms-norm|swiglu|grouped-queries]] */
#include "input.h"
#include "show.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PLACES = 16, GRID = 13, STEPS = 40, HEADS = 4, HEAD_FEATURES = SALES_FEATURES / HEADS };

static bool close_to(double a, double b, double tolerance) { return fabs(a - b) <= tolerance; }

/* ---- rotary positions ---------------------------------------------------------------------------------------------- */

/* One vector of d features at PLACES places, [1, PLACES, d]. */
static rapt_tensor *everywhere(rapt_tape *t, size_t d, const rapt_real *vector)
{
    rapt_tensor *x = rapt_tape_tensor(t, 3, (size_t[]){1, PLACES, d}, false);
    for (size_t i = 0; !rapt_tape_error(t)->code && i < PLACES * d; i++)
        x->data[i] = vector[i % d];
    return x;
}

/* Scores of one query at every place for one key at every place, [PLACES, PLACES]; with rotated vectors, or with sines added. */
static const rapt_tensor *scores(rapt_tape *t, rapt_params *set, size_t d, const rapt_real *query, const rapt_real *key,
                                 bool rotary)
{
    char name[32];
    rapt_tensor *q = everywhere(t, d, query), *k = everywhere(t, d, key);
    snprintf(name, sizeof name, rotary ? "rotary%zu" : "sines%zu.", d);
    if (rotary) {
        const rapt_param *table = rapt_rotary_init(set, name, PLACES, d, 10000);
        q = rapt_op_rotary(t, q, table, 0);
        k = rapt_op_rotary(t, k, table, 0);
    } else {
        rapt_positions m;
        rapt_positions_init(&m, set, name, PLACES, d, NULL);
        q = rapt_positions_forward(t, &m, q, 0);
        k = rapt_positions_forward(t, &m, k, 0);
    }
    return rapt_op_matmul(t, q, k, true);
}

/* The largest difference between scores of equal distance. */
static double by_distance(const rapt_tensor *s)
{
    double worst = 0;
    for (size_t i = 1; i < PLACES; i++)
        for (size_t j = 1; j < PLACES; j++)
            worst = fmax(worst, fabs((double)s->data[i * PLACES + j] - (double)s->data[(i - 1) * PLACES + j - 1]));
    return worst;
}

/* The formula, pair by pair: features j and j + d/2 turn by place / 10000^(2j/d). */
static double formula_difference(const rapt_tensor *s, size_t d, const rapt_real *q, const rapt_real *k)
{
    double worst = 0;
    for (size_t n = 0; n < PLACES * PLACES; n++) {
        double sum = 0, distance = (double)(n / PLACES) - (double)(n % PLACES);
        for (size_t j = 0; j < d / 2; j++) {
            double angle = distance * pow(10000, -2.0 * (double)j / (double)d);
            double a = (double)q[j], b = (double)q[j + d / 2], x = (double)k[j], y = (double)k[j + d / 2];
            sum += (a * x + b * y) * cos(angle) + (a * y - b * x) * sin(angle);
        }
        worst = fmax(worst, fabs((double)s->data[n] - sum));
    }
    return worst;
}

static const rapt_real *random_vector(rapt_params *set, const char *name)
{
    return rapt_params_add(set, name, 1, (size_t[]){HEAD_FEATURES}, (rapt_init){RAPT_INIT_NORMAL, 1})->value.data;
}

static void rotary(rapt_tape *t, rapt_params *set)
{
    static const rapt_real one[2] = {1, 0};
    const rapt_tensor *s = scores(t, set, 2, one, one, true);
    printf("-- rotary positions: q = k = (1, 0), the first places --\n");
    if (!show_ready(t, set))
        return;
    rapt_real corner[16];
    double worst = 0;
    for (int i = 0; i < PLACES; i++)
        for (int j = 0; j < PLACES; j++) {
            worst = fmax(worst, fabs((double)s->data[i * PLACES + j] - cos(i - j)));
            if (i < 4 && j < 4)
                corner[i * 4 + j] = s->data[i * PLACES + j];
        }
    show_frame(4, 4, corner, NULL, NULL);
    show_check("the score at places i and j is cos(i - j)", worst < 1e-6);
    const rapt_real *q = random_vector(set, "q"), *k = random_vector(set, "k");
    const rapt_tensor *turned = scores(t, set, HEAD_FEATURES, q, k, true), *added = scores(t, set, HEAD_FEATURES, q, k, false);
    if (!show_ready(t, set))
        return;
    printf("random q and k of 16 features, sines added: scores of one distance differ by up to %.2f\n", by_distance(added));
    show_check("added: the place has a part in it", by_distance(added) > 0.1);
    show_check("turned: the distance decides, and nothing else", by_distance(turned) < 1e-5);
    show_check("all scores are those of the formula", formula_difference(turned, HEAD_FEATURES, q, k) < 1e-5);
}

static void rotary_table(rapt_tape *t, rapt_params *set)
{
    rapt_real ones[HEAD_FEATURES];
    for (size_t i = 0; i < HEAD_FEATURES; i++)
        ones[i] = 1;
    const rapt_tensor *s = scores(t, set, HEAD_FEATURES, ones, ones, true);
    if (show_ready(t, set))
        show_table(PLACES, PLACES, s->data, NULL, NULL);
}

/* ---- RMS norm ------------------------------------------------------------------------------------------------------ */

static void rms_norm(rapt_tape *t, rapt_params *set)
{
    static const rapt_real rows[6] = {1, 7, 101, 107, 10, 70};
    static const char *const names[3] = {"1 7", "101 107", "10 70"}, *const columns[4] = {"layer 0", "layer 1", "RMS 0", "RMS 1"};
    rapt_tensor *x = rapt_tape_input(t, 3, (size_t[]){1, 3, 2}, rows, false);
    const rapt_tensor *layer = rapt_op_layer_norm(t, x, NULL, NULL, 1e-9), *rms = rapt_op_rms_norm(t, x, NULL, 1e-9);
    printf("\n-- RMS norm --\n");
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

/* ---- SwiGLU -------------------------------------------------------------------------------------------------------- */

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
    printf("\n-- SwiGLU --\n");
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

/* ---- grouped queries ----------------------------------------------------------------------------------------------- */

static void init_attention(rapt_multi_head_attention *m, rapt_params *set, const char *prefix, size_t kv_heads)
{
    rapt_attention_options options = {.hidden = SALES_FEATURES, .heads = HEADS, .kv_heads = kv_heads,
                                      .init = RAPT_WEIGHT_INIT_PYTORCH};
    rapt_multi_head_attention_init(m, set, prefix, &options);
}

/* Copies each key or value head of `from` to those heads of `to` that it stands for. */
static void copy_heads(const rapt_param *from, rapt_param *to, size_t kv_heads)
{
    size_t size = HEAD_FEATURES * SALES_FEATURES, share = HEADS / kv_heads;
    for (size_t h = 0; h < HEADS; h++)
        memcpy(to->value.data + h * size, from->value.data + h / share * size, size * sizeof *to->value.data);
}

/* Two models of attention: with two key-value heads, and with four that are pairwise equal. */
static void make_pair(rapt_params *set, rapt_multi_head_attention *grouped, rapt_multi_head_attention *full)
{
    init_attention(grouped, set, "grouped.", 2);
    init_attention(full, set, "full.", 0);
    if (rapt_params_error(set)->code)
        return;
    memcpy(full->q.weight->value.data, grouped->q.weight->value.data, SALES_FEATURES * SALES_FEATURES * sizeof(rapt_real));
    memcpy(full->o.weight->value.data, grouped->o.weight->value.data, SALES_FEATURES * SALES_FEATURES * sizeof(rapt_real));
    copy_heads(grouped->k.weight, full->k.weight, 2);
    copy_heads(grouped->v.weight, full->v.weight, 2);
}

/* Numbers that a cache of GPT-2's size holds for each token. */
static size_t cache_numbers(size_t kv_heads)
{
    rapt_lm_config c;
    rapt_lm_preset("gpt2", &c, NULL);
    c.block.kv_heads = kv_heads;
    rapt_error err = {0};
    rapt_lm *m = rapt_lm_new(&c, RAPT_SEED_SHAPES, &err);
    if (!m)
        return fprintf(stderr, "%s\n", err.message), 0;
    rapt_kv_sizes s = rapt_lm_kv_sizes(m, 1);
    rapt_lm_free(m);
    return 2 * s.layers * s.features;
}

static void grouped_queries(rapt_tape *t, rapt_params *set)
{
    rapt_multi_head_attention grouped, full;
    rapt_mask causal = {.causal = true};
    make_pair(set, &grouped, &full);
    rapt_tensor *x = input_sales(t, set);
    const rapt_tensor *a = rapt_multi_head_attention_forward(t, &grouped, x, x, x, &causal);
    const rapt_tensor *b = rapt_multi_head_attention_forward(t, &full, x, x, x, &causal);
    printf("\n-- grouped queries: 4 heads, 2 key-value heads --\n");
    if (!show_ready(t, set))
        return;
    show_shape("W_q", &grouped.q.weight->value);
    show_shape("W_k", &grouped.k.weight->value);
    show_shape("W_v", &grouped.v.weight->value);
    show_shape("output", a);
    show_check("the same as four key-value heads that are equal in pairs",
               show_difference(rapt_tensor_size(a), a->data, b->data) < 1e-5);
    static const size_t kinds[4] = {12, 4, 2, 1};
    bool right = true;
    printf("GPT-2, 12 heads of 64 features, 12 blocks: cache for each token, for 1024 tokens\n");
    for (int i = 0; i < 4; i++) {
        size_t numbers = cache_numbers(kinds[i]);
        printf("%2zu key-value heads: %6zu numbers, %5.1f MB\n", kinds[i], numbers, (double)numbers * 4 * 1024 / 1e6);
        right = right && numbers == 2 * 12 * 64 * kinds[i];
    }
    show_check("2 x 12 blocks x 64 features x key-value heads", right);
}

/* The keys of the first window, with heads side by side: the keys of two key-value heads, twice each. */
static void grouped_table(rapt_tape *t, rapt_params *set)
{
    static char text[SALES_FEATURES][16];
    const char *names[SALES_FEATURES];
    rapt_multi_head_attention grouped, full;
    make_pair(set, &grouped, &full);
    const rapt_tensor *keys = rapt_linear_forward(t, &full.k, input_sales(t, set));
    for (size_t i = 0; i < SALES_FEATURES; i++) {
        snprintf(text[i], sizeof text[i], "%zu.%zu", i / HEAD_FEATURES, i % HEAD_FEATURES);
        names[i] = text[i];
    }
    if (show_ready(t, set))
        show_table(SALES_TIME, SALES_FEATURES, keys->data, input_sales_words, names);
}

/* ---- all four in one model ----------------------------------------------------------------------------------------- */

static double train(rapt_tape *t, rapt_lm *m, const input_windows *s)
{
    rapt_adam *adam = rapt_adam_new(m->params, NULL, NULL);
    double loss = NAN;
    for (int step = 0; adam && step < STEPS; step++) {
        rapt_tape_begin(t, (rapt_pass){.record = true});
        rapt_tensor *at = rapt_lm_loss(t, m, s->inputs, s->labels, NULL, NULL);
        rapt_params_zero_grad(m->params);
        if (rapt_backward(t, at, NULL) != RAPT_OK)
            break;
        loss = (double)at->data[0];
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
    static const char *const names[2] = {"chapter 16", "all four"};
    input_windows s = input_sales_numbered(set);
    size_t d = SALES_FEATURES, parameters[2];
    double loss[2];
    printf("\n-- a model of four blocks with all four, after %d steps --\n", STEPS);
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
        loss[k] = train(t, m, &s);
        printf("%-10s  %zu parameters, loss %.4f\n", names[k], parameters[k], loss[k]);
        rapt_lm_free(m);
    }
    size_t block = 2 * d * d + 2 * d * (d / 2) + 3 * d * 168 + 2 * d;
    printf("a block: %zu parameters, against %zu\n", block, 12 * d * d + 13 * d);
    show_check("q and o d^2, k and v d^2 / 2, three matrices of 168 d, two norms of d",
               parameters[1] == 4 * block + s.vocabulary * d + d);
    show_check("both learn the windows", fmax(loss[0], loss[1]) < 0.1 && fmin(loss[0], loss[1]) > 2 * log(2) / 64);
}

static void chapter(rapt_tape *t, rapt_params *set)
{
    rotary(t, set);
    rms_norm(t, set);
    swiglu(t, set);
    grouped_queries(t, set);
    whole(t, set);
}

int main(int argc, char **argv)
{
    static const char *const names[4] = {"rotary", "rms-norm", "swiglu", "grouped-queries"};
    static show_part *const pictures[4] = {rotary_table, rms_table, swiglu_table, grouped_table};
    int which = 0;
    while (argc == 3 && which < 4 && strcmp(argv[2], names[which]) != 0)
        which++;
    if (argc > 3 || which == 4 || (argc > 1 && strcmp(argv[1], "--table") != 0))
        return fprintf(stderr, "usage: %s [--table [rotary|rms-norm|swiglu|grouped-queries]]\n", argv[0]), 2;
    return show_run(argc > 1 ? 2 : 1, argv, chapter, pictures[which]);
}
