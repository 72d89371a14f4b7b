/* examples/14_training.c: chapter 14 of docs/book: training by hand: the loss, the backward pass, embeddings, Adam, the
 * schedule, clipping, dropout, what is trained and what is saved, and a small language model that learns.
 * Usage: 14_training [--table] */
#include "input.h"
#include "show.h"

#include <math.h>
#include <stdio.h>

enum { STEPS = 60, TABLE_EVERY = 3 };

static bool close_to(double a, double b, double tolerance) { return fabs(a - b) <= tolerance; }

/* A set for parameters that one part trains; NULL, with the cause on stderr, makes the program fail. */
static rapt_params *new_set(void)
{
    rapt_error err = {0};
    rapt_params *set = rapt_params_new(1, &err);
    if (!set)
        fprintf(stderr, "%s\n", err.message);
    if (!set)
        show_check("memory for parameters", false);
    return set;
}

static rapt_param *add(rapt_params *set, const char *name, size_t count, const rapt_real *values)
{
    rapt_param *p = rapt_params_add(set, name, 1, &count, (rapt_init){RAPT_INIT_ZEROS, 0});
    for (size_t i = 0; i < count; i++)
        p->value.data[i] = values[i];
    return p;
}

/* ---- loss and backward pass ----------------------------------------------------------------------------------- */

/* Logits whose softmax is 1/8, 2/8, 5/8, at two positions with the labels 2 and 0. */
static void loss_by_hand(rapt_tape *t, rapt_params *set)
{
    rapt_real logits[6] = {0, (rapt_real)log(2), (rapt_real)log(5), 0, (rapt_real)log(2), (rapt_real)log(5)};
    rapt_tokens labels = {.ids = (int32_t[]){2, 0}, .batch = 1, .time = 2};
    rapt_tape_begin(t, (rapt_pass){.record = true, .keep_gradients = true});
    rapt_tensor *x = rapt_tape_input(t, 3, (size_t[]){1, 2, 3}, logits, true);
    rapt_tensor *p = rapt_op_masked_softmax(t, x, NULL);
    rapt_tensor *loss = rapt_op_cross_entropy(t, x, labels, NULL, NULL);
    rapt_backward(t, loss, NULL);
    printf("-- the loss by hand --\n");
    if (!show_ready(t, set))
        return;
    show_corner("probabilities", p);
    double nats = -(log(5.0 / 8) + log(1.0 / 8)) / 2;
    printf("loss: %.4f, perplexity: %.4f\n", (double)loss->data[0], exp((double)loss->data[0]));
    printf("in bits: %.4f\n", (double)loss->data[0] / log(2));
    show_check("the loss is the mean of -ln(5/8) and -ln(1/8)", close_to((double)loss->data[0], nats, 1e-6));
    rapt_real expected[6] = {0.0625f, 0.125f, -0.1875f, -0.4375f, 0.125f, 0.3125f};
    printf("gradient of the logits:\n");
    show_frame(2, 3, x->grad, NULL, NULL);
    show_check("it is probability less 1 at the label, less 0 elsewhere, over 2 positions",
               show_difference(6, x->grad, expected) < 1e-6);
}

/* The same logits with the label 2: a tenth of the target goes to all three classes alike. */
static void label_smoothing(rapt_tape *t, rapt_params *set)
{
    rapt_real logits[3] = {0, (rapt_real)log(2), (rapt_real)log(5)};
    rapt_tokens label = {.ids = (int32_t[]){2}, .batch = 1, .time = 1};
    rapt_tape_begin(t, (rapt_pass){.record = true});
    rapt_tensor *x = rapt_tape_input(t, 3, (size_t[]){1, 1, 3}, logits, true);
    rapt_tensor *loss = rapt_op_cross_entropy(t, x, label, &(rapt_loss_options){.label_smoothing = 0.1}, NULL);
    rapt_backward(t, loss, NULL);
    printf("\n-- label smoothing 0.1 --\n");
    if (!show_ready(t, set))
        return;
    printf("loss: %.4f\n", (double)loss->data[0]);
    double even = (log(8) + log(4) + log(8.0 / 5)) / 3;
    show_check("0.9 of the label's loss and 0.1 of the mean of all",
               close_to((double)loss->data[0], 0.9 * log(8.0 / 5) + 0.1 * even, 1e-6));
    printf("gradient of the logits:\n");
    show_frame(1, 3, x->grad, NULL, NULL);
    rapt_real third = 0.1f / 3, expected[3] = {0.125f - third, 0.25f - third, 0.625f - 0.9f - third};
    show_check("probability less target", show_difference(3, x->grad, expected) < 1e-6);
    double least = -(0.1 / 3 * 2 * log(0.1 / 3) + (0.9 + 0.1 / 3) * log(0.9 + 0.1 / 3));
    printf("the least loss that is possible: %.4f\n", least);
}

/* Three classes from x = (1, 2) by a matrix of zeros: every class has probability 1/3. */
static void backward_by_hand(rapt_tape *t, rapt_params *set)
{
    rapt_linear m;
    rapt_linear_init(&m, set, "paper.", 2, 3, &(rapt_linear_options){.no_bias = true, .init = RAPT_WEIGHT_INIT_ZEROS});
    rapt_tokens label = {.ids = (int32_t[]){2}, .batch = 1, .time = 1};
    rapt_tape_begin(t, (rapt_pass){.record = true});
    rapt_tensor *x = rapt_tape_input(t, 3, (size_t[]){1, 1, 2}, (rapt_real[]){1, 2}, false);
    rapt_tensor *loss = rapt_op_cross_entropy(t, rapt_linear_forward(t, &m, x), label, NULL, NULL);
    rapt_backward(t, loss, NULL);
    printf("\n-- backward by hand --\n");
    if (!show_ready(t, set))
        return;
    printf("loss: %.4f\n", (double)loss->data[0]);
    show_check("a guess among three costs ln 3", close_to((double)loss->data[0], log(3), 1e-6));
    printf("gradient of W:\n");
    show_frame(3, 2, m.weight->value.grad, NULL, NULL);
    rapt_real third = (rapt_real)(1.0 / 3), expected[6] = {third, 2 * third, third, 2 * third, -2 * third, -4 * third};
    show_check("a row is (probability less 1 or 0) times x", show_difference(6, m.weight->value.grad, expected) < 1e-6);
}

/* Words of two features: the row of `words` that stands for token 1 goes in, all rows of `output` compare with it. */
static void token_loss(rapt_tape *t, rapt_params *set, rapt_param *words, rapt_param *output)
{
    rapt_tokens tokens = {.ids = (int32_t[]){1, 1}, .batch = 1, .time = 2};
    rapt_tokens labels = {.ids = (int32_t[]){2, 2}, .batch = 1, .time = 2};
    rapt_params_zero_grad(set);
    rapt_tape_begin(t, (rapt_pass){.record = true});
    rapt_tensor *logits = rapt_op_linear(t, rapt_op_embed(t, words, tokens, NULL), output, NULL, RAPT_ACTIVATION_IDENTITY);
    rapt_backward(t, rapt_op_cross_entropy(t, logits, labels, NULL, NULL), NULL);
}

static void print_gradient(const char *name, const rapt_param *p)
{
    printf("gradient of the %s:\n", name);
    for (size_t i = 0; i < 3; i++)
        printf("word %d  %7.4f %7.4f\n", (int)i, (double)p->value.grad[2 * i], (double)p->value.grad[2 * i + 1]);
}

static void embedding_by_hand(rapt_tape *t)
{
    static const rapt_real rows[6] = {1, 1, 1, 0, 1, -1};
    printf("\n-- the gradient of an embedding, and of a tied matrix --\n");
    rapt_params *set = new_set();
    if (!set)
        return;
    rapt_param *words = rapt_params_add(set, "words", 2, (size_t[]){3, 2}, (rapt_init){RAPT_INIT_ZEROS, 0});
    rapt_param *output = rapt_params_add(set, "output", 2, (size_t[]){3, 2}, (rapt_init){RAPT_INIT_ZEROS, 0});
    for (size_t i = 0; words && output && i < 6; i++)
        words->value.data[i] = output->value.data[i] = rows[i];
    token_loss(t, set, words, output);
    if (show_ready(t, set)) {
        rapt_real third = (rapt_real)(1.0 / 3), sum[6];
        print_gradient("embedding", words);
        print_gradient("output", output);
        for (size_t i = 0; i < 6; i++)
            sum[i] = words->value.grad[i] + output->value.grad[i];
        show_check("of the embedding: only the token's row; the gradients of its two places are added",
                   show_difference(6, words->value.grad, (rapt_real[]){0, 0, 0, 1, 0, 0}) < 1e-6);
        show_check("of the output: every row, (probability less 1 or 0) times h",
                   show_difference(6, output->value.grad, (rapt_real[]){third, 0, third, 0, -2 * third, 0}) < 1e-6);
        token_loss(t, set, words, words);
        print_gradient("tied matrix", words);
        show_check("of one matrix in both places: the sum", show_difference(6, words->value.grad, sum) < 1e-6);
    }
    show_ready(t, set);
    rapt_params_free(set);
}

/* ---- Adam, schedule, clipping ----------------------------------------------------------------------------------- */

/* Gives p the gradient g, which is the gradient of the sum of p * g. */
static void set_gradient(rapt_tape *t, rapt_params *set, rapt_param *p, const rapt_real *g)
{
    rapt_params_zero_grad(set);
    rapt_tape_begin(t, (rapt_pass){.record = true});
    rapt_backward(t, rapt_op_weighted_sum(t, &p->value, g), NULL);
}

/* Algorithm 1 of the paper for one number. */
typedef struct adam_state {
    double m, v, w;
} adam_state;

static void adam_by_hand(adam_state *s, double g, double lr, int step)
{
    s->m = 0.9 * s->m + 0.1 * g;
    s->v = 0.999 * s->v + 0.001 * g * g;
    s->w -= lr * (s->m / (1 - pow(0.9, step))) / (sqrt(s->v / (1 - pow(0.999, step))) + 1e-8);
}

static void adam_steps(rapt_tape *t, rapt_params *set, rapt_adam *adam)
{
    static const rapt_real gradients[3][2] = {{0.5f, -0.002f}, {0.5f, 0.002f}, {-1, 0.002f}};
    rapt_param *p = rapt_params_at(set, 0);
    adam_state hand[2] = {{.w = 1}, {.w = 1}};
    bool same = true, first = false;
    printf("step     g         m         v         m / (1 - 0.9^t)  v / (1 - 0.999^t)  w\n");
    for (int step = 1; step <= 3; step++) {
        set_gradient(t, set, p, gradients[step - 1]);
        rapt_adam_step(adam, t, 0.1, 1, NULL);
        for (size_t i = 0; i < 2; i++) {
            double m = (double)rapt_adam_first_moment(adam, 0)[i], v = (double)rapt_adam_second_moment(adam, 0)[i];
            double w = (double)p->value.data[i];
            adam_by_hand(&hand[i], (double)gradients[step - 1][i], 0.1, step);
            same = same && close_to(m, hand[i].m, 1e-7) && close_to(v / hand[i].v, 1, 1e-4) && close_to(w, hand[i].w, 1e-5);
            printf("%d     %7.4f  %8.5f  %.3e  %15.6f  %17.3e  %.5f\n", step, (double)gradients[step - 1][i], m, v,
                   m / (1 - pow(0.9, step)), v / (1 - pow(0.999, step)), w);
        }
        if (step == 1)
            first = close_to((double)p->value.data[0], 0.9, 1e-5) && close_to((double)p->value.data[1], 1.1, 1e-5);
    }
    show_check("the first step is the learning rate against the sign, whatever the size", first);
    show_check("all numbers are those of the paper's algorithm", same);
    double raw = 0.1 * 0.05 / (sqrt(0.00025) + 1e-8);
    printf("without bias correction the first step would be %.4f\n", raw);
    show_check("about three times the learning rate: 0.1 / sqrt(0.001)", close_to(raw / 0.1, 0.1 / sqrt(0.001), 1e-3));
}

static void adam_part(rapt_tape *t)
{
    printf("\n-- Adam, step by step: two numbers that begin at 1, learning rate 0.1 --\n");
    rapt_params *set = new_set();
    if (!set)
        return;
    add(set, "w", 2, (rapt_real[]){1, 1});
    rapt_adam *adam = rapt_adam_new(set, NULL, NULL);
    if (adam || show_check("memory for the moments", false))
        adam_steps(t, set, adam);
    show_ready(t, set);
    rapt_adam_free(adam);
    rapt_params_free(set);
}

static void schedules(void)
{
    static const uint64_t steps[8] = {1, 2, 3, 4, 8, 16, 32, 64};
    rapt_recipe r;
    rapt_recipe_defaults(&r);
    r.train.lr = 0.001;
    r.train.warmup = 4;
    r.train.lr_end = 0;
    printf("\n-- the learning rate x 1000: 4 steps of warmup, 64 in all --\nstep        ");
    for (int i = 0; i < 8; i++)
        printf("%8d", (int)steps[i]);
    static const char *const names[3] = {"constant", "inverse_sqrt", "cosine"};
    double rates[3][8];
    for (int kind = 0; kind < 3; kind++) {
        r.train.schedule = (rapt_recipe_schedule)kind;
        printf("\n%-12s", names[kind]);
        for (int i = 0; i < 8; i++)
            printf("%8.4f", 1000 * (rates[kind][i] = rapt_learning_rate(&r, steps[i], 64)));
    }
    rapt_recipe_free(&r);
    printf("\n");
    show_check("warmup: 1/4, 2/4, 3/4 of it", close_to(rates[0][0], 0.00025, 1e-9) && close_to(rates[1][2], 0.00075, 1e-9));
    show_check("inverse_sqrt: half at four times the warmup's steps", close_to(rates[1][5], 0.0005, 1e-9));
    /* (1 + cos(60 pi / 61)) / 2: the warmup ends at its peak, and 61 steps behind that it would be 0 */
    show_check("cosine: nearly 0 in the last step, which still trains", close_to(rates[2][7], 0.000662955e-3, 1e-12));
}

static void clipping(rapt_tape *t)
{
    printf("\n-- gradient clipping --\n");
    rapt_params *set = new_set();
    if (!set)
        return;
    rapt_param *p = add(set, "w", 2, (rapt_real[]){1, 1});
    rapt_adam *adam = rapt_adam_new(set, NULL, NULL);
    set_gradient(t, set, p, (rapt_real[]){3, 4});
    double norm = rapt_grad_norm(t, set), factor = fmin(1, 1 / norm);
    printf("gradient 3 4, norm %.4f; clipped to 1: times %.4f\n", norm, factor);
    show_check("the norm is 5, the factor 1/5", close_to(norm, 5, 1e-6) && close_to(factor, 0.2, 1e-7));
    if (adam && rapt_adam_step(adam, t, 0.1, factor, NULL) == RAPT_OK) {
        const rapt_real *m = rapt_adam_first_moment(adam, 0);
        printf("first moments after the step: %.4f %.4f\n", (double)m[0], (double)m[1]);
        show_check("a tenth of 0.6 and of 0.8", close_to((double)m[0], 0.06, 1e-6) && close_to((double)m[1], 0.08, 1e-6));
    }
    set_gradient(t, set, p, (rapt_real[]){0.3f, 0.4f});
    norm = rapt_grad_norm(t, set);
    printf("gradient 0.3 0.4, norm %.4f: times %.4f\n", norm, fmin(1, 1 / norm));
    show_check("a gradient that is short enough stays", fmin(1, 1 / norm) == 1);
    show_ready(t, set);
    rapt_adam_free(adam);
    rapt_params_free(set);
}

/* ---- dropout, training and evaluation mode -------------------------------------------------------------------- */

static rapt_tensor *ones(rapt_params *set, const char *name, size_t rows, size_t features)
{
    return &rapt_params_add(set, name, 3, (size_t[]){1, rows, features}, (rapt_init){RAPT_INIT_ONES, 0})->value;
}

/* Dropout of eight ones in a pass of this step. */
static void drop(rapt_tape *t, const rapt_tensor *x, bool training, uint64_t step, rapt_real *out)
{
    rapt_tape_begin(t, (rapt_pass){.training = training, .step = step});
    rapt_tensor *y = rapt_op_dropout(t, rapt_tape_input(t, 3, x->shape, x->data, false), 0.5);
    for (size_t i = 0; i < 8; i++)
        out[i] = y->data[i];
}

static void dropout(rapt_tape *t, rapt_params *set)
{
    static const char *const names[4] = {"training, step 1", "training, step 2", "step 1 once more", "evaluation"};
    rapt_real rows[4][8];
    const rapt_tensor *eight = ones(set, "eight", 1, 8);
    drop(t, eight, true, 1, rows[0]);
    drop(t, eight, true, 2, rows[1]);
    drop(t, eight, true, 1, rows[2]);
    drop(t, eight, false, 1, rows[3]);
    printf("\n-- dropout: eight ones, p = 0.5 --\n");
    show_frame(4, 8, rows[0], names, NULL);
    bool two = true;
    for (size_t i = 0; i < 16; i++)
        two = two && (rows[i / 8][i % 8] == 0 || rows[i / 8][i % 8] == 2);
    show_check("a one becomes 0 or 1 / (1 - 0.5) = 2", two);
    bool keyed = show_difference(8, rows[0], rows[1]) > 0 && show_difference(8, rows[0], rows[2]) == 0;
    show_check("another step drops others; the same step the same", keyed);
    show_check("in evaluation mode nothing happens", show_difference(8, rows[3], eight->data) == 0);
    rapt_tape_begin(t, (rapt_pass){.training = true, .step = 1});
    rapt_tensor *y = rapt_op_dropout(t, ones(set, "many", 100, 1000), 0.1);
    if (!show_ready(t, set))
        return;
    size_t zeros = 0;
    double sum = 0, largest = 0;
    for (size_t i = 0; i < 100000; i++) {
        zeros += y->data[i] == 0;
        sum += (double)y->data[i];
        largest = fmax(largest, (double)y->data[i]);
    }
    printf("100000 ones, p = 0.1: %.1f%% zeros, the others %.4f, mean %.3f\n", (double)zeros / 1000, largest, sum / 100000);
    bool tenth = close_to((double)zeros, 10000, 400) && close_to(largest, 1 / 0.9, 1e-6); /* 4 standard deviations */
    show_check("a tenth zeros, the others 1 / 0.9, the mean still 1", tenth && close_to(sum / 1e5, 1, 0.005));
}

/* Sums of the rows of head 0: of weights that are captured before or behind dropout. */
static void row_sums(rapt_tape *t, const rapt_multi_head_attention *m, const rapt_tensor *x, bool training,
                     rapt_attention_capture capture, double *sums)
{
    rapt_tape_begin(t, (rapt_pass){.training = training, .step = 1});
    rapt_tape_capture_attention(t, capture);
    rapt_tensor *q = rapt_tape_input(t, 3, x->shape, x->data, false);
    rapt_multi_head_attention_forward(t, m, q, q, q, NULL);
    const rapt_tensor *weights = rapt_tape_attention(t, "five.attention");
    for (size_t i = 0; i < 5; i++) {
        sums[i] = 0;
        for (size_t j = 0; weights && j < 5; j++)
            sums[i] += (double)weights->data[i * 5 + j];
        printf(" %.4f", sums[i]);
    }
    printf("\n");
    rapt_tape_capture_attention(t, RAPT_CAPTURE_NONE);
}

static void dropped_weights(rapt_tape *t, rapt_params *set)
{
    rapt_multi_head_attention m;
    rapt_attention_options options = {.hidden = 16, .heads = 4, .bias = true, .dropout = 0.1, .init = RAPT_WEIGHT_INIT_PYTORCH};
    rapt_multi_head_attention_init(&m, set, "five.attention.", &options);
    const rapt_tensor *x = &rapt_params_add(set, "five", 3, (size_t[]){2, 5, 16}, (rapt_init){RAPT_INIT_NORMAL, 1})->value;
    double before[5], after[5], evaluation[5];
    bool one = true, off = false;
    printf("\n-- attention weights with dropout 0.1: sums of five rows --\n");
    printf("training, before dropout: ");
    row_sums(t, &m, x, true, RAPT_CAPTURE_BEFORE_DROPOUT, before);
    printf("training, behind dropout: ");
    row_sums(t, &m, x, true, RAPT_CAPTURE_AFTER_DROPOUT, after);
    printf("evaluation:               ");
    row_sums(t, &m, x, false, RAPT_CAPTURE_AFTER_DROPOUT, evaluation);
    for (int i = 0; i < 5; i++) {
        one = one && close_to(before[i], 1, 1e-6) && close_to(evaluation[i], 1, 1e-6);
        off = off || !close_to(after[i], 1, 0.02);
    }
    show_check("they are 1 before dropout, and in evaluation mode", one);
    show_check("behind dropout they are not: 1.1111 where nothing was dropped, less elsewhere", off);
    show_ready(t, set);
}

/* ---- parameters and buffers ------------------------------------------------------------------------------------- */

static void buffers(void)
{
    printf("\n-- parameters and buffers --\n");
    rapt_params *set = new_set();
    if (!set)
        return;
    rapt_preprocessor input;
    rapt_linear output;
    rapt_preprocessor_init(&input, set, "", 10, 8, 5, NULL);
    rapt_linear_init(&output, set, "output.", 8, 10, NULL);
    rapt_rotary_init(set, "rotary.table", 5, 4, 10000);
    size_t counted = 0, all = 0;
    printf("%-18s %8s  trained  saved\n", "name", "numbers");
    for (size_t i = 0; i < rapt_params_count(set); i++) {
        const rapt_param *p = rapt_params_at(set, i);
        size_t n = rapt_tensor_size(&p->value);
        counted += p->buffer ? 0 : n;
        all += n;
        printf("%-18s %8zu  %-7s  %s\n", p->value.name, n, p->buffer ? "no" : "yes", p->transient ? "no" : "yes");
    }
    printf("%zu numbers, %zu of them parameters\n", all, rapt_params_size(set));
    show_check("80 + 80 + 10 parameters; the tables of 40 and 20 are buffers", counted == 170 && all == 230);
    show_check("rapt_params_size counts parameters only", rapt_params_size(set) == counted);
    rapt_params_free(set);
}

/* ---- a loss that falls ------------------------------------------------------------------------------------------ */

/* One training step, all of it. Returns the loss before it; the norm of its gradient in *norm. */
static double train_step(rapt_tape *t, const rapt_lm *m, rapt_adam *adam, const input_windows *s, uint64_t step, double *norm)
{
    rapt_tape_begin(t, (rapt_pass){.record = true, .training = true, .seed = 1, .step = step});
    rapt_tensor *loss = rapt_lm_loss(t, m, s->inputs, s->labels, NULL, NULL);
    rapt_params_zero_grad(m->params);
    if (rapt_backward(t, loss, NULL) != RAPT_OK)
        return NAN;
    double lr = step < 10 ? 0.003 * (double)step / 10 : 0.003; /* ten steps of warmup */
    *norm = rapt_grad_norm(t, m->params);
    rapt_adam_step(adam, t, lr, fmin(1, 1 / *norm), NULL);
    return (double)loss->data[0];
}

/* The probability of each label of the first window, in evaluation mode, and how many of all labels are on top. */
static size_t evaluate(rapt_tape *t, const rapt_lm *m, const input_windows *s, rapt_real *row)
{
    rapt_tape_begin(t, (rapt_pass){0});
    const rapt_tensor *p = rapt_op_masked_softmax(t, rapt_lm_forward(t, m, s->inputs), NULL);
    size_t right = 0;
    for (size_t i = 0; !rapt_tape_error(t)->code && i < SALES_BATCH * SALES_TIME; i++) {
        const rapt_real *at = p->data + i * s->vocabulary;
        bool top = true;
        for (size_t j = 0; j < s->vocabulary; j++)
            top = top && at[j] <= at[s->labels.ids[i]];
        right += top;
        if (i < SALES_TIME)
            row[i] = at[s->labels.ids[i]];
    }
    return right;
}

/* Trains; fills a row of `rows` every TABLE_EVERY steps, and prints unless `quiet`. */
static void train(rapt_tape *t, const rapt_lm *m, rapt_adam *adam, const input_windows *s, rapt_real (*rows)[SALES_TIME],
                  bool quiet)
{
    double norm = NAN, first = NAN, last = NAN;
    rapt_real row[SALES_TIME] = {0};
    size_t right = evaluate(t, m, s, rows[0]), before = right;
    for (uint64_t step = 1; step <= STEPS; step++) {
        last = train_step(t, m, adam, s, step, &norm);
        first = step == 1 ? last : first;
        if (!quiet && (step == 1 || step % 10 == 0))
            printf("step %2d: loss %.4f, gradient norm %.4f\n", (int)step, last, norm);
        if (step % TABLE_EVERY == 0)
            right = evaluate(t, m, s, rows[step / TABLE_EVERY]);
    }
    if (quiet || !show_ready(t, m->params))
        return;
    double again = (double)rows[STEPS / TABLE_EVERY][0];
    evaluate(t, m, s, row);
    printf("most probable token right: %d of %d before, %d after\n", (int)before, SALES_BATCH * SALES_TIME, (int)right);
    show_check("the first loss is about ln V: nothing is known yet", close_to(first, log((double)s->vocabulary), 0.5));
    double least = 2 * log(2) / (SALES_BATCH * SALES_TIME); /* "," comes twice at the beginning, before "the" and "and" */
    printf("the least loss that is possible: 2 ln 2 / 64 = %.4f\n", least);
    show_check("the loss falls below a tenth of that, and not below the least", last < first / 10 && last > least);
    show_check("63 of 64 is all that can be right", right == SALES_BATCH * SALES_TIME - 1);
    show_check("an evaluation changes nothing: the next gives the same", (double)row[0] == again);
}

static void learn(rapt_tape *t, rapt_params *set, bool table_only)
{
    static const char *const next[SALES_TIME] = {"chapter", "aims", "to", "equip", "sales", "professionals", "with", "the",
        "necessary", "tools", "and", "knowledge", "to", "navigate", "challenging", "situations"};
    char names[STEPS / TABLE_EVERY + 1][16];
    const char *row_names[STEPS / TABLE_EVERY + 1];
    rapt_real rows[STEPS / TABLE_EVERY + 1][SALES_TIME] = {{0}};
    input_windows s = input_sales_numbered(set);
    rapt_lm_config config;
    rapt_lm_preset("seed", &config, NULL); /* one block, 64 features, 4 heads */
    config.vocab = s.vocabulary;
    rapt_error err = {0};
    rapt_lm *m = rapt_lm_new(&config, 1, &err);
    rapt_adam *adam = m ? rapt_adam_new(m->params, NULL, &err) : NULL;
    if (!table_only)
        printf("\n-- a loss that falls: four windows, %zu words, %zu parameters --\n", s.vocabulary,
               m ? rapt_params_size(m->params) : 0);
    if (!adam && !show_check("memory for the model", false))
        fprintf(stderr, "%s\n", err.message);
    if (adam)
        train(t, m, adam, &s, rows, table_only);
    for (size_t i = 0; i <= STEPS / TABLE_EVERY; i++) {
        snprintf(names[i], sizeof names[i], "%zu", i * TABLE_EVERY);
        row_names[i] = names[i];
    }
    if (table_only && adam)
        show_table(STEPS / TABLE_EVERY + 1, SALES_TIME, rows[0], row_names, next);
    rapt_adam_free(adam);
    rapt_lm_free(m);
}

static void picture(rapt_tape *t, rapt_params *set) { learn(t, set, true); }

static void chapter(rapt_tape *t, rapt_params *set)
{
    loss_by_hand(t, set);
    label_smoothing(t, set);
    backward_by_hand(t, set);
    embedding_by_hand(t);
    adam_part(t);
    schedules();
    clipping(t);
    dropout(t, set);
    dropped_weights(t, set);
    buffers();
    learn(t, set, false);
}

int main(int argc, char **argv)
{
    return show_run(argc, argv, chapter, picture);
}
