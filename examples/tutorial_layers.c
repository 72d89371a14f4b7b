/* examples/tutorial_layers.c: the layers that the table of docs/tutorials/encoder-decoder.md compares, written from operations:
 * which positions each of them mixes, what it computes, and how far two positions are from each other.
 * Usage: tutorial_layers [--table | --time | SECTION] */
#include "sections.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { WIDTH = 3, HEADS = 2, TIME_MAX = 512 }; /* WIDTH: positions that nn.Conv1d sees */

/* The parameters of all layers for vectors of d features, and what the last layer that ran has done. */
typedef struct layers {
    rapt_linear dense, conv, cell; /* d to d, WIDTH d to d, 2 d to the four gates of an LSTM */
    rapt_ffn ffn;
    rapt_multi_head_attention heads;
    rapt_layer_norm norm, norm_2d; /* of a vector; of five */
    size_t multiply_adds;          /* in matrix products */
    size_t steps;                  /* products that waited for each other */
} layers;

typedef rapt_tensor *layer_fn(rapt_tape *t, layers *m, rapt_tensor *x); /* [1, time, d] to the same shape */

static const char *join(char name[64], const char *prefix, const char *part)
{
    snprintf(name, 64, "%s%s", prefix, part);
    return name;
}

static void layers_init(layers *m, rapt_params *set, const char *prefix, size_t d)
{
    char name[64];
    rapt_linear_options pytorch = {.init = RAPT_WEIGHT_INIT_PYTORCH};
    *m = (layers){0};
    rapt_linear_init(&m->dense, set, join(name, prefix, "dense."), d, d, &pytorch);
    rapt_linear_init(&m->conv, set, join(name, prefix, "conv."), WIDTH * d, d, &pytorch);
    rapt_linear_init(&m->cell, set, join(name, prefix, "lstm."), 2 * d, 4 * d, &pytorch);
    rapt_ffn_init(&m->ffn, set, join(name, prefix, "ffn."), d, 4 * d, d, NULL);
    rapt_multi_head_attention_init(&m->heads, set, join(name, prefix, "attention."),
                                   &(rapt_attention_options){.hidden = d, .heads = HEADS});
    rapt_layer_norm_init(&m->norm, set, join(name, prefix, "norm."), 1, &d, NULL);
    rapt_layer_norm_init(&m->norm_2d, set, join(name, prefix, "norm_2d."), 2, (size_t[]){5, d}, NULL);
}

/* ---- the layers -------------------------------------------------------------------------------------------------- */

/* A linear layer of every vector of x, counted. */
static rapt_tensor *project(rapt_tape *t, layers *m, const rapt_linear *linear, rapt_tensor *x)
{
    rapt_tensor *y = rapt_op_linear(t, x, linear->weight, linear->bias, RAPT_ACTIVATION_IDENTITY);
    m->multiply_adds += rapt_tensor_size(x) * rapt_tensor_features(y);
    m->steps++;
    return y;
}

static rapt_tensor *dense(rapt_tape *t, layers *m, rapt_tensor *x) { return project(t, m, &m->dense, x); }

static rapt_tensor *feed_forward(rapt_tape *t, layers *m, rapt_tensor *x)
{
    rapt_tensor *hidden = rapt_op_relu(t, project(t, m, &m->ffn.dense1, x));
    return project(t, m, &m->ffn.dense2, hidden);
}

static rapt_tensor *zero_vector(rapt_tape *t, size_t d)
{
    static const rapt_real zeros[64];
    return rapt_tape_input(t, 3, (size_t[]){1, 1, d}, zeros, false);
}

/* A linear layer of WIDTH neighbors side by side; zeros stand before the first position and after the last. */
static rapt_tensor *convolution(rapt_tape *t, layers *m, rapt_tensor *x)
{
    const size_t n = x->shape[1], d = x->shape[2];
    rapt_tensor *edge = zero_vector(t, d);
    rapt_tensor *padded = rapt_op_concat(t, 3, (rapt_tensor *[]){edge, x, edge}, 1), *neighbors[WIDTH];
    for (size_t i = 0; i < WIDTH; i++)
        neighbors[i] = rapt_op_slice(t, padded, 1, i, n);
    return project(t, m, &m->conv, rapt_op_concat(t, WIDTH, neighbors, -1));
}

/* 1 / (1 + e^-x) = (tanh(x / 2) + 1) / 2 */
static rapt_tensor *sigmoid(rapt_tape *t, rapt_tensor *x)
{
    rapt_tensor *one = rapt_tape_input(t, 1, (size_t[]){1}, (rapt_real[]){1}, false);
    return rapt_op_scale(t, rapt_op_add(t, rapt_op_tanh(t, rapt_op_scale(t, x, 0.5)), one), 0.5);
}

/* Position after position: each step sees its vector and the result h of the step before; c is what the cell remembers. */
static rapt_tensor *lstm(rapt_tape *t, layers *m, rapt_tensor *x)
{
    const size_t n = x->shape[1], d = x->shape[2];
    rapt_tensor *h = zero_vector(t, d), *c = h, *results[TIME_MAX];
    for (size_t i = 0; i < n; i++) {
        rapt_tensor *both = rapt_op_concat(t, 2, (rapt_tensor *[]){rapt_op_slice(t, x, 1, i, 1), h}, -1);
        rapt_tensor *gates = project(t, m, &m->cell, both);
        rapt_tensor *input = sigmoid(t, rapt_op_slice(t, gates, -1, 0, d));
        rapt_tensor *forget = sigmoid(t, rapt_op_slice(t, gates, -1, d, d));
        rapt_tensor *candidate = rapt_op_tanh(t, rapt_op_slice(t, gates, -1, 2 * d, d));
        rapt_tensor *output = sigmoid(t, rapt_op_slice(t, gates, -1, 3 * d, d));
        c = rapt_op_add(t, rapt_op_multiply(t, forget, c), rapt_op_multiply(t, input, candidate));
        results[i] = h = rapt_op_multiply(t, output, rapt_op_tanh(t, c));
    }
    return rapt_op_concat(t, n, results, 1);
}

/* Batched matrix products, counted. */
static rapt_tensor *product(rapt_tape *t, layers *m, rapt_tensor *a, rapt_tensor *b, bool transpose_b)
{
    rapt_tensor *y = rapt_op_matmul(t, a, b, transpose_b);
    m->multiply_adds += rapt_tensor_size(a) * rapt_tensor_features(y);
    m->steps++;
    return y;
}

static rapt_tensor *attention(rapt_tape *t, layers *m, rapt_tensor *x)
{
    const size_t d = rapt_tensor_features(x), before = m->steps;
    rapt_tensor *queries = rapt_op_split_heads(t, project(t, m, &m->heads.q, x), HEADS);
    rapt_tensor *keys = rapt_op_split_heads(t, project(t, m, &m->heads.k, x), HEADS);
    rapt_tensor *values = rapt_op_split_heads(t, project(t, m, &m->heads.v, x), HEADS);
    m->steps = before + 1; /* none of the three waits for another */
    rapt_tensor *scores = rapt_op_scale(t, product(t, m, queries, keys, true), 1 / sqrt((double)(d / HEADS)));
    rapt_tensor *sums = product(t, m, rapt_op_masked_softmax(t, scores, NULL), values, false);
    return project(t, m, &m->heads.o, rapt_op_concat_heads(t, sums));
}

static rapt_tensor *layer_norm(rapt_tape *t, layers *m, rapt_tensor *x) { return rapt_layer_norm_forward(t, &m->norm, x); }
static rapt_tensor *layer_norm_2d(rapt_tape *t, layers *m, rapt_tensor *x) { return rapt_layer_norm_forward(t, &m->norm_2d, x); }

static const struct kind {
    const char *name;
    layer_fn *run;
    bool alone; /* as the tutorial's table has it, or, of layer norms, as their sizes say */
} kinds[] = {{"nn.Linear", dense, true},
             {"nn.Conv1d", convolution, false},
             {"nn.LSTM", lstm, false},
             {"MultiHeadAttention", attention, false},
             {"PositionWiseFFN", feed_forward, true},
             {"nn.LayerNorm(4)", layer_norm, true},
             {"nn.LayerNorm([5, 4])", layer_norm_2d, false}};
enum { ALL = sizeof kinds / sizeof *kinds, COMPARED = 5 };

/* ---- by their definitions, in double ----------------------------------------------------------------------------- */

static double linear_of(const rapt_linear *m, size_t out, const double *x)
{
    const size_t in = m->weight->value.shape[1];
    double sum = m->bias ? (double)m->bias->value.data[out] : 0;
    for (size_t i = 0; i < in; i++)
        sum += (double)m->weight->value.data[out * in + i] * x[i];
    return sum;
}

static double by_definition_conv(const layers *m, const rapt_tensor *x, const rapt_tensor *y)
{
    const size_t n = x->shape[1], d = x->shape[2];
    double largest = 0;
    for (size_t i = 0; i < n; i++) {
        double seen[WIDTH * 64] = {0};
        for (size_t j = 0; j < WIDTH; j++)
            for (size_t f = 0; i + j >= 1 && i + j <= n && f < d; f++)
                seen[j * d + f] = (double)x->data[(i + j - 1) * d + f];
        for (size_t f = 0; f < d; f++)
            largest = fmax(largest, fabs(linear_of(&m->conv, f, seen) - (double)y->data[i * d + f]));
    }
    return largest;
}

static double gate_of(double x) { return 1 / (1 + exp(-x)); }

static double by_definition_lstm(const layers *m, const rapt_tensor *x, const rapt_tensor *y)
{
    const size_t n = x->shape[1], d = x->shape[2];
    double largest = 0, both[2 * 64] = {0}, c[64] = {0};
    for (size_t i = 0; i < n; i++) {
        double h[64];
        for (size_t f = 0; f < d; f++)
            both[f] = (double)x->data[i * d + f];
        for (size_t f = 0; f < d; f++) {
            const rapt_linear *cell = &m->cell;
            c[f] = gate_of(linear_of(cell, d + f, both)) * c[f] +
                   gate_of(linear_of(cell, f, both)) * tanh(linear_of(cell, 2 * d + f, both));
            h[f] = gate_of(linear_of(cell, 3 * d + f, both)) * tanh(c[f]);
            largest = fmax(largest, fabs(h[f] - (double)y->data[i * d + f]));
        }
        memcpy(both + d, h, d * sizeof *h);
    }
    return largest;
}

static void definitions(rapt_tape *t, rapt_params *set)
{
    layers m;
    layers_init(&m, set, "definitions.", 4);
    rapt_tensor *x = &rapt_params_add(set, "definitions.X", 3, (size_t[]){1, 5, 4}, (rapt_init){RAPT_INIT_NORMAL, 1})->value;
    rapt_tensor *convolved = convolution(t, &m, x), *read = lstm(t, &m, x), *attended = attention(t, &m, x);
    rapt_tensor *module = rapt_multi_head_attention_forward(t, &m.heads, x, x, x, NULL);
    rapt_tensor *fed = feed_forward(t, &m, x), *ffn = rapt_ffn_forward(t, &m.ffn, x);
    if (!show_ready(t, set))
        return;
    show_corner("Conv1d(X)", convolved);
    show_corner("LSTM(X)", read);
    show_check("the convolution is its sum", by_definition_conv(&m, x, convolved) < 1e-5);
    show_check("the LSTM is its six equations", by_definition_lstm(&m, x, read) < 1e-5);
    show_check("attention and feed-forward network are the library's",
               show_difference(20, attended->data, module->data) < 1e-5 && show_difference(20, fed->data, ffn->data) < 1e-5);
}

/* ---- what reaches what ------------------------------------------------------------------------------------------- */

/* Runs `depth` layers of a kind over `time` positions of d random numbers; then reached[j] says whether the result at position
 * `at` depends on input j: whether its gradient there is anything but zeros. Returns false after a failure. */
static bool find_reached(rapt_tape *t, layers *m, layer_fn *run, const rapt_tensor *numbers, size_t depth, size_t at,
                         bool *reached)
{
    const size_t time = numbers->shape[1], d = numbers->shape[2];
    static rapt_real upstream[TIME_MAX * 64];
    memset(upstream, 0, sizeof upstream);
    for (size_t f = 0; f < d; f++)
        upstream[at * d + f] = (rapt_real)(1 + f % 3); /* not all equal: the sum of a layer norm's results never changes */
    rapt_tape_begin(t, (rapt_pass){.record = true, .keep_gradients = true});
    rapt_tensor *x = rapt_tape_input(t, 3, numbers->shape, numbers->data, true), *y = x;
    for (size_t i = 0; i < depth; i++)
        y = run(t, m, y);
    rapt_backward(t, rapt_op_weighted_sum(t, y, upstream), NULL);
    if (rapt_tape_error(t)->code != RAPT_OK)
        return false;
    for (size_t j = 0; j < time; j++) {
        reached[j] = false;
        for (size_t f = 0; f < d; f++)
            reached[j] = reached[j] || x->grad[j * d + f] != 0;
    }
    return true;
}

static void positions_alone(rapt_tape *t, rapt_params *set)
{
    layers m;
    layers_init(&m, set, "alone.", 4);
    const rapt_tensor *x = &rapt_params_add(set, "alone.X", 3, (size_t[]){1, 5, 4}, (rapt_init){RAPT_INIT_NORMAL, 1})->value;
    bool right = true;
    for (size_t i = 0; i < ALL; i++) {
        bool reached[5] = {0};
        if (!find_reached(t, &m, kinds[i].run, x, 1, 2, reached))
            break;
        bool alone = !reached[0] && !reached[1] && !reached[3] && !reached[4];
        printf("%-20s %-20s", kinds[i].name, alone ? "each position alone" : "positions are mixed");
        for (size_t j = 0; j < 5; j++)
            printf(" %c", reached[j] ? 'x' : '.');
        putchar('\n');
        right = right && reached[2] && alone == kinds[i].alone;
    }
    if (show_ready(t, set))
        show_check("as the tutorial's table has it", right);
}

/* ---- what it costs ----------------------------------------------------------------------------------------------- */

typedef struct cost {
    size_t multiply_adds, steps; /* of one layer */
    size_t depth;                /* layers after which the last result depends on the first input; 0: never, not after n */
} cost;

static cost cost_of(rapt_tape *t, layers *m, layer_fn *run, rapt_params *set, size_t time, size_t d)
{
    char name[32];
    snprintf(name, sizeof name, "cost.X%zu", time);
    rapt_param *x = rapt_params_find(set, name);
    if (!x)
        x = rapt_params_add(set, name, 3, (size_t[]){1, time, d}, (rapt_init){RAPT_INIT_NORMAL, 1});
    bool reached[TIME_MAX] = {0};
    cost c = {0};
    m->multiply_adds = m->steps = 0;
    for (size_t depth = 1; depth <= time && !c.depth; depth++) {
        if (!find_reached(t, m, run, &x->value, depth, time - 1, reached))
            return (cost){0};
        if (depth == 1)
            c.multiply_adds = m->multiply_adds, c.steps = m->steps;
        c.depth = reached[0] ? depth : 0;
    }
    return c;
}

static void compare(rapt_tape *t, rapt_params *set)
{
    enum { D = 16 };
    static const size_t times[] = {16, 32};
    layers m;
    layers_init(&m, set, "compare.", D);
    bool counted = true, far = true;
    for (size_t i = 0; i < 2; i++) {
        const size_t n = times[i], plain = n * D * D;
        const size_t expected[COMPARED] = {plain, WIDTH * plain, 8 * plain, 4 * plain + 2 * n * n * D, 8 * plain};
        const size_t paths[COMPARED] = {0, n - 1, n, 4, 0};
        printf("n = %zu, d = %d       multiply-adds  steps  layers  path\n", n, D);
        for (size_t j = 0; j < COMPARED; j++) {
            cost c = cost_of(t, &m, kinds[j].run, set, n, D);
            printf("%-20s %14zu %6zu", kinds[j].name, c.multiply_adds, c.steps);
            if (c.depth)
                printf(" %7zu %5zu\n", c.depth, c.depth * c.steps);
            else
                puts("       -     -");
            counted = counted && c.multiply_adds == expected[j];
            far = far && c.depth * c.steps == paths[j];
        }
    }
    if (!show_ready(t, set))
        return;
    show_check("n d^2 times 1, 3, 8 and 8; attention 4 n d^2 + 2 n^2 d", counted);
    show_check("from the first position to the last: n - 1, n, and 4 for any n", far);
}

/* Milliseconds of a forward pass, which are others each time. */
static void times(rapt_tape *t, rapt_params *set)
{
    enum { D = 64, RUNS = 20 };
    layers m;
    layers_init(&m, set, "times.", D);
    rapt_tensor *x = &rapt_params_add(set, "times.X", 3, (size_t[]){1, TIME_MAX, D}, (rapt_init){RAPT_INIT_NORMAL, 1})->value;
    printf("d = %d, milliseconds%11s", D, "n =");
    for (size_t n = TIME_MAX / 4; n <= TIME_MAX; n *= 2)
        printf(" %7zu", n);
    for (size_t i = 0; i < COMPARED; i++) {
        printf("\n%-31s", kinds[i].name);
        for (size_t n = TIME_MAX / 4; n <= TIME_MAX; n *= 2) {
            struct timespec begin, end;
            double least = INFINITY;
            for (int run = 0; run < RUNS; run++) {
                rapt_tape_begin(t, (rapt_pass){0});
                rapt_tensor *part = rapt_tape_input(t, 3, (size_t[]){1, n, D}, x->data, false);
                timespec_get(&begin, TIME_UTC);
                kinds[i].run(t, &m, part);
                timespec_get(&end, TIME_UTC);
                least = fmin(least, (double)(end.tv_sec - begin.tv_sec) * 1e3 + (double)(end.tv_nsec - begin.tv_nsec) / 1e6);
            }
            printf(" %7.3f", least);
        }
    }
    putchar('\n');
    show_ready(t, set);
}

/* The multiply-adds of each layer, in thousands, by the number of positions. */
static void picture(rapt_tape *t, rapt_params *set)
{
    enum { D = 16, LENGTHS = 4 };
    static const char *const lengths[LENGTHS] = {"8", "16", "32", "64"};
    const char *names[COMPARED];
    rapt_real table[COMPARED * LENGTHS];
    layers m;
    layers_init(&m, set, "picture.", D);
    for (size_t i = 0; i < COMPARED; i++) {
        names[i] = kinds[i].name;
        for (size_t j = 0; j < LENGTHS; j++)
            table[i * LENGTHS + j] = (rapt_real)cost_of(t, &m, kinds[i].run, set, (size_t)8 << j, D).multiply_adds / 1000;
    }
    if (show_ready(t, set))
        show_table(COMPARED, LENGTHS, table, names, lengths);
}

int main(int argc, char **argv)
{
    static const section list[] = {
        {"definitions", definitions}, {"positions_alone", positions_alone}, {"compare", compare}, {"--time", times}};
    return sections_run(argc, argv, list, sizeof list / sizeof *list, picture);
}
