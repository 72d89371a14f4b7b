/* examples/18_during_training.c: chapter 18 of docs/book: attention before, during and after training: a model of one block
 * learns to write six letters backwards; its attention weights are captured on the way.
 * Usage: 18_during_training [--table] */
#include "show.h"

#include <math.h>
#include <stdio.h>

enum { LETTERS = 6, FIRST = 1, VOCAB = FIRST + 8, BATCH = 32, STEPS = 160, LOOK_EVERY = 10, LOOKS = STEPS / LOOK_EVERY + 1 };

/* Sequences and what they are backwards; behind <bos>, id 0, for the decoder. */
typedef struct lines {
    int32_t source[BATCH * LETTERS], target[BATCH * LETTERS], labels[BATCH * LETTERS];
} lines;

/* What a look at the model finds of one sequence, "abcdef". */
typedef struct look {
    rapt_real weights[LETTERS * LETTERS]; /* of the target's positions (rows) on the source's */
    double probability[LETTERS];          /* of the right letter */
    double loss, sum_error;               /* their mean -ln; how far a row of weights is from the sum 1 */
    size_t right;                         /* positions whose most probable letter is right */
} look;

static rapt_tokens tokens_of(const int32_t *ids, size_t batch)
{
    return (rapt_tokens){.ids = ids, .batch = batch, .time = LETTERS};
}

/* Fills what follows from the source. */
static void turn_around(lines *l, size_t batch)
{
    for (size_t i = 0; i < batch * LETTERS; i++) {
        size_t row = i / LETTERS * LETTERS, at = i % LETTERS;
        l->labels[i] = l->source[row + LETTERS - 1 - at];
        l->target[i] = at ? l->source[row + LETTERS - at] : 0;
    }
}

/* Letters of a step: the upper bits of a linear congruential generator (Knuth, MMIX). */
static void draw_lines(lines *l, uint64_t *state)
{
    for (size_t i = 0; i < BATCH * LETTERS; i++) {
        *state = *state * 6364136223846793005u + 1442695040888963407u;
        l->source[i] = FIRST + (int32_t)(*state >> 33) % (VOCAB - FIRST);
    }
    turn_around(l, BATCH);
}

static bool train_step(rapt_tape *t, const rapt_transformer *m, rapt_adam *adam, const lines *l, uint64_t step)
{
    rapt_tape_begin(t, (rapt_pass){.record = true, .training = true, .seed = 1, .step = step});
    rapt_tensor *loss = rapt_transformer_loss(t, m, tokens_of(l->source, BATCH), NULL, tokens_of(l->target, BATCH),
                                              tokens_of(l->labels, BATCH), NULL, NULL);
    rapt_params_zero_grad(m->params);
    if (rapt_backward(t, loss, NULL) != RAPT_OK)
        return false;
    return rapt_adam_step(adam, t, 0.003, fmin(1, 1 / rapt_grad_norm(t, m->params)), NULL) == RAPT_OK;
}

/* One sequence in evaluation mode, all positions at once. */
static look look_at(rapt_tape *t, const rapt_transformer *m)
{
    look seen = {.loss = 0};
    lines l;
    for (int i = 0; i < LETTERS; i++)
        l.source[i] = FIRST + i;
    turn_around(&l, 1);
    rapt_tape_begin(t, (rapt_pass){0});
    rapt_tape_capture_attention(t, RAPT_CAPTURE_BEFORE_DROPOUT);
    rapt_tensor *logits = rapt_transformer_forward(t, m, tokens_of(l.source, 1), NULL, tokens_of(l.target, 1));
    const rapt_tensor *p = rapt_op_masked_softmax(t, logits, NULL), *w = rapt_tape_attention(t, "decoder.0.cross_attention");
    rapt_tape_capture_attention(t, RAPT_CAPTURE_NONE);
    for (size_t i = 0; w && !rapt_tape_error(t)->code && i < LETTERS; i++) {
        double sum = 0;
        bool top = true;
        for (size_t j = 0; j < LETTERS; j++)
            sum += (double)(seen.weights[i * LETTERS + j] = w->data[i * LETTERS + j]);
        seen.sum_error = fmax(seen.sum_error, fabs(sum - 1));
        seen.probability[i] = (double)p->data[i * VOCAB + (size_t)l.labels[i]];
        for (size_t j = 0; j < VOCAB; j++)
            top = top && (double)p->data[i * VOCAB + j] <= seen.probability[i];
        seen.right += top;
        seen.loss -= log(seen.probability[i]) / LETTERS;
    }
    return seen;
}

/* The largest weight of a target position is that on the letter that it writes. */
static bool attends_backwards(const look *seen)
{
    bool all = true;
    for (size_t i = 0; i < LETTERS; i++)
        for (size_t j = 0; j < LETTERS; j++)
            all = all && seen->weights[i * LETTERS + j] <= seen->weights[i * LETTERS + LETTERS - 1 - i];
    return all;
}

/* Looks before the first step and after every LOOK_EVERY. */
static bool train(rapt_tape *t, const rapt_transformer *m, rapt_adam *adam, look looks[LOOKS])
{
    uint64_t state = 1;
    lines l;
    looks[0] = look_at(t, m);
    for (uint64_t step = 1; step <= STEPS; step++) {
        draw_lines(&l, &state);
        if (!train_step(t, m, adam, &l, step))
            return false;
        if (step % LOOK_EVERY == 0)
            looks[step / LOOK_EVERY] = look_at(t, m);
    }
    return true;
}

static void print_weights(const look *seen, int step)
{
    printf("\n-- after step %d: attention to the source --\nwrites", step);
    for (int j = 0; j < LETTERS; j++)
        printf("       %c", 'a' + j);
    for (int i = 0; i < LETTERS; i++) {
        printf("\n%c     ", 'a' + LETTERS - 1 - i);
        for (int j = 0; j < LETTERS; j++)
            printf("  %.4f", (double)seen->weights[i * LETTERS + j]);
    }
    printf("\n");
}

static void chapter_of(const look looks[LOOKS])
{
    const look *first = &looks[0], *last = &looks[LOOKS - 1];
    double most = 0, sums = 0;
    printf("step   loss    P(first letter)  most probable letter right\n");
    for (int i = 0; i < LOOKS; i++) {
        if (i % 2 == 0)
            printf("%4d   %.4f  %.4f           %zu of %d\n", i * LOOK_EVERY, looks[i].loss, looks[i].probability[0],
                   looks[i].right, LETTERS);
        sums = fmax(sums, looks[i].sum_error);
    }
    print_weights(first, 0);
    print_weights(&looks[5], 5 * LOOK_EVERY);
    print_weights(last, STEPS);
    for (size_t i = 0; i < LETTERS * LETTERS; i++)
        most = fmax(most, (double)first->weights[i]);
    printf("\nuntrained: the largest weight is %.4f\n", most);
    show_check("rows of weights sum to 1 at all times", sums < 1e-5);
    show_check("before training: no better than a guess among nine, ln 9 = 2.1972", first->loss > log(VOCAB));
    show_check("before training: no weight is above one half, and there is no order", most < 0.5 && !attends_backwards(first));
    show_check("after training: each position attends most to the letter that it writes", attends_backwards(last));
    show_check("after training: all letters are right, a tenth of the loss is left",
               last->right == LETTERS && last->loss < first->loss / 10);
}

static void picture_of(const look looks[LOOKS])
{
    char names[LOOKS][16], letters[LETTERS][2];
    const char *source[LETTERS];
    const char *row_names[LOOKS];
    rapt_real rows[LOOKS * LETTERS];
    for (int j = 0; j < LETTERS; j++) {
        snprintf(letters[j], sizeof letters[j], "%c", 'a' + j);
        source[j] = letters[j];
    }
    for (size_t i = 0; i < LOOKS; i++) {
        snprintf(names[i], sizeof names[i], "%zu", i * LOOK_EVERY);
        row_names[i] = names[i];
        for (size_t j = 0; j < LETTERS; j++)
            rows[i * LETTERS + j] = looks[i].weights[j];
    }
    show_table(LOOKS, LETTERS, rows, row_names, source);
}

int main(int argc, char **argv)
{
    bool table = show_wants_table(argc, argv);
    rapt_error err = {0};
    rapt_transformer_config config = {.source_vocab = VOCAB, .target_vocab = VOCAB, .layers = 1, .max_positions = 16,
                                      .scale_embedding = true,
                                      .block = {.d_model = 32, .heads = 1, .ffn = 64, .bias = true,
                                                .norm_place = RAPT_NORM_PLACE_POST, .init = RAPT_WEIGHT_INIT_XAVIER}};
    look looks[LOOKS] = {{.loss = 0}};
    rapt_tape *t = rapt_tape_new(NULL, &err);
    rapt_transformer *m = t ? rapt_transformer_new(&config, 1, &err) : NULL;
    rapt_adam *adam = m ? rapt_adam_new(m->params, NULL, &err) : NULL;
    if (!adam)
        fprintf(stderr, "%s\n", err.message);
    if (adam && train(t, m, adam, looks))
        (table ? picture_of : chapter_of)(looks);
    else
        show_check("a model that trains", adam && show_ready(t, NULL));
    rapt_adam_free(adam);
    rapt_transformer_free(m);
    return show_end(t, NULL);
}
