/* examples/17_rotary.c: chapter 17 of docs/book: rotary positions by hand, and what rotary, learned and biased positions lose on
 * texts longer than in training.  Usage: 17_rotary [--table] */
#include "input.h"
#include "learn.h"
#include "show.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PLACES = 16, HEAD_FEATURES = SALES_FEATURES / 4, STEPS = 300, LONGEST = 4 * LEARN_TRAINED };

/* ---- by hand -------------------------------------------------------------------------------------------------------- */

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
    printf("-- q = k = (1, 0), the first places --\n");
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

/* ---- longer than in training ---------------------------------------------------------------------------------------- */

/* The loss of each part of a window: within the length of training, up to twice, up to four times as long. */
static void losses(rapt_tape *t, const learn_text *x, const rapt_lm *m, rapt_real row[3])
{
    for (size_t i = 0, first = 0, last = LEARN_TRAINED; i < 3; i++, first = last, last *= 2)
        row[i] = (rapt_real)learn_loss(t, x, m, first, last);
}

static void longer(rapt_tape *t, const learn_text *x)
{
    static const rapt_positions_kind kinds[3] = {RAPT_POSITIONS_LEARNED, RAPT_POSITIONS_ALIBI, RAPT_POSITIONS_ROTARY};
    static const char *const names[3] = {"learned", "ALiBi", "rotary"};
    static const char *const columns[3] = {"1 to 32", "33 to 64", "65 to 128"};
    rapt_real rows[3][3] = {{0}};
    printf("\n-- trained on %d characters, read %d: loss by place, nats a character --\n", LEARN_TRAINED, LONGEST);
    for (int k = 0; k < 3; k++) {
        rapt_lm_config c = learn_config(x);
        c.context = LONGEST; /* learned rows beyond LEARN_TRAINED stay as they were drawn */
        c.positions = kinds[k];
        rapt_lm *m = learn_train(t, x, &c, STEPS, NULL);
        if (!m)
            return;
        losses(t, x, m, rows[k]);
        rapt_lm_free(m);
    }
    show_frame(3, 3, rows[0], names, columns);
    show_check("within the length of training rotary positions lose least", rows[2][0] < fmin(rows[0][0], rows[1][0]) - 0.05);
    show_check("learned rows that no step has trained cost a nat", rows[0][1] > rows[0][0] + 0.9);
    show_check("rotary positions lose as well beyond that length", fmin(rows[2][2] - rows[2][1], rows[2][1] - rows[2][0]) > 0.4);
    show_check("ALiBi loses nothing", rows[1][2] < rows[1][0] + 0.05);
}

static void chapter(rapt_tape *t, rapt_params *set)
{
    learn_text x;
    rotary(t, set);
    if (learn_open(&x)) {
        longer(t, &x);
        learn_close(&x);
    }
}

int main(int argc, char **argv) { return show_run(argc, argv, chapter, rotary_table); }
