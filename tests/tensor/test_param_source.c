/* tests/tensor/test_param_source.c: values of parameters that come when they are first needed: which rows are read, once each,
 * also where threads ask at the same time; and tables of rotary positions, which are made so.
 * labels: threads */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "rapt/nn.h"
#include "tensor/packed_weights.h"
#include "tensor/panels.h"
#include "tensor/param_source.h"
#include "tensor/params.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define ROWS 1000
#define WIDTH 3
#define ASKERS 4

enum { STORED_ROWS = 200, STORED_WIDTH = 416 };

typedef struct asked {
    atomic_int times[ROWS];
    int left;
} asked;

static void tell_rows(const void *context, size_t first, size_t count, rapt_real *to)
{
    asked *a = (asked *)context;
    for (size_t i = 0; i < count; i++) {
        atomic_fetch_add(&a->times[first + i], 1);
        for (size_t j = 0; j < WIDTH; j++)
            to[i * WIDTH + j] = (rapt_real)(10 * (first + i) + j);
    }
}

static void note_left(const void *context)
{
    ((asked *)context)->left++;
}

typedef struct setting {
    rapt_params *set;
    rapt_param *p;
    asked a;
} setting;

static setting *new_setting(void)
{
    setting *s = test_calloc(1, sizeof *s);
    s->set = rapt_params_new(RAPT_SEED_UNSET, NULL);
    s->p = rapt_params_add(s->set, "p", 2, (size_t[]){ROWS, WIDTH}, (rapt_init){RAPT_INIT_ZEROS, 0});
    param_source_set(s->set, s->p, tell_rows, note_left, &s->a);
    assert_int_equal(rapt_params_error(s->set)->code, RAPT_OK);
    return s;
}

static void free_setting(setting *s)
{
    rapt_params_free(s->set);
    test_free(s);
}

static size_t rows_read(setting *s)
{
    size_t count = 0;
    for (size_t i = 0; i < ROWS; i++) {
        int times = atomic_load(&s->a.times[i]);
        assert_in_range(times, 0, 1);
        count += (size_t)times;
        for (size_t j = 0; times && j < WIDTH; j++)
            assert_true(s->p->value.data[i * WIDTH + j] == (rapt_real)(10 * i + j));
    }
    return count;
}

static void only_rows_that_are_asked_for(void **state)
{
    (void)state;
    setting *s = new_setting();
    rapt_real rows[2 * WIDTH];
    assert_true(param_has_source(s->p));
    params_sync(s->set, NULL); /* there is nothing to update */
    assert_int_equal(rows_read(s), 0);
    param_refresh_rows(s->p, NULL, (int32_t[]){5, 999, 5}, 3);
    assert_int_equal(rows_read(s), 2);
    param_source_rows(s->p, NULL, 4, 100);
    assert_int_equal(rows_read(s), 101);
    assert_int_equal(s->a.left, 0);
    assert_int_equal(atomic_load(&s->a.times[103]), 1);
    assert_int_equal(atomic_load(&s->a.times[104]), 0);
    assert_ptr_equal(rapt_params_at(s->set, 0), s->p);
    assert_int_equal(rows_read(s), ROWS);
    assert_int_equal(s->a.left, 1);
    param_source_read(s->p, 7, 2, rows);
    assert_true(rows[0] == 70 && rows[WIDTH + 1] == 81);
    param_source_leave(s->p);
    assert_int_equal(s->a.left, 2);
    free_setting(s);
}

static void *ask_for_rows(void *context)
{
    setting *s = context;
    pool *own = pool_new(2, NULL);
    for (int32_t i = 0; i < ROWS / 2; i++)
        param_refresh_rows(s->p, own, (int32_t[]){(i * 7) % ROWS, ROWS - 1 - i}, 2);
    param_refresh(s->p, own);
    pool_free(own);
    return NULL;
}

static void threads_ask_at_once(void **state)
{
    (void)state;
    setting *s = new_setting();
    pthread_t threads[ASKERS];
    for (size_t i = 0; i < ASKERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, ask_for_rows, s), 0);
    for (size_t i = 0; i < ASKERS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(rows_read(s), ROWS);
    free_setting(s);
}

/* Panels equal the values', but the values themselves are not fetched. */
static void packed_from_the_source(void **state)
{
    (void)state;
    setting *s = new_setting();
    pool *threads = pool_new(3, NULL);
    const kernels_gemm *gemm = &kernels_active(NULL)->gemm;
    packed_weights *p = packed_weights_new(s->set, gemm, false, NULL);
    assert_int_equal(s->a.left, 1);
    assert_int_equal(packed_weights_add(p, s->p, gemm, threads, NULL), RAPT_OK);
    assert_int_equal(s->a.left, 2);
    for (size_t i = 0; i < ROWS; i++)
        assert_int_equal(atomic_load(&s->a.times[i]), 1); /* each row once, and not by the parameter: */
    assert_true(packed_weights_add(p, s->p, gemm, threads, NULL) == RAPT_OK && s->a.left == 2);
    size_t size = panels_size(gemm, WIDTH, ROWS);
    rapt_real *want = aligned_alloc(KERNELS_ALIGN, (size * sizeof *want + KERNELS_ALIGN - 1) / KERNELS_ALIGN * KERNELS_ALIGN);
    panels_pack(gemm, WIDTH, ROWS, &(matrix){rapt_params_at(s->set, 0)->value.data, 1, WIDTH}, want);
    assert_int_equal(atomic_load(&s->a.times[ROWS / 2]), 2);
    assert_memory_equal(packed_weights_find(p, s->p, gemm)->panels, want, size * sizeof *want);
    free(want);
    packed_weights_free(p);
    pool_free(threads);
    free_setting(s);
}

/* Rows that are stored as blocks. */
typedef struct stored {
    uint8_t bytes[STORED_ROWS][STORED_WIDTH / 32 * 18];
    atomic_size_t read;
} stored;

static void stored_numbers(const void *context, size_t first, size_t count, rapt_real *to)
{
    stored *s = (stored *)(uintptr_t)context;
    atomic_fetch_add(&s->read, count);
    BLOCKS_Q4_0.read(count * STORED_WIDTH / 32, s->bytes[first], to);
}

static const void *stored_row(const void *context, size_t row)
{
    return ((const stored *)context)->bytes[row];
}

/* Kernels that take the blocks get them as they are; others get numbers. */
static void packed_from_blocks(void **state)
{
    (void)state;
    static stored blocks;
    static float numbers[STORED_ROWS * STORED_WIDTH];
    const kernels *k = kernels_active(NULL);
    const kernels_gemm *const gemms[] = {&k->quantized->q4_0, &k->quantized->q8_0};
    pool *threads = pool_new(3, NULL);
    for (size_t i = 0; i < STORED_ROWS * STORED_WIDTH; i++)
        numbers[i] = (float)((int)(i * 7919 % 2001) - 1000);
    BLOCKS_Q4_0.write(STORED_ROWS * STORED_WIDTH / 32, numbers, blocks.bytes);
    BLOCKS_Q4_0.read(STORED_ROWS * STORED_WIDTH / 32, blocks.bytes, numbers);
    for (size_t i = 0; i < 2; i++) {
        rapt_params *set = rapt_params_new(RAPT_SEED_UNSET, NULL);
        rapt_param *p = rapt_params_add(set, "w", 2, (size_t[]){STORED_ROWS, STORED_WIDTH}, (rapt_init){RAPT_INIT_ZEROS, 0});
        packed_weights *packed = packed_weights_new(set, gemms[i], false, NULL);
        param_source_set(set, p, stored_numbers, NULL, &blocks);
        param_source_set_blocks(p, &BLOCKS_Q4_0, stored_row);
        blocks.read = 0;
        assert_int_equal(packed_weights_add(packed, p, gemms[i], threads, NULL), RAPT_OK);
        assert_int_equal(blocks.read, i == 0 ? 0 : STORED_ROWS);
        const size_t size = panels_size(gemms[i], STORED_WIDTH, STORED_ROWS) * sizeof(rapt_real);
        rapt_real *want = aligned_alloc(KERNELS_ALIGN, (size + KERNELS_ALIGN - 1) / KERNELS_ALIGN * KERNELS_ALIGN);
        panels_pack(gemms[i], STORED_WIDTH, STORED_ROWS, &(matrix){numbers, 1, STORED_WIDTH}, want);
        assert_memory_equal(packed_weights_find(packed, p, gemms[i])->panels, want, size);
        free(want);
        packed_weights_free(packed);
        rapt_params_free(set);
    }
    pool_free(threads);
}

/* One of a model that was loaded has the values of one that is made at once. */
static void rotary_tables(void **state)
{
    enum { POSITIONS = 300, D = 6 };
    const rapt_rotary_scaling scaling = {.kind = RAPT_ROTARY_LLAMA3, .factor = 8, .low_factor = 1, .high_factor = 4,
                                         .original = 64, .fp32 = true};
    (void)state;
    for (int scaled = 0; scaled < 2; scaled++) {
        rapt_params *now = rapt_params_new(1, NULL), *later = rapt_params_new(RAPT_SEED_UNSET, NULL);
        const rapt_param *want = rapt_rotary_init_scaled(now, "r", POSITIONS, D, 500, scaled ? &scaling : NULL);
        rapt_param *got = rapt_rotary_init_scaled(later, "r", POSITIONS, D, 500, scaled ? &scaling : NULL);
        param_source_rows(got, NULL, 200, 17);
        assert_memory_equal(got->value.data + (size_t)200 * D, want->value.data + (size_t)200 * D, 17 * D * sizeof(rapt_real));
        assert_ptr_equal(rapt_params_find(later, "r"), got);
        assert_memory_equal(got->value.data, want->value.data, (size_t)POSITIONS * D * sizeof(rapt_real));
        rapt_params_free(now);
        rapt_params_free(later);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_rows_that_are_asked_for),
        cmocka_unit_test(threads_ask_at_once),
        cmocka_unit_test(packed_from_the_source),
        cmocka_unit_test(packed_from_blocks),
        cmocka_unit_test(rotary_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
