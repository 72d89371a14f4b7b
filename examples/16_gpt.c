/* examples/16_gpt.c: chapter 16 of docs/book: from one block to a GPT: many blocks, pre-norm, GELU, tied embeddings, small
 * residual matrices: what each changes in numbers, and the parameters of GPT-2 counted by hand.  Usage: 16_gpt [--table] */
#include "input.h"
#include "show.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { FEATURES = 64, HEADS = 4, BLOCKS = 12, STEPS = 40, MATRICES = 6 };

/* The matrices of a block, in the order of the picture. */
static const char *const matrices[MATRICES] = {"attention.q", "attention.k", "attention.v", "attention.o", "ffn.dense1",
                                               "ffn.dense2"};

/* A GPT-2 of the sizes of chapter 13, for a vocabulary of `vocab`. */
static rapt_lm_config small_gpt(size_t vocab, size_t blocks)
{
    rapt_lm_config c;
    rapt_lm_preset("gpt2", &c, NULL);
    c.vocab = vocab;
    c.layers = blocks;
    c.block.d_model = FEATURES;
    c.block.heads = HEADS;
    c.block.ffn = 4 * FEATURES;
    c.context = SALES_TIME;
    c.block.dropout = 0;
    return c;
}

/* Out of memory: NULL, with the cause on stderr and a check that failed. */
static rapt_lm *make(const rapt_lm_config *c, uint64_t seed)
{
    rapt_error err = {0};
    rapt_lm *m = rapt_lm_new(c, seed, &err);
    if (!m) {
        fprintf(stderr, "%s\n", err.message);
        show_check("memory for a model", false);
    }
    return m;
}

/* ---- counting ---------------------------------------------------------------------------------------------------- */

static size_t count(const rapt_lm_config *c)
{
    rapt_lm *m = make(c, RAPT_SEED_SHAPES); /* shapes only: nothing is allocated for the numbers */
    size_t size = m ? rapt_params_size(m->params) : 0;
    rapt_lm_free(m);
    return size;
}

static void depth(size_t vocab)
{
    printf("-- blocks on blocks --\nblocks  parameters\n");
    size_t sizes[3], d = FEATURES;
    for (int i = 0; i < 3; i++) {
        size_t blocks = (size_t[]){1, 2, BLOCKS}[i];
        rapt_lm_config c = small_gpt(vocab, blocks);
        sizes[i] = count(&c);
        printf("%6zu  %10zu\n", blocks, sizes[i]);
    }
    size_t block = 12 * d * d + 13 * d;
    printf("a block: 12 x 64^2 + 13 x 64 = %zu\n", block);
    show_check("each block adds 12 d^2 + 13 d", sizes[1] - sizes[0] == block && sizes[2] - sizes[0] == 11 * block);
}

static void gpt2(void)
{
    size_t d = 768, v = 50257, embedding = v * d, positions = 1024 * d;
    size_t attention = 4 * d * d + 4 * d, ffn = 8 * d * d + 5 * d, norms = 4 * d, norm = 2 * d;
    size_t sum = embedding + positions + 12 * (attention + ffn + norms) + norm;
    rapt_lm_config c;
    rapt_lm_preset("gpt2", &c, NULL);
    printf("\n-- GPT-2, the smallest, by hand --\n");
    printf("%-44s %11zu\n", "token embedding: 50257 x 768", embedding);
    printf("%-44s %11zu\n", "positions: 1024 x 768", positions);
    printf("%-44s %11zu\n", "attention: 4 matrices of 768 x 768, biases", attention);
    printf("%-44s %11zu\n", "FFN: 768 x 3072 and back, biases", ffn);
    printf("%-44s %11zu\n", "two norms", norms);
    printf("%-44s %11zu\n", "12 blocks of these three", 12 * (attention + ffn + norms));
    printf("%-44s %11zu\n", "the last norm", norm);
    printf("%-44s %11zu\n", "all", sum);
    show_check("124,439,808, and rapt_lm_preset(\"gpt2\") has as many", sum == 124439808 && count(&c) == sum);
    c.tied = false;
    size_t untied = count(&c);
    printf("%-44s %11zu\n", "with an output matrix of its own", untied);
    show_check("a second matrix of 50257 x 768", untied == sum + embedding);
}

/* ---- GELU --------------------------------------------------------------------------------------------------------- */

static void gelu(rapt_tape *t, rapt_params *set)
{
    static const rapt_real points[7] = {-3, -2, -1, 0, 1, 2, 3};
    static const char *const names[3] = {"ReLU", "GELU", "GELU, tanh"};
    static const char *const columns[7] = {"-3", "-2", "-1", "0", "1", "2", "3"};
    rapt_real rows[3][7], slopes[3][7];
    for (int i = 0; i < 3; i++) {
        rapt_tape_begin(t, (rapt_pass){.record = true, .keep_gradients = true});
        rapt_tensor *x = rapt_tape_input(t, 1, (size_t[]){7}, points, true);
        rapt_tensor *y = rapt_op_activate(t, x, (rapt_activation)(RAPT_ACTIVATION_RELU + i));
        rapt_backward(t, rapt_op_sum(t, y), NULL);
        if (!show_ready(t, set))
            return;
        memcpy(rows[i], y->data, sizeof rows[i]);
        memcpy(slopes[i], x->grad, sizeof slopes[i]);
    }
    printf("\n-- GELU --\n");
    show_frame(3, 7, rows[0], names, columns);
    printf("slopes:\n");
    show_frame(3, 7, slopes[0], names, columns);
    double exact = 0, approximate = 0;
    for (int j = 0; j < 7; j++) {
        double x = (double)points[j], phi = 0.5 * (1 + erf(x / sqrt(2)));
        exact = fmax(exact, fabs((double)rows[1][j] - x * phi));
        exact = fmax(exact, fabs((double)slopes[1][j] - phi - x * exp(-x * x / 2) / sqrt(2 * acos(-1))));
        approximate = fmax(approximate, fabs((double)rows[2][j] - (double)rows[1][j]));
    }
    show_check("GELU is x Phi(x), its slope Phi(x) + x phi(x)", exact < 1e-6);
    show_check("GPT-2's formula with tanh differs by less than 0.001", approximate < 0.001 && approximate > 0);
}

/* ---- tied embeddings and the first loss ---------------------------------------------------------------------------- */

/* The loss of a new model. Its gradients are in the model afterwards. */
static double first_loss(rapt_tape *t, const rapt_lm *m, const input_windows *s)
{
    rapt_tape_begin(t, (rapt_pass){.record = true});
    rapt_tensor *loss = rapt_lm_loss(t, m, s->inputs, s->labels, NULL, NULL);
    rapt_params_zero_grad(m->params);
    return rapt_backward(t, loss, NULL) == RAPT_OK ? (double)loss->data[0] : NAN;
}

static double norm_of(const rapt_real *x, size_t n)
{
    double squares = 0;
    for (size_t i = 0; x && i < n; i++)
        squares += (double)x[i] * (double)x[i];
    return sqrt(squares);
}

static void tying(rapt_tape *t, const input_windows *s)
{
    static const struct {
        const char *name;
        bool tied;
        double std;
    } kinds[3] = {{"two matrices, embedding N(0, 1)", false, 1}, {"one matrix, N(0, 1)", true, 1},
                  {"one matrix, N(0, 0.02^2)", true, 0.02}};
    double loss[3], label[3];
    printf("\n-- tied embeddings: the first loss; ln %zu = %.4f --\n", s->vocabulary, log((double)s->vocabulary));
    for (int i = 0; i < 3; i++) {
        rapt_lm_config c = small_gpt(s->vocabulary, 1);
        c.tied = kinds[i].tied;
        c.embedding_std = kinds[i].std;
        rapt_lm *m = make(&c, 1);
        if (!m)
            return;
        loss[i] = first_loss(t, m, s);
        const rapt_tensor *w = &m->input.embedding.weight->value;
        size_t last = s->vocabulary - 1; /* the last word to appear is a label only */
        label[i] = w->grad ? norm_of(w->grad + last * FEATURES, FEATURES) : 0;
        printf("%-32s %8.4f, gradient of a word that is a label only: %.4f\n", kinds[i].name, loss[i], label[i]);
        show_ready(t, m->params);
        rapt_lm_free(m);
    }
    double guess = log((double)s->vocabulary);
    show_check("about ln V where the output matrix begins small", fabs(loss[0] - guess) < 0.5 && fabs(loss[2] - guess) < 0.5);
    show_check("one matrix that begins large costs much more", loss[1] > 2 * guess);
    show_check("a tied row learns from labels, too; an untied one from inputs only", label[0] == 0 && label[2] > 0);
}

/* ---- pre-norm ------------------------------------------------------------------------------------------------------ */

/* Norms of the gradients of all matrices, [block][matrix]. */
static void gradients(const rapt_lm *m, rapt_real (*norms)[MATRICES])
{
    char name[64];
    for (size_t i = 0; i < m->layers; i++)
        for (size_t j = 0; j < MATRICES; j++) {
            snprintf(name, sizeof name, "blocks.%zu.%s.weight", i, matrices[j]);
            const rapt_param *p = rapt_params_find(m->params, name);
            norms[i][j] = p ? (rapt_real)norm_of(p->value.grad, rapt_tensor_size(&p->value)) : 0;
        }
}

/* The mean cosine of the angle between two words of a window, after the first and the last block. */
static void likeness(rapt_tape *t, const rapt_lm *m, const input_windows *s, double *mean)
{
    rapt_tape_begin(t, (rapt_pass){0});
    rapt_tensor *x = rapt_preprocess(t, &m->input, s->inputs, 0);
    for (size_t i = 0; i < m->layers; i++) {
        x = rapt_lm_block_forward(t, &m->blocks[i], x, NULL, 0);
        double sum = 0;
        for (size_t n = 0; n < SALES_BATCH * SALES_TIME * SALES_TIME; n++) {
            const rapt_real *a = x->data + n / SALES_TIME * FEATURES;
            const rapt_real *b = x->data + (n / (SALES_TIME * SALES_TIME) * SALES_TIME + n % SALES_TIME) * FEATURES;
            double dot = 0;
            for (size_t j = 0; j < FEATURES; j++)
                dot += (double)a[j] * (double)b[j];
            sum += a == b ? 0 : dot / (norm_of(a, FEATURES) * norm_of(b, FEATURES));
        }
        mean[i > 0] = sum / (SALES_BATCH * SALES_TIME * (SALES_TIME - 1));
    }
}

/* Adam without warmup; the last loss. */
static double train(rapt_tape *t, rapt_lm *m, const input_windows *s, double lr)
{
    rapt_adam *adam = rapt_adam_new(m->params, NULL, NULL);
    double loss = NAN;
    for (int step = 0; adam && step < STEPS; step++) {
        loss = first_loss(t, m, s);
        rapt_adam_step(adam, t, lr, fmin(1, 1 / rapt_grad_norm(t, m->params)), NULL);
    }
    rapt_adam_free(adam);
    return loss;
}

/* A model of 12 blocks with norms at this place, Xavier initialization as in the paper that compares them. */
static rapt_lm *deep(const input_windows *s, rapt_norm_place place)
{
    rapt_lm_config c = small_gpt(s->vocabulary, BLOCKS);
    c.block.norm_place = place;
    c.block.init = RAPT_WEIGHT_INIT_XAVIER;
    c.tied = false;
    return make(&c, 1);
}

static void norm_places(rapt_tape *t, const input_windows *s)
{
    static const char *const names[2] = {"post-norm", "pre-norm"};
    double first[2], last[2], ratio[2], alike[2][2];
    printf("\n-- post-norm and pre-norm, 12 blocks: norm of the gradient of ffn.dense2 --\n");
    printf("block     ");
    for (int i = 0; i < BLOCKS; i++)
        printf(" %6d", i);
    for (int k = 0; k < 2; k++) {
        rapt_real norms[BLOCKS][MATRICES] = {{0}};
        rapt_lm *m = deep(s, k ? RAPT_NORM_PLACE_PRE : RAPT_NORM_PLACE_POST);
        if (!m)
            return;
        first[k] = first_loss(t, m, s);
        gradients(m, norms);
        printf("\n%-10s", names[k]);
        for (int i = 0; i < BLOCKS; i++)
            printf(" %6.3f", (double)norms[i][5]);
        ratio[k] = (double)norms[BLOCKS - 1][5];
        likeness(t, m, s, alike[k]);
        last[k] = train(t, m, s, 0.003);
        show_ready(t, m->params);
        rapt_lm_free(m);
    }
    printf("\n%d steps of Adam at 0.003 without warmup: loss %.4f to %.4f (post), %.4f to %.4f (pre)\n", STEPS, first[0], last[0],
           first[1], last[1]);
    double root = ratio[0] / ratio[1];
    printf("last block, post-norm over pre-norm: %.2f; sqrt(%d) = %.2f\n", root, BLOCKS, sqrt(BLOCKS));
    show_check("about the root of the number of blocks, as the theory says", fabs(root / sqrt(BLOCKS) - 1) < 0.3);
    printf("mean cosine of two words of a window, after the first and the last block: %.2f %.2f (post), %.2f %.2f (pre)\n",
           alike[0][0], alike[0][1], alike[1][0], alike[1][1]);
    show_check("in post-norm words become alike, in pre-norm less so", alike[0][1] > 0.9 && alike[1][1] < alike[0][1] - 0.1);
    show_check("pre-norm learns without warmup, post-norm does not", last[1] < 0.5 && last[0] > 4 * last[1]);
}

/* ---- residual matrices that begin small ---------------------------------------------------------------------------- */

/* The root mean square of x after each block, [BLOCKS + 1]. */
static void stream(rapt_tape *t, const rapt_lm *m, const input_windows *s, double *rms)
{
    rapt_tape_begin(t, (rapt_pass){0});
    rapt_tensor *x = rapt_preprocess(t, &m->input, s->inputs, 0);
    for (size_t i = 0; i <= BLOCKS; i++) {
        rms[i] = norm_of(x->data, rapt_tensor_size(x)) / sqrt((double)rapt_tensor_size(x));
        if (i < BLOCKS)
            x = rapt_lm_block_forward(t, &m->blocks[i], x, NULL, 0);
    }
}

static void residual_init(rapt_tape *t, const input_windows *s)
{
    static const char *const names[2] = {"std", "std / sqrt(24)"};
    double rms[2][BLOCKS + 1];
    printf("\n-- the last matrix of each sublayer begins with std or std / sqrt(2 x 12): root mean square of x --\n");
    printf("after block        -");
    for (int i = 0; i < BLOCKS; i++)
        printf(" %5d", i);
    printf("\n");
    for (int k = 0; k < 2; k++) {
        rapt_lm_config c = small_gpt(s->vocabulary, BLOCKS);
        c.block.std = 0.125; /* 1 / sqrt(64), so that a product keeps its size; GPT-2's 0.02 is for 768 features and more */
        c.embedding_std = 0.7;
        rapt_lm *m = make(&c, 1);
        if (!m)
            return;
        for (size_t i = 0; k == 0 && i < BLOCKS; i++) {
            rapt_param_fill(m->params, m->blocks[i].attention.o.weight, (rapt_init){RAPT_INIT_NORMAL, c.block.std});
            rapt_param_fill(m->params, m->blocks[i].ffn.dense2.weight, (rapt_init){RAPT_INIT_NORMAL, c.block.std});
        }
        stream(t, m, s, rms[k]);
        printf("%-14s", names[k]);
        for (int i = 0; i <= BLOCKS; i++)
            printf(" %5.2f", rms[k][i]);
        printf("\n");
        show_ready(t, m->params);
        rapt_lm_free(m);
    }
    double grown[2];
    for (int k = 0; k < 2; k++)
        grown[k] = rms[k][BLOCKS] * rms[k][BLOCKS] - rms[k][0] * rms[k][0];
    printf("mean square added by 12 blocks: %.3f and %.3f, ratio %.1f\n", grown[0], grown[1], grown[0] / grown[1]);
    show_check("24 sublayers add up; with the division, to a 24th, about", grown[0] / grown[1] > 16 && grown[0] / grown[1] < 36);
}

/* ---- the program -------------------------------------------------------------------------------------------------- */

/* log10 of the gradients of all matrices: a row for each block, post-norm left and pre-norm right. */
static void picture(rapt_tape *t, rapt_params *set)
{
    static const char *const columns[2 * MATRICES] = {"post q", "post k", "post v", "post o", "post 1", "post 2",
                                                      "pre q",  "pre k",  "pre v",  "pre o",  "pre 1",  "pre 2"};
    rapt_real table[BLOCKS * 2 * MATRICES] = {0};
    input_windows s = input_sales_numbered(set);
    for (size_t k = 0; k < 2; k++) {
        rapt_real norms[BLOCKS][MATRICES] = {{0}};
        rapt_lm *m = deep(&s, k ? RAPT_NORM_PLACE_PRE : RAPT_NORM_PLACE_POST);
        if (!m)
            return;
        first_loss(t, m, &s);
        gradients(m, norms);
        for (size_t i = 0; i < BLOCKS * MATRICES; i++)
            table[i / MATRICES * 2 * MATRICES + k * MATRICES + i % MATRICES] =
                (rapt_real)log10((double)norms[i / MATRICES][i % MATRICES]);
        show_ready(t, m->params);
        rapt_lm_free(m);
    }
    show_table(BLOCKS, 2 * MATRICES, table, NULL, columns);
}

static void chapter(rapt_tape *t, rapt_params *set)
{
    input_windows s = input_sales_numbered(set);
    depth(s.vocabulary);
    gpt2();
    gelu(t, set);
    tying(t, &s);
    norm_places(t, &s);
    residual_init(t, &s);
}

int main(int argc, char **argv)
{
    return show_run(argc, argv, chapter, picture);
}
