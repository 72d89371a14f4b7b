/* tests/train/test_deferred_updates.c: whoever reads a sparse parameter gets what a dense one would hold, with nothing to call
 * before: operations, lookups in the set, moments, a second optimizer, and who is left when the optimizer is gone. Public
 * functions only; what a step computes is the business of test_adam.c.
 * labels: threads */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "options.h"
#include "rapt/train.h"

#include <stdio.h>
#include <string.h>

#define ROWS 40
#define WIDTH 8
#define STEPS 30
#define SIZE (ROWS * WIDTH)

typedef struct learner {
    rapt_params *set;
    rapt_param *w;
    rapt_adam *adam;
} learner;

static learner learner_new(bool sparse)
{
    learner l = {.set = rapt_params_new(3, NULL)};
    l.w = rapt_params_add(l.set, "w", 2, (size_t[]){ROWS, WIDTH}, (rapt_init){RAPT_INIT_UNIFORM, 1});
    if (sparse)
        rapt_param_make_sparse(l.set, l.w);
    assert_int_equal(rapt_params_error(l.set)->code, RAPT_OK);
    l.adam = rapt_adam_new(l.set, &ADAM(.beta1 = 0.9, .beta2 = 0.95, .eps = 1e-8, .weight_decay = 0.1), NULL);
    assert_non_null(l.adam);
    return l;
}

static void learner_free(learner *l)
{
    rapt_adam_free(l->adam);
    rapt_params_free(l->set);
}

/* Looks two rows up, of the lower half, and learns from them. A dense matrix has a gradient of 0 elsewhere. */
static void learner_step(learner *l, rapt_tape *t, uint64_t number)
{
    rapt_error err = {0};
    const int32_t ids[] = {(int32_t)(number * 7 % (ROWS / 2)), (int32_t)(number % 3)};
    rapt_tape_begin(t, (rapt_pass){.record = true, .training = true});
    rapt_tensor *y = rapt_op_embed(t, l->w, (rapt_tokens){.ids = ids, .batch = 1, .time = 2}, NULL);
    assert_int_equal(rapt_backward(t, rapt_op_sum(t, y), &err), RAPT_OK);
    assert_int_equal(rapt_adam_step(l->adam, t, 0.01, 1, &err), RAPT_OK);
    rapt_params_zero_grad(l->set);
}

static void train(learner *l, rapt_tape *t, uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++)
        learner_step(l, t, i);
}

typedef void read_fn(learner *l, rapt_tape *t, rapt_real *to);

static void read_by_embed(learner *l, rapt_tape *t, rapt_real *to)
{
    int32_t ids[ROWS];
    for (int32_t i = 0; i < ROWS; i++)
        ids[i] = i;
    rapt_tape_begin(t, (rapt_pass){0});
    memcpy(to, rapt_op_embed(t, l->w, (rapt_tokens){.ids = ids, .batch = 1, .time = ROWS}, NULL)->data, SIZE * sizeof *to);
}

/* The rows as positions of another table. */
static void read_by_positions(learner *l, rapt_tape *t, rapt_real *to)
{
    rapt_params *other = rapt_params_new(1, NULL);
    rapt_param *zeros = rapt_params_add(other, "zeros", 2, (size_t[]){1, WIDTH}, (rapt_init){RAPT_INIT_ZEROS, 0});
    static const int32_t ids[ROWS];
    rapt_tape_begin(t, (rapt_pass){0});
    memcpy(to, rapt_op_embed(t, zeros, (rapt_tokens){.ids = ids, .batch = 1, .time = ROWS},
                             &(rapt_embed_options){.positions = l->w})->data, SIZE * sizeof *to);
    rapt_params_free(other);
}

/* An output matrix that is the embedding, too: column j of w for the unit vector j. */
static void read_by_linear(learner *l, rapt_tape *t, rapt_real *to)
{
    rapt_real unit[WIDTH * WIDTH] = {0};
    for (size_t j = 0; j < WIDTH; j++)
        unit[j * WIDTH + j] = 1;
    rapt_tape_begin(t, (rapt_pass){0});
    rapt_tensor *x = rapt_tape_input(t, 2, (size_t[]){WIDTH, WIDTH}, unit, false);
    const rapt_tensor *y = rapt_op_linear(t, x, l->w, NULL, RAPT_ACTIVATION_IDENTITY);
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < WIDTH; j++)
            to[i * WIDTH + j] = y->data[j * ROWS + i];
}

static void read_at(learner *l, rapt_tape *t, rapt_real *to)
{
    (void)t;
    memcpy(to, rapt_params_at(l->set, 0)->value.data, SIZE * sizeof *to);
}

static void read_found(learner *l, rapt_tape *t, rapt_real *to)
{
    (void)t;
    memcpy(to, rapt_params_find(l->set, "w")->value.data, SIZE * sizeof *to);
}

static void read_first_moment(learner *l, rapt_tape *t, rapt_real *to)
{
    (void)t;
    memcpy(to, rapt_adam_first_moment(l->adam, 0), SIZE * sizeof *to);
}

static void read_second_moment(learner *l, rapt_tape *t, rapt_real *to)
{
    (void)t;
    memcpy(to, rapt_adam_second_moment(l->adam, 0), SIZE * sizeof *to);
}

static void read_after_free(learner *l, rapt_tape *t, rapt_real *to)
{
    (void)t;
    rapt_adam_free(l->adam);
    l->adam = NULL;
    memcpy(to, l->w->value.data, SIZE * sizeof *to);
}

static const struct {
    const char *name;
    read_fn *read;
} READERS[] = {{"embed", read_by_embed}, {"positions", read_by_positions}, {"linear", read_by_linear}, {"at", read_at},
               {"find", read_found}, {"first moment", read_first_moment}, {"second moment", read_second_moment},
               {"after the optimizer", read_after_free}};

static void every_reader_sees_all_updates(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof READERS / sizeof *READERS; i++) {
        rapt_real dense[SIZE], sparse[SIZE];
        rapt_tape *t = rapt_tape_new(&(rapt_compute){.threads = 2}, NULL);
        learner d = learner_new(false), s = learner_new(true);
        train(&d, t, 0, STEPS);
        train(&s, t, 0, STEPS);
        assert_memory_not_equal(d.w->value.data, s.w->value.data, sizeof dense); /* else nothing was deferred */
        READERS[i].read(&d, t, dense);
        READERS[i].read(&s, t, sparse);
        if (memcmp(dense, sparse, sizeof dense) != 0)
            fail_msg("%s: stale elements", READERS[i].name);
        learner_free(&d);
        learner_free(&s);
        rapt_tape_free(t);
    }
}

/* What the first optimizer deferred is applied before the second one's first step, and the first one can be freed any time. */
static void optimizers_take_turns(void **state)
{
    (void)state;
    rapt_tape *t = rapt_tape_new(&(rapt_compute){.threads = 1}, NULL);
    learner both[] = {learner_new(false), learner_new(true)};
    for (int i = 0; i < 2; i++) {
        rapt_adam *first = both[i].adam, *second = rapt_adam_new(both[i].set, &ADAM(.beta1 = 0.9, .beta2 = 0.95,
                                                                 .eps = 1e-8, .weight_decay = 0.3), NULL);
        train(&both[i], t, 0, 10);
        both[i].adam = second;
        train(&both[i], t, 10, 20);
        both[i].adam = first;
        train(&both[i], t, 20, 30);
        rapt_adam_free(second);
        train(&both[i], t, 30, 35);
        rapt_adam_free(first);
        both[i].adam = NULL;
    }
    assert_memory_equal(both[0].w->value.data, both[1].w->value.data, SIZE * sizeof(rapt_real));
    for (int i = 0; i < 2; i++)
        learner_free(&both[i]);
    rapt_tape_free(t);
}

/* New elements are not what updates of the old ones are for. */
static void filling_again_forgets_nothing_else(void **state)
{
    (void)state;
    rapt_tape *t = rapt_tape_new(&(rapt_compute){.threads = 1}, NULL);
    learner s = learner_new(true);
    train(&s, t, 0, STEPS);
    rapt_param_fill(s.set, s.w, (rapt_init){RAPT_INIT_ONES, 0});
    rapt_params_at(s.set, 0);
    for (size_t i = 0; i < SIZE; i++)
        assert_true(s.w->value.data[i] == 1);
    learner_free(&s);
    rapt_tape_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_reader_sees_all_updates),
        cmocka_unit_test(optimizers_take_turns),
        cmocka_unit_test(filling_again_forgets_nothing_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
