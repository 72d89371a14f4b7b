/* examples/shapes_notebook.c: the whole notebook of docs/tutorials/shapes.md, cell by cell, on one x [32, 50, 512]: embedding,
 * positions, queries, keys and values, 16 heads, scores, softmax, weighted sum, concatenation, projection, feed-forward network.
 * Each cell prints what the notebook prints and checks one of its numbers by the definition; at the end the library's own
 * modules run once more with an observer, which gets every step by name.
 * Usage: shapes_notebook [CELL], the number of a cell: that one alone; 18: the observer. */
#include "input.h"
#include "show.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { D_MODEL = 512, MAX_LEN = 100, BATCH = 32, TIME = 50, HEADS = 16, HEAD_DIM = D_MODEL / HEADS, D_FF = 4 * D_MODEL };
enum { CELLS = 18 };

typedef struct modules {
    rapt_embedding words;            /* of cell 1: ten words of three features */
    rapt_positions small_positions;  /* of cell 2 */
    rapt_preprocessor preprocessor;
    rapt_multi_head_attention attention; /* query, key, value and output_projection */
    rapt_ffn ffn;
} modules;

/* The notebook's variables. */
typedef struct notebook {
    rapt_tape *t;
    modules m;
    rapt_tokens indices, input_ids;                                /* [3]; [32, 50] */
    rapt_tensor *vectors;                                          /* [3, 3] */
    rapt_tensor *word_embeddings, *with_positions;                 /* [2, 10, 16] */
    rapt_tensor *first_positions, *broadcast;                      /* [1, 10, 16] and the sum with it [2, 10, 16] */
    rapt_tensor *x, *q, *k, *v;                                    /* [32, 50, 512] */
    rapt_tensor *q_heads, *k_heads, *v_heads;                      /* [32, 16, 50, 32] */
    rapt_tensor *scores, *scaled, *attention;                      /* [32, 16, 50, 50] */
    rapt_tensor *output;                                           /* [32, 16, 50, 32] */
    rapt_tensor *concatenated, *projected;                         /* [32, 50, 512] */
    rapt_tensor *hidden, *active;                                  /* [32, 50, 2048] */
    rapt_tensor *ffn_output;                                       /* [32, 50, 512] */
} notebook;

/* ---- 1. the modules and one pass through them -------------------------------------------------------------------- */

static void init_modules(modules *m, rapt_params *set)
{
    rapt_embedding_init(&m->words, set, "words.", 10, 3, NULL);
    rapt_positions_init(&m->small_positions, set, "small.", MAX_LEN, 16, NULL);
    rapt_preprocessor_init(&m->preprocessor, set, "batch.", 10000, D_MODEL, MAX_LEN,
                           &(rapt_preprocessor_options){.no_scale = true});
    rapt_multi_head_attention_init(&m->attention, set, "attention.",
                                   &(rapt_attention_options){
                                       .hidden = D_MODEL, .heads = HEADS, .bias = true, .init = RAPT_WEIGHT_INIT_PYTORCH});
    rapt_ffn_init(&m->ffn, set, "ffn.", D_MODEL, D_FF, D_MODEL, &(rapt_ffn_options){.init = RAPT_WEIGHT_INIT_PYTORCH});
}

static void run_cells(notebook *n, rapt_params *set)
{
    static int32_t indices[] = {2, 5, 1};
    rapt_tape *t = n->t;
    const modules *m = &n->m;
    n->indices = (rapt_tokens){.ids = indices, .time = 3}; /* without a batch dimension */
    n->vectors = rapt_embedding_forward(t, &m->words, n->indices);
    n->word_embeddings =
        &rapt_params_add(set, "small.words", 3, (size_t[]){2, 10, 16}, (rapt_init){RAPT_INIT_NORMAL, 1})->value;
    n->with_positions = rapt_positions_forward(t, &m->small_positions, n->word_embeddings, 0);
    n->first_positions = rapt_tape_input(t, 3, (size_t[]){1, 10, 16}, m->small_positions.table->value.data, false);
    n->broadcast = rapt_op_add(t, n->word_embeddings, n->first_positions);
    n->input_ids = input_batch_tokens(set);
    n->x = rapt_preprocess(t, &m->preprocessor, n->input_ids, 0);
    n->q = rapt_linear_forward(t, &m->attention.q, n->x);
    n->k = rapt_linear_forward(t, &m->attention.k, n->x);
    n->v = rapt_linear_forward(t, &m->attention.v, n->x);
    n->q_heads = rapt_op_split_heads(t, n->q, HEADS);
    n->k_heads = rapt_op_split_heads(t, n->k, HEADS);
    n->v_heads = rapt_op_split_heads(t, n->v, HEADS);
    n->scores = rapt_op_matmul(t, n->q_heads, n->k_heads, true); /* true: K transposed */
    n->scaled = rapt_op_scale(t, n->scores, 1 / sqrt(HEAD_DIM));
    n->attention = rapt_op_masked_softmax(t, n->scaled, NULL);
    n->output = rapt_op_matmul(t, n->attention, n->v_heads, false);
    n->concatenated = rapt_op_concat_heads(t, n->output);
    n->projected = rapt_linear_forward(t, &m->attention.o, n->concatenated);
    n->hidden = rapt_linear_forward(t, &m->ffn.dense1, n->projected);
    n->active = rapt_op_relu(t, n->hidden);
    n->ffn_output = rapt_linear_forward(t, &m->ffn.dense2, n->active);
}

/* ---- 2. the cells -------------------------------------------------------------------------------------------------- */

static bool is_near(double a, double b) { return fabs(a - b) < 1e-4; }

/* x[b, i, j, k] of four dimensions. */
static double at4(const rapt_tensor *x, size_t b, size_t i, size_t j, size_t k)
{
    return (double)x->data[((b * x->shape[1] + i) * x->shape[2] + j) * x->shape[3] + k];
}

/* Feature j of a linear layer of one vector. */
static double linear_by_hand(const rapt_linear *m, const rapt_real *x, size_t j)
{
    size_t in = m->weight->value.shape[1];
    double sum = (double)m->bias->value.data[j];
    for (size_t i = 0; i < in; i++)
        sum += (double)x[i] * (double)m->weight->value.data[j * in + i];
    return sum;
}

static void cell_embedding(const notebook *n)
{
    show_ids("input_indices", n->indices);
    show_tensor("output_vectors", n->vectors);
    show_check("the first vector is row 2 of the table",
               show_difference(3, n->vectors->data, n->m.words.weight->value.data + 2 * 3) == 0);
}

/* A sentence of one word more than there are positions, on a tape of its own, since a tape keeps its error. */
static void show_too_long(const notebook *n)
{
    rapt_error err = {0};
    rapt_tape *t = rapt_tape_new(NULL, &err);
    if (t) {
        rapt_tape_begin(t, (rapt_pass){0});
        rapt_positions_forward(t, &n->m.small_positions, rapt_tape_tensor(t, 3, (size_t[]){1, MAX_LEN + 1, 16}, false), 0);
        printf("a sentence of %d words: %s\n", MAX_LEN + 1, rapt_tape_error(t)->message);
    }
    show_check("it is refused", t && rapt_tape_error(t)->code);
    rapt_tape_free(t);
}

static void cell_positions(const notebook *n)
{
    const rapt_tensor *table = &n->m.small_positions.table->value;
    show_shape("word_embeddings", n->word_embeddings);
    show_shape("pos_encoder.pe", &(rapt_tensor){.ndim = 3, .shape = {1, table->shape[0], table->shape[1]}});
    show_shape("output", n->with_positions);
    /* sentence 1, word 9, features 4 and 5: the frequency is 10000^(-4/16) */
    size_t at = (1 * 10 + 9) * 16 + 4;
    double angle = 9 * pow(10000, -4.0 / 16);
    show_check("a sine at feature 4, a cosine at feature 5",
               is_near((double)(n->with_positions->data[at] - n->word_embeddings->data[at]), sin(angle)) &&
                   is_near((double)(n->with_positions->data[at + 1] - n->word_embeddings->data[at + 1]), cos(angle)));
    show_shape("pe[:, :10]", n->first_positions);
    show_check("broadcast over the sentences it gives the same sum",
               show_difference(rapt_tensor_size(n->broadcast), n->broadcast->data, n->with_positions->data) == 0);
    show_too_long(n);
}

static void cell_preprocessor(const notebook *n)
{
    show_shape("output", n->x);
    /* sentence 31, word 49, feature 0: its embedding plus sin 49 */
    const rapt_tensor *table = &n->m.preprocessor.embedding.weight->value;
    size_t place = 31 * TIME + 49;
    double embedded = (double)table->data[(size_t)n->input_ids.ids[place] * D_MODEL];
    show_check("an embedding plus its position", is_near((double)n->x->data[place * D_MODEL], embedded + sin(49)));
}

static void cell_x(const notebook *n) { show_shape("x", n->x); }

static void cell_maps(const notebook *n)
{
    show_shape("query.weight", &n->m.attention.q.weight->value);
    show_shape("key.weight", &n->m.attention.k.weight->value);
    show_shape("value.weight", &n->m.attention.v.weight->value);
    double bound = 1 / sqrt(D_MODEL), largest = 0;
    for (size_t i = 0; i < (size_t)D_MODEL * D_MODEL; i++)
        largest = fmax(largest, fabs((double)n->m.attention.q.weight->value.data[i]));
    show_check("nn.Linear's default: U(-1/sqrt(512), 1/sqrt(512))", largest <= bound && largest > 0.999 * bound);
}

static void cell_qkv(const notebook *n)
{
    show_tensor("Q", n->q);
    show_shape("Q", n->q);
    show_tensor("K", n->k);
    show_shape("K", n->k);
    show_tensor("V", n->v);
    show_shape("V", n->v);
    const rapt_real *last = n->x->data + (size_t)(BATCH * TIME - 1) * D_MODEL;
    size_t at = (size_t)(BATCH * TIME - 1) * D_MODEL + 7;
    show_check("Q, K and V of the last word at feature 7 are x W^T + b",
               is_near(linear_by_hand(&n->m.attention.q, last, 7), (double)n->q->data[at]) &&
                   is_near(linear_by_hand(&n->m.attention.k, last, 7), (double)n->k->data[at]) &&
                   is_near(linear_by_hand(&n->m.attention.v, last, 7), (double)n->v->data[at]));
}

static void cell_q_shape(const notebook *n) { show_shape("Q", n->q); }

static void cell_split(const notebook *n)
{
    show_shape("Q", n->q_heads);
    show_shape("K", n->k_heads);
    show_shape("V", n->v_heads);
    show_check("Q[3, 5, 7, 11] by heads is feature 5 * 32 + 11 of word 7 of sentence 3",
               at4(n->q_heads, 3, 5, 7, 11) == (double)n->q->data[(3 * TIME + 7) * D_MODEL + 5 * HEAD_DIM + 11]);
}

static void cell_scores(const notebook *n)
{
    show_shape("scores", n->scores);
    double sum = 0;
    for (size_t i = 0; i < HEAD_DIM; i++)
        sum += at4(n->q_heads, 3, 5, 7, i) * at4(n->k_heads, 3, 5, 9, i);
    show_check("scores[3, 5, 7, 9] is query 7 times key 9", is_near(sum, at4(n->scores, 3, 5, 7, 9)));
}

static void cell_scaled(const notebook *n)
{
    show_shape("scores", n->scaled);
    show_check("divided by sqrt(32)", is_near(at4(n->scores, 3, 5, 7, 9) / sqrt(32), at4(n->scaled, 3, 5, 7, 9)));
}

static void cell_softmax(const notebook *n)
{
    show_shape("attention", n->attention);
    show_tensor("attention", n->attention);
    double sum = 0;
    for (size_t key = 0; key < TIME; key++)
        sum += exp(at4(n->scaled, 3, 5, 7, key));
    show_check("attention[3, 5, 7, 9] is exp of its score over the sum of the row",
               is_near(exp(at4(n->scaled, 3, 5, 7, 9)) / sum, at4(n->attention, 3, 5, 7, 9)));
}

static void cell_weighted_sum(const notebook *n)
{
    show_shape("output", n->output);
    show_tensor("output", n->output);
    double sum = 0;
    for (size_t key = 0; key < TIME; key++)
        sum += at4(n->attention, 3, 5, 7, key) * at4(n->v_heads, 3, 5, key, 11);
    show_check("output[3, 5, 7, 11] is the values' mean, weighted", is_near(sum, at4(n->output, 3, 5, 7, 11)));
}

static void cell_output_shape(const notebook *n) { show_shape("output", n->output); }

static void cell_concatenated(const notebook *n)
{
    show_shape("output", n->concatenated);
    show_check("feature 5 * 32 + 11 of word 7 of sentence 3 is output[3, 5, 7, 11]",
               at4(n->output, 3, 5, 7, 11) == (double)n->concatenated->data[(3 * TIME + 7) * D_MODEL + 5 * HEAD_DIM + 11]);
}

static void cell_projected(const notebook *n)
{
    show_shape("projected_output", n->projected);
    size_t place = 3 * TIME + 7;
    show_check("feature 11 is a row of the weight times the concatenated heads, plus the bias",
               is_near(linear_by_hand(&n->m.attention.o, n->concatenated->data + place * D_MODEL, 11),
                       (double)n->projected->data[place * D_MODEL + 11]));
}

static void cell_ffn_module(const notebook *n)
{
    show_shape("linear1.weight", &n->m.ffn.dense1.weight->value);
    show_shape("linear2.weight", &n->m.ffn.dense2.weight->value);
}

static void cell_ffn(const notebook *n)
{
    show_shape("projected_output", n->projected);
    show_shape("ffn_output", n->ffn_output);
    size_t place = 3 * TIME + 7;
    const rapt_real *in = n->projected->data + place * D_MODEL;
    double sum = (double)n->m.ffn.dense2.bias->value.data[11];
    for (size_t j = 0; j < D_FF; j++)
        sum += fmax(linear_by_hand(&n->m.ffn.dense1, in, j), 0) * (double)n->m.ffn.dense2.weight->value.data[11 * D_FF + j];
    show_check("feature 11 of word 7 of sentence 3 by hand", is_near(sum, (double)n->ffn_output->data[place * D_MODEL + 11]));
}

/* ---- 3. the same from the library's modules, step by step ------------------------------------------------------------ */

typedef struct same_step {
    const char *name;
    const rapt_tensor *cell; /* what a cell computed */
} same_step;

typedef struct observer {
    const same_step *steps; /* the last one has no name */
    int observed, compared;
    double worst; /* largest difference */
} observer;

static void observe(void *context, const rapt_observation *step)
{
    observer *o = context;
    char shape[96];
    printf("%-18s %-24s %s\n", step->name, rapt_shape_text(step->tensor, shape, sizeof shape), step->formula);
    o->observed++;
    for (const same_step *s = o->steps; s->name; s++) {
        if (strcmp(s->name, step->name) != 0)
            continue;
        o->compared++;
        o->worst = fmax(o->worst, show_difference(rapt_tensor_size(s->cell), s->cell->data, step->values));
    }
}

static void cell_observed(const notebook *n)
{
    const same_step steps[] = {
        {"batch.input", n->x}, {"attention.q", n->q}, {"attention.k", n->k}, {"attention.v", n->v},
        {"attention.q.heads", n->q_heads}, {"attention.k.heads", n->k_heads}, {"attention.v.heads", n->v_heads},
        {"attention.scores", n->scores}, {"attention.scaled", n->scaled}, {"attention.weights", n->attention},
        {"attention.heads", n->output}, {"attention.concat", n->concatenated}, {"attention.output", n->projected},
        {"ffn.hidden", n->hidden}, {"ffn.activation", n->active}, {"ffn.output", n->ffn_output}, {NULL, NULL}};
    observer o = {.steps = steps};
    rapt_observe(n->t, observe, &o);
    rapt_tensor *x = rapt_preprocess(n->t, &n->m.preprocessor, n->input_ids, 0);
    rapt_tensor *projected = rapt_multi_head_attention_forward(n->t, &n->m.attention, x, x, x, NULL);
    rapt_ffn_forward(n->t, &n->m.ffn, projected);
    rapt_observe(n->t, NULL, NULL);
    printf("%d steps, of which %d have a cell\n", o.observed, o.compared);
    show_check("they are what the cells computed", o.compared == 16 && o.worst < 1e-5);
}

/* ---- 4. which cells ---------------------------------------------------------------------------------------------------- */

static void (*const cells[CELLS])(const notebook *) = {
    cell_embedding, cell_positions, cell_preprocessor, cell_x, cell_maps, cell_qkv, cell_q_shape, cell_split, cell_scores,
    cell_scaled, cell_softmax, cell_weighted_sum, cell_output_shape, cell_concatenated, cell_projected, cell_ffn_module, cell_ffn,
    cell_observed};

static void print_cells(const notebook *n, int only)
{
    for (int i = 1; i <= CELLS; i++) {
        if (only && i != only)
            continue;
        if (!only)
            printf("%sIn [%d]\n", i > 1 ? "\n" : "", i);
        cells[i - 1](n);
    }
}

int main(int argc, char **argv)
{
    int only = argc == 2 ? atoi(argv[1]) : 0;
    if (argc > 2 || (argc == 2 && (only < 1 || only > CELLS)))
        return fprintf(stderr, "usage: %s [CELL], from 1 to %d\n", argv[0], CELLS), 2;
    rapt_params *set;
    rapt_tape *t;
    if (!show_begin(&t, &set))
        return 1;
    notebook n = {.t = t};
    init_modules(&n.m, set);
    rapt_tape_begin(t, (rapt_pass){0});
    run_cells(&n, set);
    if (show_ready(t, set))
        print_cells(&n, only);
    show_ready(t, set);
    return show_end(t, set);
}
