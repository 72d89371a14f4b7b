/* tests/train/test_shard_ranks.c: steps that processes make together, here threads over the double of a transport: whatever their
 * number, parameters, moments and figures have the bits of one process. Only the step (train/shards): whole runs of
 * rapt_train with several ranks are tested elsewhere.
 * labels: raced-late */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "rapt/group.h"
#include "rapt/train.h"

#include "folder.h"
#include "group/group_ops.h"
#include "io/model_core.h"
#include "tensor/params.h"
#include "train/shards/step_ranks.h"
#include "train/shards/step_shards.h"
#include "train/step.h"
#include "train/train_input.h"

#include "train/shard_recipes.h"

#include <math.h>
#include <pthread.h>

enum { STEPS = 3, MOST_RANKS = 8 };

/* What a run has come to: parameters, then both moments where they are known. */
typedef struct outcome {
    size_t count, size;
    char **names;
    rapt_real *values, *m, *v;
    uint8_t *known; /* [size]: whether the moments are */
    run_counters counters;
} outcome;

typedef struct rank_run {
    const rapt_recipe *recipe;
    rapt_transport *transport; /* NULL: a process alone */
    int threads, poisoned;     /* the rank whose parameters become NaN, or -1 */
    char out[32];
    rapt_code code;
    rapt_error err;
    outcome outcome;
    bool counts;    /* bytes, in the last step */
    uint64_t bytes; /* that this rank has sent */
    bool stops, stopped, checkpoint, checkpoint_agreed;
    bool overflows; /* the squares of a gradient, in the second step, where losses are finite */
} rank_run;

static bool asks_to_stop(void *context)
{
    return ((const rank_run *)context)->stops;
}

static void outcome_free(outcome *o)
{
    free(o->values);
    free(o->m);
    free(o->v);
    free(o->known);
    *o = (outcome){0};
}

/* The moments of a part of a parameter, where this process owns it. */
static void keep_moments(run *r, size_t param, size_t at, outcome *o)
{
    size_t size = rapt_tensor_size(&params_at(r->model->params, param)->value), limits[MOST_RANKS + 1], end;
    const rapt_real *m = rapt_adam_first_moment(r->adam, param), *v = rapt_adam_second_moment(r->adam, param);
    for (size_t from = 0; m && from < size; from = end) {
        size_t first = from, last = size;
        end = r->group ? step_shards_segment(r, param, from, limits) : size;
        end = end ? end : size;
        if (r->group && params_at(r->model->params, param)->sparse == false) {
            int range = group_range(r->rank, r->ranks);
            first = limits[range];
            last = limits[range + 1];
        }
        memcpy(o->m + at + first, m + first, (last - first) * sizeof *m);
        if (v) /* else it is Muon's or SGD's */
            memcpy(o->v + at + first, v + first, (last - first) * sizeof *v);
        memset(o->known + at + first, 1, last - first);
    }
}

static void keep_outcome(run *r, outcome *o)
{
    const rapt_params *set = r->model->params;
    *o = (outcome){.count = rapt_params_count(set), .counters = r->counters};
    for (size_t i = 0; i < o->count; i++)
        o->size += rapt_tensor_size(&params_at(set, i)->value);
    o->values = calloc(o->size, sizeof *o->values);
    o->m = calloc(o->size, sizeof *o->m);
    o->v = calloc(o->size, sizeof *o->v);
    o->known = calloc(o->size, 1);
    for (size_t i = 0, at = 0; i < o->count; i++) {
        const rapt_tensor *x = &rapt_params_at(set, i)->value;
        memcpy(o->values + at, x->data, rapt_tensor_size(x) * sizeof *x->data);
        keep_moments(r, i, at, o);
        at += rapt_tensor_size(x);
    }
}

/* Bytes that this rank has sent once parameters are there. */
static uint64_t sent_so_far(run *r, rank_run *k)
{
    if (k->counts && !k->code)
        k->code = step_ranks_arrived(r->shards->ranks, &k->err);
    return k->counts ? group_statistics(r->group).sent : 0;
}

static void scale(rapt_param *p, rapt_real by)
{
    for (size_t i = 0; i < rapt_tensor_size(&p->value); i++)
        p->value.data[i] *= by;
}

/* What the output layer gets becomes 1e25 times as large, and its weights as much smaller. */
static void make_gradient_large(rapt_params *set)
{
    scale(rapt_params_find(set, "norm.weight"), 1e25f);
    scale(rapt_params_find(set, "output.weight"), 1e-25f);
}

static void *train_rank(void *context)
{
    rank_run *k = context;
    run r;
    double lr;
    rapt_train_options o = {.recipe = k->recipe, .out = k->out, .threads = k->threads, .context = k};
    rapt_group *g = o.group = k->transport ? rapt_group_new(k->transport, NULL, &k->err) : NULL;
    k->code = k->transport && !g ? k->err.code : run_set_up(&r, &o, &k->err);
    if (!k->code)
        o.stop = asks_to_stop;
    for (int step = 0; !k->code && step < STEPS; step++) {
        uint64_t before = sent_so_far(&r, k);
        r.checkpoint_wanted = k->checkpoint;
        if (r.rank == k->poisoned && step == 1)
            rapt_params_at(r.model->params, 0)->value.data[0] = rapt_params_at(r.model->params, 1)->value.data[0] = NAN;
        if (k->overflows && step == 1)
            make_gradient_large(r.model->params);
        k->code = train_step(&r, &lr, &k->err);
        k->bytes = sent_so_far(&r, k) - before;
    }
    k->stopped = r.stop_agreed;
    k->checkpoint_agreed = r.checkpoint_agreed;
    if (!k->code)
        k->code = step_ranks_whole(&r, &k->err);
    if (!k->code)
        keep_outcome(&r, &k->outcome);
    run_free(&r);
    rapt_group_free(g);
    return NULL;
}

/* Runs `ranks` threads, which are set as `k` says. */
static void train_ranks(rank_run *k, int ranks)
{
    pthread_t threads[MOST_RANKS];
    rapt_transport *transports = rapt_group_local(ranks, NULL);
    assert_non_null(transports);
    for (int i = 0; i < ranks; i++) {
        k[i].transport = &transports[i];
        snprintf(k[i].out, sizeof k[i].out, "rank%d", i);
        assert_int_equal(pthread_create(&threads[i], NULL, train_rank, &k[i]), 0);
    }
    for (int i = 0; i < ranks; i++)
        pthread_join(threads[i], NULL);
    rapt_group_local_free(transports);
    assert_int_equal(system("rm -rf rank*"), 0);
}

static void assert_same_outcome(const outcome *want, const outcome *got, uint8_t *seen)
{
    assert_int_equal(want->size, got->size);
    for (size_t i = 0; i < want->size; i++)
        if (memcmp(&want->values[i], &got->values[i], sizeof *want->values) != 0)
            fail_msg("element %zu is %a, not %a", i, (double)got->values[i], (double)want->values[i]);
    for (size_t i = 0; i < want->size; i++) {
        if (!got->known[i])
            continue;
        if (memcmp(&want->m[i], &got->m[i], sizeof *want->m) != 0 || memcmp(&want->v[i], &got->v[i], sizeof *want->v) != 0)
            fail_msg("moments of element %zu are other ones", i);
        seen[i]++;
    }
    assert_int_equal(want->counters.step, got->counters.step);
    assert_int_equal(want->counters.tokens, got->counters.tokens);
    assert_memory_equal(&want->counters.nll, &got->counters.nll, sizeof(double));
    assert_memory_equal(&want->counters.book, &got->counters.book, sizeof(double));
    assert_memory_equal(&want->counters.grad_norm, &got->counters.grad_norm, sizeof(double));
}

static void check_recipe(const char *changes, const int *sizes)
{
    rapt_recipe recipe;
    rapt_recipe_defaults(&recipe);
    set_all(&recipe, "task=language_model seed=7 data.text=text.txt data.validation_fraction=0.1 tokenizer.type=characters "
                     "model.layers=2 model.d_model=44 model.heads=2 model.ffn=83 model.context=8 model.init=pytorch "
                     "model.dropout=0 model.bias=true model.tied=false train.steps=24 train.batch=2 train.lr=0.01 "
                     "train.warmup=0");
    set_all(&recipe, changes);
    rank_run alone = {.recipe = &recipe, .threads = 2, .poisoned = -1, .out = "alone"};
    train_rank(&alone);
    assert_string_equal(alone.err.message, "");
    for (; *sizes; sizes++) {
        rank_run ranks[MOST_RANKS];
        uint8_t *seen = calloc(alone.outcome.size, 1);
        if (*sizes > recipe.train.shards) {
            free(seen);
            continue;
        }
        for (int i = 0; i < *sizes; i++)
            ranks[i] = (rank_run){.recipe = &recipe, .threads = 1 + i % 3, .poisoned = -1};
        train_ranks(ranks, *sizes);
        for (int i = 0; i < *sizes; i++) {
            assert_string_equal(ranks[i].err.message, "");
            assert_same_outcome(&alone.outcome, &ranks[i].outcome, seen);
            assert_false(ranks[i].stopped);
            outcome_free(&ranks[i].outcome);
        }
        size_t whole = 0; /* moments are known once, or of frozen and sparse parameters never or by all */
        for (size_t i = 0; i < alone.outcome.size; i++) {
            assert_true(seen[i] == alone.outcome.known[i] || seen[i] == *sizes);
            whole += seen[i] == 1;
        }
        assert_true(whole > 0);
        free(seen);
    }
    outcome_free(&alone.outcome);
    rapt_recipe_free(&recipe);
    assert_int_equal(system("rm -rf alone"), 0);
}

static void any_number_of_ranks(void **state)
{
    (void)state;
    static const int sizes[] = {2, 3, 4, 5, 7, 8, 0};
    put_texts();
    for (size_t i = 0; i < SHARD_RECIPES; i++)
        check_recipe(shard_recipes[i], sizes);
}

static void more_shards_than_ranks(void **state)
{
    (void)state;
    static const int sizes[] = {2, 3, 5, 7, 8, 0};
    put_texts();
    check_recipe("data.text=kinds.txt train.batch=1 train.accumulate=24 train.shards=24", sizes);
    check_recipe("train.batch=1 train.accumulate=29 train.shards=11 model.tied=true", sizes);
}

/* One rank's numbers are not finite: all of them stop, with one and the same message that names it. */
static void a_rank_that_is_not_finite(void **state)
{
    (void)state;
    rapt_recipe recipe;
    put_texts();
    rapt_recipe_defaults(&recipe);
    set_all(&recipe, "task=language_model data.text=text.txt tokenizer.type=characters model.layers=1 model.d_model=16 "
                     "model.heads=2 model.ffn=24 model.context=8 model.init=pytorch train.steps=9 train.batch=1 "
                     "train.accumulate=6 train.shards=6");
    for (int size = 3; size <= 6; size += 3) { /* the pass that fails is the first of two, or the last */
        rank_run ranks[6];
        for (int i = 0; i < size; i++)
            ranks[i] = (rank_run){.recipe = &recipe, .threads = 1, .poisoned = 1};
        train_ranks(ranks, size);
        for (int i = 0; i < size; i++) {
            assert_int_equal(ranks[i].code, RAPT_ERR_NOT_FINITE);
            assert_string_equal(ranks[i].err.message, ranks[0].err.message);
        }
        assert_memory_equal(ranks[0].err.message, "rank 1 on ", 10);
        assert_non_null(strstr(ranks[0].err.message, ": step 2: the loss is not finite; the first bad tensor is "));
    }
    rapt_recipe_free(&recipe);
}

/* Also if only the sum over all ranks shows it. */
static void a_gradient_that_is_not_finite(void **state)
{
    (void)state;
    rapt_recipe recipe;
    rank_run ranks[3];
    put_texts();
    rapt_recipe_defaults(&recipe);
    set_all(&recipe, "task=language_model data.text=text.txt tokenizer.type=characters model.layers=1 model.d_model=16 "
                     "model.heads=2 model.ffn=24 model.context=8 model.init=pytorch model.tied=false train.steps=9 train.batch=1 "
                     "train.accumulate=3 train.shards=3");
    for (int i = 0; i < 3; i++)
        ranks[i] = (rank_run){.recipe = &recipe, .threads = 1, .poisoned = -1, .overflows = true};
    train_ranks(ranks, 3);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(ranks[i].code, RAPT_ERR_NOT_FINITE);
        assert_string_equal(ranks[i].err.message, ranks[0].err.message);
    }
    assert_memory_equal(ranks[0].err.message, "rank 0 on ", 10);
    assert_non_null(strstr(ranks[0].err.message, ": step 2: the gradient is not finite; the first bad tensor is output.weight"));
    rapt_recipe_free(&recipe);
}

/* Wishes of one rank are known to all after the step: to stop, of any of them; to write a checkpoint, of the first. */
static void wishes_are_shared(void **state)
{
    (void)state;
    rapt_recipe recipe;
    put_texts();
    rapt_recipe_defaults(&recipe);
    set_all(&recipe, "task=language_model data.text=text.txt tokenizer.type=characters model.layers=1 model.d_model=16 "
                     "model.heads=2 model.ffn=24 model.context=8 model.init=pytorch train.steps=9 train.batch=1 "
                     "train.accumulate=4 train.shards=4");
    for (int who = 0; who < 3; who++) {
        rank_run ranks[3];
        for (int i = 0; i < 3; i++)
            ranks[i] = (rank_run){.recipe = &recipe, .threads = 1, .poisoned = -1, .stops = i == who, .checkpoint = i == who};
        train_ranks(ranks, 3);
        for (int i = 0; i < 3; i++) {
            assert_string_equal(ranks[i].err.message, "");
            assert_true(ranks[i].stopped);
            assert_int_equal(ranks[i].checkpoint_agreed, who == 0);
            outcome_free(&ranks[i].outcome);
        }
    }
    rapt_recipe_free(&recipe);
}

/* What a step sends: gradients go to their owners, and parameters come back, in bf16 most of them in half the bytes. */
static double bytes_of_a_step(rapt_recipe *recipe, int size)
{
    rank_run ranks[MOST_RANKS];
    double bytes = 0;
    for (int i = 0; i < size; i++)
        ranks[i] = (rank_run){.recipe = recipe, .threads = 1, .poisoned = -1, .counts = true};
    train_ranks(ranks, size);
    for (int i = 0; i < size; i++) {
        assert_string_equal(ranks[i].err.message, "");
        bytes += (double)ranks[i].bytes / size;
    }
    double lower = 2 * (size - 1.0) / size * (double)(ranks[0].outcome.size * sizeof(rapt_real));
    for (int i = 0; i < size; i++)
        outcome_free(&ranks[i].outcome);
    return bytes / lower;
}

static void bytes_are_near_the_lower_bound(void **state)
{
    (void)state;
    rapt_recipe recipe;
    put_texts();
    rapt_recipe_defaults(&recipe);
    set_all(&recipe, "task=language_model data.text=text.txt tokenizer.type=characters model.layers=2 model.d_model=128 "
                     "model.heads=2 model.ffn=512 model.context=8 model.init=pytorch model.positions=rotary train.steps=9 "
                     "train.batch=1 train.accumulate=8 train.shards=8");
    for (int size = 2; size <= 8; size *= 2) {
        set_all(&recipe, "train.precision=fp32");
        double whole = bytes_of_a_step(&recipe, size);
        set_all(&recipe, "train.precision=bf16");
        double rounded = bytes_of_a_step(&recipe, size);
        if (!(whole >= 0.97 && whole <= 1.02 && rounded <= 0.77 * whole))
            fail_msg("%d ranks: %g of the bytes that are needed, %g in bf16", size, whole, rounded);
    }
    rapt_recipe_free(&recipe);
}

#define IN_A_FOLDER(test) cmocka_unit_test_setup_teardown(test, folder_enter, folder_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_FOLDER(any_number_of_ranks),
        IN_A_FOLDER(more_shards_than_ranks),
        IN_A_FOLDER(a_rank_that_is_not_finite),
        IN_A_FOLDER(a_gradient_that_is_not_finite),
        IN_A_FOLDER(wishes_are_shared),
        IN_A_FOLDER(bytes_are_near_the_lower_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
