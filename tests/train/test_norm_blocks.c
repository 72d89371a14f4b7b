/* tests/train/test_norm_blocks.c: what processes compute of blocks that they own, put together, has the bits of rapt_grad_norm
 * and rapt_adam_step; gradients of other blocks are not read, their parameters not written, and their moments take no
 * memory.
 * labels: threads levels */
#define _GNU_SOURCE
#define SERIAL_WORK 1 /* loops of any size go to the threads */
#include "base/pool.c" /* this copy takes the place of the library's */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/rng.h"
#include "options.h"
#include "train/adam_steps.h"
#include "train/optimizer/adam_owned.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define STEPS 4
#define MOST_PROCESSES 3
#define SPARSE 2 /* the number of that parameter */
#define IDLE 5   /* has no gradient in every other step */

static const rapt_adam_options OPTIONS = {ADAM_DEFAULTS, .beta2 = 0.99, .weight_decay = 0.1};

/* A process, or the one that makes the whole step. */
typedef struct process {
    rapt_params *set;
    rapt_adam *adam;
    rapt_tape *t;
    uint8_t *owned;
} process;

/* Slices of several blocks, blocks of one row, of rows that leave a rest, and vectors. */
static rapt_params *some_parameters(void)
{
    rapt_params *set = rapt_params_new(7, NULL);
    const rapt_init init = {RAPT_INIT_UNIFORM, 1};
    rapt_params_add(set, "long", 2, (size_t[]){700, 130}, init);
    rapt_params_add(set, "vector", 1, (size_t[]){20011}, init);
    rapt_param_make_sparse(set, rapt_params_add(set, "sparse", 2, (size_t[]){3000, 33}, init));
    rapt_params_add(set, "wide", 2, (size_t[]){5, 9001}, init);
    rapt_params_add(set, "frozen", 1, (size_t[]){9}, init);
    rapt_params_add(set, "idle", 2, (size_t[]){300, 77}, init);
    rapt_param_make_buffer(rapt_params_add(set, "buffer", 1, (size_t[]){9}, init), true);
    rapt_params_add(set, "cube", 3, (size_t[]){9, 70, 50}, init);
    rapt_params_add(set, "tiny", 1, (size_t[]){1}, init);
    rapt_params_freeze(set, "frozen");
    assert_int_equal(rapt_params_error(set)->code, RAPT_OK);
    return set;
}

static bool has_gradient_in(size_t param, const rapt_param *p, size_t step)
{
    return !p->buffer && !p->frozen && !(param == IDLE && step % 2 == 0);
}

/* Gradients of a step: few rows of the sparse parameter, all elements of the others. */
static void draw_gradients(rapt_params *set, size_t step)
{
    rapt_params_zero_grad(set);
    for (size_t i = 0; i < rapt_params_count(set); i++) {
        rapt_param *p = rapt_params_at(set, i);
        if (!has_gradient_in(i, p, step))
            continue;
        size_t width = norm_block_width(p), rows = rapt_tensor_size(&p->value) / width;
        for (size_t row = 0; row < rows; row++) {
            uint64_t key = rng_mix(step, rng_mix(i, row));
            if (p->sparse && rng_below(key, 0, 40) > 0)
                continue;
            if (p->sparse)
                p->state->row_used[row] = 1;
            for (size_t j = 0; j < width; j++)
                p->value.grad[row * width + j] = (rapt_real)(rng_uniform(key, 1 + j) - 0.5);
        }
        p->value.grad_filled = true;
    }
}

static process process_new(bool shares, int threads, const norm_blocks *b, int rank, int count)
{
    process x = {.set = some_parameters(), .t = new_tape(NULL, threads), .owned = calloc(b->count, 1)};
    x.adam = shares ? adam_owned_new(x.set, (optimizer_options){.adam = &OPTIONS}, NULL) : rapt_adam_new(x.set, &OPTIONS, NULL);
    assert_non_null(x.adam);
    for (size_t i = 0; i < b->count; i++) /* runs of blocks of any length, as buckets have them */
        x.owned[i] = (int)(rng_below(3, i / 3, (uint64_t)count)) == rank;
    rapt_tape_begin(x.t, (rapt_pass){0});
    return x;
}

static void process_free(process *x)
{
    rapt_adam_free(x->adam);
    rapt_params_free(x->set);
    rapt_tape_free(x->t);
    free(x->owned);
}

/* What a process does not own is neither read nor written: NaN would spread. */
static void spoil_others(process *x, const norm_blocks *b)
{
    for (size_t i = 0; i < b->count; i++) {
        rapt_tensor *v = &rapt_params_at(x->set, b->list[i].param)->value;
        size_t width = norm_block_width(rapt_params_at(x->set, b->list[i].param));
        for (size_t j = 0; !x->owned[i] && j < b->list[i].rows * width; j++)
            v->grad[b->list[i].first * width + j] = (rapt_real)NAN;
    }
}

/* Every process gets the blocks of their owners. */
static void put_together(process *x, int count, const norm_blocks *b)
{
    for (size_t i = 0; i < b->count; i++) {
        int owner = 0;
        while (!x[owner].owned[i])
            owner++;
        const rapt_param *p = rapt_params_at(x[owner].set, b->list[i].param);
        size_t from = b->list[i].first * norm_block_width(p), n = b->list[i].rows * norm_block_width(p);
        for (int other = 0; other < count; other++) {
            rapt_real *to = rapt_params_at(x[other].set, b->list[i].param)->value.data + from;
            if (other == owner)
                continue;
            assert_false(isnan(to[0]) || isnan(to[n - 1])); /* it was not moved there */
            memcpy(to, p->value.data + from, n * sizeof *to);
        }
    }
}

static void check_moments(const process *whole, process *x, const norm_blocks *b)
{
    for (size_t i = 0; i < b->count; i++) {
        size_t p = b->list[i].param, width = norm_block_width(rapt_params_at(x->set, p));
        size_t from = b->list[i].first * width, n = b->list[i].rows * width;
        if (!x->owned[i])
            continue;
        same("a first moment", n, rapt_adam_first_moment(whole->adam, p) + from, rapt_adam_first_moment(x->adam, p) + from);
        same("a second moment", n, rapt_adam_second_moment(whole->adam, p) + from, rapt_adam_second_moment(x->adam, p) + from);
    }
    size_t n = rapt_tensor_size(&rapt_params_at(x->set, SPARSE)->value);
    same("a sparse moment", n, rapt_adam_second_moment(whole->adam, SPARSE), rapt_adam_second_moment(x->adam, SPARSE));
}

/* A whole step for the blocks with owned[i] (NULL: all of them), a few at a time. */
static rapt_code step_owned(rapt_adam *a, rapt_tape *t, double lr, double grad_scale, const norm_blocks *b, const uint8_t *owned,
                            rapt_error *err)
{
    adam_owned s;
    uint32_t list[7];
    size_t count = 0;
    rapt_code code = adam_owned_begin(&s, a, t, lr, grad_scale, b, err);
    for (size_t i = 0; i < b->count && !code; i++) {
        if (!owned || owned[i])
            list[count++] = (uint32_t)i;
        if (count == sizeof list / sizeof *list || i + 1 == b->count) {
            adam_owned_move(&s, list, count);
            count = 0;
        }
    }
    return code;
}

static void step_of_processes(const process *whole, process *x, int count, const norm_blocks *b, size_t s)
{
    double *sums = calloc(b->count, sizeof *sums);
    draw_gradients(whole->set, s);
    double norm = rapt_grad_norm(whole->t, whole->set), lr = 0.01 / (double)s;
    for (int r = 0; r < count; r++) {
        draw_gradients(x[r].set, s);
        spoil_others(&x[r], b);
        norm_blocks_sum(x[r].t, x[r].set, b, x[r].owned, sums);
    }
    for (int r = 0; r < count; r++) {
        assert_true(norm_blocks_norm(x[r].t, x[r].set, b, sums) == norm);
        assert_int_equal(step_owned(x[r].adam, x[r].t, lr, 1 / norm, b, x[r].owned, NULL), RAPT_OK);
        assert_int_equal(rapt_adam_steps(x[r].adam), s);
    }
    step(whole->adam, whole->t, lr, 1 / norm);
    put_together(x, count, b);
    free(sums);
}

static void processes_step_as_one(int count, int threads)
{
    rapt_params *set = some_parameters();
    norm_blocks b;
    process x[MOST_PROCESSES];
    assert_int_equal(norm_blocks_make(&b, set, NULL), RAPT_OK);
    process whole = process_new(false, 2, &b, 0, 1);
    for (int r = 0; r < count; r++)
        x[r] = process_new(true, threads, &b, r, count);
    for (size_t s = 1; s <= STEPS; s++) {
        step_of_processes(&whole, x, count, &b, s);
        for (int r = 0; r < count; r++)
            for (size_t i = 0; i < rapt_params_count(set); i++) {
                const rapt_tensor *want = &rapt_params_at(whole.set, i)->value;
                same(want->name, rapt_tensor_size(want), want->data, rapt_params_at(x[r].set, i)->value.data);
            }
    }
    for (int r = 0; r < count; r++) {
        check_moments(&whole, &x[r], &b);
        process_free(&x[r]);
    }
    process_free(&whole);
    norm_blocks_free(&b);
    rapt_params_free(set);
}

static void test_steps(void **state)
{
    (void)state;
    for (int count = 1; count <= MOST_PROCESSES; count++)
        for (int threads = 1; threads <= 3; threads++)
            processes_step_as_one(count, threads);
}

/* Rows in order, without gaps, each in one block. */
static void test_blocks_cover_parameters(void **state)
{
    (void)state;
    rapt_params *set = some_parameters();
    norm_blocks b;
    assert_int_equal(norm_blocks_make(&b, set, NULL), RAPT_OK);
    size_t i = 0;
    for (size_t p = 0; p < rapt_params_count(set); p++) {
        const rapt_param *param = rapt_params_at(set, p);
        size_t row = 0, width = norm_block_width(param);
        for (; i < b.count && b.list[i].param == p; row += b.list[i++].rows) {
            assert_int_equal(b.list[i].first, row);
            assert_true(b.list[i].rows == 1 || b.list[i].rows * width <= 8192);
        }
        bool shared = !param->buffer && !param->frozen && !param->sparse;
        assert_int_equal(row, shared ? rapt_tensor_size(&param->value) / width : 0);
    }
    assert_int_equal(i, b.count);
    norm_blocks_free(&b);
    rapt_params_free(set);
}

static void test_deferred_gradients_are_refused(void **state)
{
    (void)state;
    rapt_error err = {0};
    norm_blocks b;
    rapt_tape *t = new_tape(NULL, 1);
    rapt_params *set = some_parameters();
    rapt_adam *adam = adam_owned_new(set, (optimizer_options){.adam = &OPTIONS}, NULL);
    assert_int_equal(norm_blocks_make(&b, set, NULL), RAPT_OK);
    rapt_tape_begin(t, (rapt_pass){0});
    rapt_params_at(set, 0)->state->deferred.dy = rapt_params_at(set, 0)->value.data;
    assert_int_equal(step_owned(adam, t, 0.1, 1, &b, NULL, &err), RAPT_ERR_VALUE);
    assert_non_null(strstr(err.message, "long"));
    assert_int_equal(rapt_adam_steps(adam), 0);
    rapt_adam_free(adam);
    norm_blocks_free(&b);
    rapt_params_free(set);
    rapt_tape_free(t);
}

/* ---- memory -------------------------------------------------------------------------------------------------- */

#define PART 4 /* of the blocks are owned, at the end */

/* The resident pages of `bytes` bytes from `from` on; no page of it is read before. */
static size_t resident_pages(const void *from, size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), first = (uintptr_t)from / page * page, resident = 0;
    size_t count = ((uintptr_t)from + bytes - first + page - 1) / page;
    unsigned char *in_core = malloc(count);
    assert_int_equal(mincore((void *)first, count * page, in_core), 0); /* NOLINT: the page that an address is in */
    for (size_t i = 0; i < count; i++)
        resident += in_core[i] & 1;
    free(in_core);
    return resident;
}

/* Pages that both moments take after two steps, of those that they would take whole. */
static size_t pages_after_steps(bool in_part, size_t *whole)
{
    rapt_params *set = rapt_params_new(1, NULL);
    rapt_param *p = rapt_params_add(set, "w", 2, (size_t[]){4096, 1024}, (rapt_init){RAPT_INIT_ZEROS, 0});
    size_t bytes = rapt_tensor_size(&p->value) * sizeof(rapt_real);
    norm_blocks b;
    rapt_tape *t = new_tape(NULL, 2);
    rapt_adam *adam = adam_owned_new(set, (optimizer_options){.adam = &OPTIONS}, NULL);
    assert_int_equal(norm_blocks_make(&b, set, NULL), RAPT_OK);
    uint8_t *owned = calloc(b.count, 1);
    memset(owned + b.count - b.count / PART, 1, b.count / PART);
    memset(p->value.grad, 1, bytes);
    rapt_tape_begin(t, (rapt_pass){0});
    for (int i = 0; i < 2; i++) {
        p->value.grad_filled = true;
        assert_int_equal(step_owned(adam, t, 0.1, 1, &b, in_part ? owned : NULL, NULL), RAPT_OK);
    }
    size_t pages = resident_pages(rapt_adam_first_moment(adam, 0), bytes) +
                   resident_pages(rapt_adam_second_moment(adam, 0), bytes);
    *whole = 2 * bytes / (size_t)sysconf(_SC_PAGESIZE);
    free(owned);
    rapt_adam_free(adam);
    norm_blocks_free(&b);
    rapt_params_free(set);
    rapt_tape_free(t);
    return pages;
}

static void test_other_moments_take_no_memory(void **state)
{
    (void)state;
    size_t whole;
    assert_true(pages_after_steps(false, &whole) >= whole); /* else this counts nothing */
    size_t pages = pages_after_steps(true, &whole);
    if (pages < whole / PART || pages > whole / PART + 4)
        fail_msg("moments take %zu pages, a part of 1 in %d of %zu", pages, PART, whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_blocks_cover_parameters),
        cmocka_unit_test(test_deferred_gradients_are_refused),
        cmocka_unit_test(test_other_moments_take_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
