/* tests/train/test_shard_sums.c: the gradient of a step of several shards (train.shards): sums against a plain recursion, and
 * whole steps against passes whose gradients the test adds itself. Runs are in test_shards.c.
 * labels: threads */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "rapt/train.h"

#include "base/rng.h"
#include "folder.h"
#include "io/model_core.h"
#include "tensor/params.h"
#include "train/set_up.h"
#include "train/shards/step_shards.h"
#include "train/step.h"
#include "train/train_input.h"

#include "train/shard_recipes.h"

#include <math.h>

/* ---- the definition, word by word ------------------------------------------------------------------------------- */

/* node(lo, hi) of docs/number-format.md over leaves [shards][n]; free it. */
static rapt_real *node(const rapt_real *leaves, size_t n, uint32_t lo, uint32_t hi)
{
    rapt_real *sum = calloc(n + 1, sizeof *sum);
    assert_non_null(sum);
    if (hi - lo == 1)
        return memcpy(sum, leaves + lo * n, n * sizeof *sum);
    uint32_t power = 1;
    while (2 * power < hi - lo)
        power *= 2;
    rapt_real *left = node(leaves, n, lo, lo + power), *right = node(leaves, n, lo + power, hi);
    for (size_t i = 0; i < n; i++)
        sum[i] = left[i] + right[i];
    free(left);
    free(right);
    return sum;
}

static void assert_equal_bits(const char *what, size_t n, const rapt_real *want, const rapt_real *got)
{
    for (size_t i = 0; i < n; i++)
        if (memcmp(&want[i], &got[i], sizeof *want) != 0)
            fail_msg("%s[%zu] is %a, not %a", what, i, (double)got[i], (double)want[i]);
}

/* ---- sums of made-up gradients ------------------------------------------------------------------------------------ */

enum { ROWS = 40, WIDTH = 7, PARAMS = 4 };

/* A matrix of several chunks of the sums, a vector of a size that leaves a gap, a sparse matrix, and what is not trained. */
static rapt_params *made_up_set(void)
{
    rapt_params *set = rapt_params_new(3, NULL);
    const rapt_init zeros = {RAPT_INIT_ZEROS, 0};
    assert_non_null(set);
    rapt_params_add(set, "matrix", 2, (size_t[]){301, 67}, zeros);
    rapt_params_add(set, "vector", 1, (size_t[]){5}, zeros);
    rapt_param_make_sparse(set, rapt_params_add(set, "rows", 2, (size_t[]){ROWS, WIDTH}, zeros));
    rapt_params_add(set, "frozen", 1, (size_t[]){9}, zeros);
    assert_int_equal(rapt_params_freeze(set, "frozen"), 1);
    assert_int_equal(rapt_params_count(set), PARAMS);
    return set;
}

/* Sums of these depend on their order; one in 16 is -0. */
static rapt_real made_up(uint64_t shard, uint64_t param, uint64_t i)
{
    uint64_t key = rng_mix(shard + 1, param);
    double x = 2 * rng_uniform(key, 2 * i) - 1;
    return rng_below(key, 2 * i + 1, 16) == 0 ? -(rapt_real)0 : (rapt_real)ldexp(x, (int)rng_below(key + 1, i, 40) - 20);
}

/* Some shards use the vector, some rows of the sparse matrix, as passes do. */
static bool uses_vector(uint32_t shard)
{
    return shard % 3 == 1;
}

static bool uses_row(uint32_t shard, size_t row)
{
    return rng_below(77 + shard, row, 4) == 0;
}

/* What passes of a shard leave; in `leaves`, the same with zeros where it has no gradient. */
static void leave_gradients(const rapt_params *set, uint32_t shard, rapt_real *const leaves[PARAMS])
{
    for (size_t i = 0; i < PARAMS; i++) {
        rapt_param *p = params_at(set, i);
        size_t n = rapt_tensor_size(&p->value);
        if (p->frozen || (i == 1 && !uses_vector(shard)))
            continue;
        p->value.grad_filled = true;
        for (size_t j = 0; j < n; j++) {
            if (p->sparse && !uses_row(shard, j / WIDTH))
                continue;
            p->value.grad[j] = leaves[i][shard * n + j] = made_up(shard, i, j);
            if (p->sparse)
                p->state->row_used[j / WIDTH] = 1;
        }
    }
}

/* The last shard's sums, range by range, before they are asked for whole: then that leaves them alone. */
static void add_ranges(shard_sums *s, rapt_tape *t, const gradient_layout *layout)
{
    const size_t cut = layout->size / 3 + 1;
    shard_sums_add_range(s, t, 2 * cut, layout->size);
    shard_sums_add_range(s, t, 0, cut);
    shard_sums_add_range(s, t, cut, 2 * cut);
    rapt_real *sum = shard_sums_dense(s, 0) + layout->offset[1], kept = *sum;
    *sum = 42;
    assert_int_equal(shard_sums_add(s, t, NULL), RAPT_OK);
    assert_true(*sum == 42);
    *sum = kept;
}

static void check_sums(uint32_t shards, int threads)
{
    gradient_layout layout;
    rapt_real *leaves[PARAMS];
    rapt_params *set = made_up_set();
    rapt_tape *t = rapt_tape_new(&(rapt_compute){.threads = threads}, NULL);
    assert_int_equal(gradient_layout_make(&layout, set, NULL), RAPT_OK);
    shard_sums *s = shard_sums_new(set, &layout, (shard_node){0, shards}, shards, NULL);
    assert_true(t && s);
    assert_int_equal(shard_sums_depth((shard_node){0, shards}, shards), 1 + (size_t)floor(log2(shards)));
    for (size_t i = 0; i < PARAMS; i++)
        leaves[i] = calloc(shards * rapt_tensor_size(&params_at(set, i)->value), sizeof **leaves);
    for (int again = 0; again < 3; again++) { /* memory is used again */
        rapt_params_zero_grad(set);
        shard_sums_restart(s);
        for (uint32_t shard = 0; shard < shards; shard++) {
            leave_gradients(set, shard, leaves);
            if (again == 2 && shard == shards - 1)
                add_ranges(s, t, &layout);
            else
                assert_int_equal(shard_sums_add(s, t, NULL), RAPT_OK);
        }
    }
    assert_int_equal(shard_sums_count(s), 1);
    shard_sums_use_dense(s, shard_sums_touched(s));
    shard_sums_use_rows(s, 2, shard_sums_rows(s, 0, 2));
    for (size_t i = 0; i < PARAMS; i++) {
        const rapt_param *p = params_at(set, i);
        size_t n = rapt_tensor_size(&p->value);
        bool any = i == 1 ? shards > 1 : i != 3;
        rapt_real *want = node(leaves[i], n, 0, shards);
        assert_int_equal(p->value.grad_filled, any);
        if (any)
            assert_equal_bits(p->value.name, n, want, p->value.grad);
        free(want);
        free(leaves[i]);
    }
    for (size_t row = 0; row < ROWS; row++) {
        bool used = false;
        for (uint32_t shard = 0; shard < shards; shard++)
            used = used || uses_row(shard, row);
        assert_int_equal(params_at(set, 2)->state->row_used[row], used);
    }
    shard_sums_free(s);
    gradient_layout_free(&layout);
    rapt_tape_free(t);
    rapt_params_free(set);
}

static void sums_are_the_tree(void **state)
{
    (void)state;
    for (uint32_t shards = 1; shards <= 17; shards++)
        check_sums(shards, 1 + (int)shards % 3);
    check_sums(64, 2);
    check_sums(100, 3);
}

/* The order shows: a chain gives other bits, so the test above can fail. */
static void a_chain_is_another_sum(void **state)
{
    (void)state;
    enum { N = 100, SHARDS = 8 };
    rapt_real leaves[SHARDS * N], chain[N] = {0};
    for (uint32_t shard = 0; shard < SHARDS; shard++)
        for (size_t i = 0; i < N; i++)
            chain[i] += leaves[shard * N + i] = made_up(shard, 0, i);
    rapt_real *tree = node(leaves, N, 0, SHARDS);
    assert_true(memcmp(tree, chain, sizeof chain) != 0);
    free(tree);
}

/* For a part of the shards, there is a sum for each of its largest nodes. */
static void parts_are_subtrees(void **state)
{
    (void)state;
    enum { SHARDS = 11, FIRST = 3, END = 9 }; /* 3 | 4 .. 7 | 8 */
    static const shard_node nodes[] = {{3, 4}, {4, 8}, {8, 9}};
    gradient_layout layout;
    rapt_real *leaves[PARAMS];
    rapt_params *set = made_up_set();
    rapt_tape *t = rapt_tape_new(&(rapt_compute){.threads = 2}, NULL);
    assert_int_equal(gradient_layout_make(&layout, set, NULL), RAPT_OK);
    shard_sums *s = shard_sums_new(set, &layout, (shard_node){FIRST, END}, SHARDS, NULL);
    for (size_t i = 0; i < PARAMS; i++)
        leaves[i] = calloc(SHARDS * rapt_tensor_size(&params_at(set, i)->value), sizeof **leaves);
    shard_sums_restart(s);
    for (uint32_t shard = FIRST; shard < END; shard++) {
        leave_gradients(set, shard, leaves);
        assert_int_equal(shard_sums_add(s, t, NULL), RAPT_OK);
    }
    assert_int_equal(shard_sums_count(s), 3);
    for (size_t k = 0; k < 3; k++) {
        size_t n = rapt_tensor_size(&params_at(set, 0)->value);
        rapt_real *want = node(leaves[0], n, nodes[k].first, nodes[k].end);
        assert_equal_bits("matrix", n, want, shard_sums_dense(s, k) + layout.offset[0]);
        free(want);
    }
    for (size_t i = 0; i < PARAMS; i++)
        free(leaves[i]);
    shard_sums_free(s);
    gradient_layout_free(&layout);
    rapt_tape_free(t);
    rapt_params_free(set);
}

/* ---- steps ------------------------------------------------------------------------------------------------------------ */

/* The gradients of a shard, by passes as step.c makes them, into [parameters of the set, one after the other]. */
static void shard_gradients(run *r, uint64_t step, uint64_t first, uint64_t end, rapt_real *to, bool *touched,
                            uint64_t *tokens)
{
    rapt_params *set = r->model->params;
    rapt_params_zero_grad(set);
    for (uint64_t i = first; i < end; i++) {
        train_batch batch;
        pass_sums parts;
        uint64_t index = (step - 1) * (uint64_t)r->recipe->train.accumulate + i;
        assert_int_equal(r->task->batch(r, index, &batch, NULL), RAPT_OK);
        assert_int_equal(step_pass(r, &batch, (rapt_pass){.record = true, .training = true, .step = index + 1}, 1, &parts, NULL),
                         RAPT_OK);
        *tokens += parts.loss.tokens;
    }
    for (size_t i = 0; i < rapt_params_count(set); i++) {
        const rapt_tensor *x = &params_at(set, i)->value;
        if (x->grad_filled && x->requires_grad)
            memcpy(to, x->grad, rapt_tensor_size(x) * sizeof *to);
        touched[i] = touched[i] || x->grad_filled;
        to += rapt_tensor_size(x);
    }
}

/* All parameters' elements. */
static size_t set_size(const rapt_params *set)
{
    size_t n = 0;
    for (size_t i = 0; i < rapt_params_count(set); i++)
        n += rapt_tensor_size(&params_at(set, i)->value);
    return n;
}

/* The rows that are not zero: no other has a gradient. A row whose gradient is 0 would be left out, which is as good. */
static void mark_rows(rapt_param *p)
{
    size_t width = rapt_tensor_features(&p->value);
    for (size_t i = 0; p->sparse && i < rapt_tensor_size(&p->value); i++)
        p->state->row_used[i / width] |= p->value.grad[i] != 0;
}

static void step_by_hand(run *r, uint64_t step)
{
    rapt_params *set = r->model->params;
    size_t n = set_size(set), count = rapt_params_count(set);
    uint64_t shards = (uint64_t)r->recipe->train.shards, batches = (uint64_t)r->recipe->train.accumulate, tokens = 0;
    rapt_real *leaves = calloc(shards * n, sizeof *leaves);
    bool *touched = calloc(count, sizeof *touched);
    for (uint64_t s = 0; s < shards; s++)
        shard_gradients(r, step, s * batches / shards, (s + 1) * batches / shards, leaves + s * n, touched, &tokens);
    rapt_real *sum = node(leaves, n, 0, (uint32_t)shards), *from = sum;
    rapt_params_zero_grad(set);
    for (size_t i = 0; i < count; i++) {
        rapt_param *p = params_at(set, i);
        if (touched[i] && p->value.requires_grad) {
            memcpy(p->value.grad, from, rapt_tensor_size(&p->value) * sizeof *from);
            p->value.grad_filled = true;
            mark_rows(p);
        }
        from += rapt_tensor_size(&p->value);
    }
    double scale = 1 / (double)tokens, norm = scale * rapt_grad_norm(r->tape, set), clip = r->recipe->train.clip;
    if (norm > clip)
        scale *= clip / norm;
    assert_int_equal(rapt_adam_step(r->adam, r->tape, rapt_learning_rate(r->recipe, step, r->steps), scale, NULL), RAPT_OK);
    rapt_params_zero_grad(set);
    free(leaves);
    free(touched);
    free(sum);
}

/* A language model of text.txt whose steps take a millisecond; free it. */
static rapt_recipe small_recipe(const char *changes)
{
    rapt_recipe r;
    rapt_recipe_defaults(&r);
    set_all(&r, "task=language_model seed=7 data.text=text.txt data.validation_fraction=0.1 tokenizer.type=characters "
                "model.layers=1 model.d_model=16 model.heads=2 model.ffn=24 model.context=8 model.init=pytorch "
                "model.dropout=0 model.bias=true model.tied=false train.steps=24 train.batch=2 train.lr=0.01 train.warmup=0");
    set_all(&r, changes);
    return r;
}

static void steps_are_the_sums_of_passes(void **state)
{
    (void)state;
    put_texts();
    for (size_t v = 0; v < SHARD_RECIPES; v++) {
        rapt_recipe k = small_recipe(shard_recipes[v]);
        run one, other;
        rapt_train_options o = {.recipe = &k, .out = "one", .threads = 2};
        rapt_error err = {0};
        double lr;
        run_set_up(&one, &o, &err);
        o.out = "other";
        run_set_up(&other, &(rapt_train_options){.recipe = &k, .out = "other", .threads = 1}, &err);
        assert_string_equal(err.message, "");
        for (uint64_t step = 1; step <= 3; step++) {
            train_step(&one, &lr, &err);
            assert_string_equal(err.message, "");
            step_by_hand(&other, step);
        }
        for (size_t i = 0; i < rapt_params_count(one.model->params); i++) {
            const rapt_tensor *x = &rapt_params_at(one.model->params, i)->value;
            assert_equal_bits(x->name, rapt_tensor_size(x), rapt_params_at(other.model->params, i)->value.data, x->data);
        }
        run_free(&one);
        run_free(&other);
        rapt_recipe_free(&k);
        assert_int_equal(system("rm -rf one other"), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_the_tree),
        cmocka_unit_test(a_chain_is_another_sum),
        cmocka_unit_test(parts_are_subtrees),
        cmocka_unit_test_setup_teardown(steps_are_the_sums_of_passes, folder_enter, folder_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
