/* tests/tensor/test_quantized.c: products of weights of 8 to 4 bits in blocks (q8_0, q4_0, q4_k ...) against their definition in
 * docs/number-format.md, written down here as loops: the same bits for any level, number of threads, and rows beside; weights
 * from numbers, and from blocks as GGUF stores them.
 * labels: not-raced each-level arm-first sanitized-late */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define LEVELS_QUANTIZED
#include "tensor/gemm.h"

#include "aligned.h"
#include "base/rng.h"
#include "levels.h"
#include "tensor/param_source.h"

#include <math.h>
#include <stdlib.h>

enum { BLOCK = 32, SUPER_BLOCK = 256 };
enum { SHAPES = 28, EXTREME = 26 }; /* keys of products; from EXTREME on their integers are the greatest */

/* ---- the definition --------------------------------------------------------------------------------------------- */

typedef struct rounded {
    float scale, minimum; /* minimum: is subtracted */
    float second;         /* the scale of values 16 to 31, of Q6_K */
    int values[BLOCK];
} rounded;

static float largest_of(const float *x)
{
    float most = 0;
    for (int i = 0; i < BLOCK; i++)
        most = fmaxf(most, fabsf(x[i]));
    return most;
}

static rounded activations(const float *x)
{
    const float most = largest_of(x);
    rounded r = {.scale = most < 0x1p-96f ? 0 : most / 127};
    for (int i = 0; i < BLOCK && most >= 0x1p-96f; i++)
        r.values[i] = (int)nearbyintf(x[i] * (127 / most));
    return r;
}

/* The nearest number of 11 binary digits, 2^-24 apart at least. */
static float half(float x)
{
    int exponent;
    frexpf(x, &exponent);
    const float unit = ldexpf(1, exponent - 11 > -24 ? exponent - 11 : -24);
    return nearbyintf(x / unit) * unit;
}

static rounded round_to_8_bits(const float *x)
{
    const float scale = largest_of(x) / 127;
    rounded r = {.scale = half(scale)};
    for (int i = 0; i < BLOCK && scale > 0; i++)
        r.values[i] = (int)roundf(x[i] * (1 / scale));
    return r;
}

static rounded round_to_4_bits(const float *x)
{
    float most = 0;
    for (int i = 0; i < BLOCK; i++)
        most = fabsf(x[i]) > fabsf(most) ? x[i] : most;
    const float scale = most / -8;
    rounded r = {.scale = half(scale)};
    for (int i = 0; i < BLOCK && scale != 0; i++)
        r.values[i] = (int)fminf(15, truncf(x[i] * (1 / scale) + 8.5f)) - 8;
    return r;
}

/* ---- blocks of files ---------------------------------------------------------------------------------------------- */

static float half_at(const uint8_t *bytes)
{
    const int bits = bytes[0] | bytes[1] << 8, exponent = bits >> 10 & 31, fraction = bits & 1023;
    const float x = exponent ? ldexpf((float)(1024 + fraction), exponent - 25) : ldexpf((float)fraction, -24);
    return bits & 0x8000 ? -x : x;
}

static rounded read_q8_0(const uint8_t *row, size_t at)
{
    const uint8_t *block = row + at * 34;
    rounded r = {.scale = half_at(block)};
    for (int i = 0; i < BLOCK; i++)
        r.values[i] = (int8_t)block[2 + i];
    return r;
}

static rounded read_q4_0(const uint8_t *row, size_t at)
{
    const uint8_t *block = row + at * 18;
    rounded r = {.scale = half_at(block)};
    for (int i = 0; i < BLOCK; i++)
        r.values[i] = (block[2 + i % 16] >> (i < 16 ? 0 : 4) & 15) - 8;
    return r;
}

static rounded read_q5_0(const uint8_t *row, size_t at)
{
    const uint8_t *block = row + at * 22;
    rounded r = {.scale = half_at(block)};
    for (int i = 0; i < BLOCK; i++)
        r.values[i] = ((block[6 + i % 16] >> (i < 16 ? 0 : 4) & 15) | (block[2 + i / 8] >> i % 8 & 1) << 4) - 16;
    return r;
}

/* Scales of a block of Q4_K or Q5_K, without the values. */
static rounded read_scales(const uint8_t *all, size_t j)
{
    const uint8_t *s = all + 4;
    const int scale = j < 4 ? s[j] & 63 : (s[j + 4] & 15) | s[j - 4] >> 6 << 4;
    const int minimum = j < 4 ? s[j + 4] & 63 : s[j + 4] >> 4 | s[j] >> 6 << 4;
    return (rounded){.scale = half_at(all) * (float)scale, .minimum = half_at(all + 2) * (float)minimum};
}

static rounded read_q4_k(const uint8_t *row, size_t at)
{
    const uint8_t *all = row + at / 8 * 144;
    const size_t j = at % 8;
    rounded r = read_scales(all, j);
    for (int i = 0; i < BLOCK; i++)
        r.values[i] = all[16 + 32 * (j / 2) + (size_t)i] >> (j % 2 ? 4 : 0) & 15;
    return r;
}

static rounded read_q5_k(const uint8_t *row, size_t at)
{
    const uint8_t *all = row + at / 8 * 176;
    const size_t j = at % 8;
    rounded r = read_scales(all, j);
    for (size_t i = 0; i < BLOCK; i++)
        r.values[i] = (all[48 + 32 * (j / 2) + i] >> (j % 2 ? 4 : 0) & 15) + 16 * (all[16 + i] >> j & 1);
    return r;
}

static rounded read_q6_k(const uint8_t *row, size_t at)
{
    const uint8_t *all = row + at / 8 * 210;
    const size_t n = at % 8 / 4, j = at % 4;
    const float d = half_at(all + 208);
    const int8_t *scales = (const int8_t *)all + 192 + 8 * n + 2 * j;
    rounded r = {.scale = d * (float)scales[0], .second = d * (float)scales[1]};
    for (size_t i = 0; i < BLOCK; i++)
        r.values[i] = (all[64 * n + 32 * (j % 2) + i] >> (j < 2 ? 0 : 4) & 15) + 16 * (all[128 + 32 * n + i] >> 2 * j & 3) - 32;
    return r;
}

/* A type of weights: how numbers are rounded to it, or how blocks of a file are read. */
typedef struct weight_type {
    const char *name;
    rounded (*round)(const float *x);
    rounded (*read)(const uint8_t *row, size_t at);
    int format;
    size_t block, bytes, scale; /* bytes of a block, and the place of its scale in them */
    int scales;                 /* 2: another one follows */
} weight_type;

static const weight_type TYPES[] = {{"q8_0", round_to_8_bits, NULL, 0, 0, 0, 0, 0},
                                    {"q4_0", round_to_4_bits, NULL, 0, 0, 0, 0, 0},
                                    {"stored Q8_0", NULL, read_q8_0, KERNELS_Q8_0, 32, 34, 0, 1},
                                    {"stored Q5_0", NULL, read_q5_0, KERNELS_Q5_0, 32, 22, 0, 1},
                                    {"stored Q4_0", NULL, read_q4_0, KERNELS_Q4_0, 32, 18, 0, 1},
                                    {"stored Q4_K", NULL, read_q4_k, KERNELS_Q4_K, SUPER_BLOCK, 144, 0, 2},
                                    {"stored Q5_K", NULL, read_q5_k, KERNELS_Q5_K, SUPER_BLOCK, 176, 0, 2},
                                    {"stored Q6_K", NULL, read_q6_k, KERNELS_Q6_K, SUPER_BLOCK, 210, 208, 1}};
enum { TYPE_COUNT = sizeof TYPES / sizeof *TYPES, STORED_Q8_0 = 2 };

static const kernels_gemm *gemm_of(const kernels *k, const weight_type *type)
{
    const kernels_quantized *q = k->quantized;
    const kernels_gemm *const stored[] = {[KERNELS_Q4_0] = &q->q4_0, [KERNELS_Q5_0] = &q->q8_0, [KERNELS_Q8_0] = &q->q8_0,
                                          [KERNELS_Q4_K] = &q->q4_k, [KERNELS_Q5_K] = &q->q5_k, [KERNELS_Q6_K] = &q->q6_k};
    if (type->round)
        return type->round == round_to_8_bits ? &q->q8_0 : &q->q4_0;
    return stored[type->format];
}

/* Elements k0 .. k0 + 31 of a row of k, zeros behind them. */
static void block_of(const float *row, size_t k0, size_t k, float *to)
{
    for (size_t i = 0; i < BLOCK; i++)
        to[i] = k0 + i < k ? row[k0 + i] : 0;
}

static rounded block_of_weights(const weight_type *type, const void *w, size_t k0, size_t k)
{
    float numbers[BLOCK];
    if (type->read)
        return type->read(w, k0 / BLOCK);
    block_of(w, k0, k, numbers);
    return type->round(numbers);
}

/* Rows a [k] and w [k]: their product, from where *c is. */
static void multiply(const weight_type *type, const float *a, const void *w, size_t k, bool accumulate, const float *bias,
                     float *c)
{
    for (size_t k0 = 0; k0 < k; k0 += KERNELS_K_BLOCK) {
        float sum = 0;
        for (size_t b = k0; b < k && b < k0 + KERNELS_K_BLOCK; b += BLOCK) {
            float x[BLOCK];
            int products[2] = {0}, total = 0; /* of either half of the block */
            block_of(a, b, k, x);
            const rounded p = activations(x), q = block_of_weights(type, w, b, k);
            for (int i = 0; i < BLOCK; i++) {
                products[i / 16] += p.values[i] * q.values[i];
                total += p.values[i];
            }
            if (type->format == KERNELS_Q6_K) {
                sum = fmaf(q.scale * p.scale, (float)products[0], sum);
                sum = fmaf(q.second * p.scale, (float)products[1], sum);
            } else
                sum = fmaf(q.scale * p.scale, (float)(products[0] + products[1]), sum);
            if (type->scales == 2)
                sum = fmaf(q.minimum * p.scale, (float)-total, sum);
        }
        *c = k0 > 0 || accumulate ? *c + sum : sum;
    }
    *c = bias ? *c + *bias : *c;
}

/* ---- products ---------------------------------------------------------------------------------------------------- */

typedef struct product {
    const weight_type *type;
    size_t m, n, k;
    bool accumulates;
    float *a, *w, *bias, *start, *want, *c; /* w [n, k] */
    uint8_t *blocks;                        /* [n][row_bytes], in place of w */
    size_t row_bytes;
} product;

/* Numbers whose magnitudes differ a lot between blocks; some blocks are zeros, and some products are ties. */
static float *numbers(size_t count, uint64_t key)
{
    float *x = aligned(count);
    for (size_t i = 0; i < count; i++) {
        const int kind = (int)rng_below(key, 2 * (i / 29), 9);
        const float value = (float)(2 * rng_uniform(key, 2 * i + 1) - 1);
        x[i] = kind == 0 ? 0 : kind == 1 ? rintf(254 * value) / 2 : ldexpf(value, 3 * kind - 16);
    }
    return x;
}

/* Any bytes, or the greatest integers of all, but for scales, which are finite. */
static void make_blocks(product *p, uint64_t key, bool extreme)
{
    p->row_bytes = p->k / p->type->block * p->type->bytes;
    p->blocks = malloc(p->n * p->row_bytes);
    assert_non_null(p->blocks);
    for (size_t i = 0; i < p->n * p->row_bytes; i++)
        p->blocks[i] = extreme ? 0xff : (uint8_t)rng_below(key, i, 256);
    for (size_t i = p->type->scale; i < p->n * p->row_bytes; i += p->type->bytes)
        for (int j = 0; j < p->type->scales; j++)
            p->blocks[i + 1 + 2 * (size_t)j] &= 0xbf;
}

static const void *row_of_weights(const product *p, size_t j)
{
    return p->blocks ? (const void *)(p->blocks + j * p->row_bytes) : p->w + j * p->k;
}

static product product_new(const weight_type *type, uint64_t key)
{
    static const size_t ks[] = {1, 31, 32, 33, 64, 65, 96, 200, 384, 385, 416, 768, 800};
    product p = {.type = type, .m = 1 + (size_t)rng_below(key, 0, key % 3 ? 20 : 90), .n = 1 + (size_t)rng_below(key, 1, 150),
                 .k = ks[key % 13], .accumulates = key % 5 == 0};
    if (type->read)
        p.k = (p.k + type->block - 1) / type->block * type->block;
    p.a = numbers(p.m * p.k, key + 100);
    for (size_t i = 0; i < p.m * p.k && key >= EXTREME; i++)
        p.a[i] = i / p.k % 2 ? -1 : 1; /* 127 after rounding: sums of 16 bits would overflow here first */
    p.w = numbers(p.n * p.k, key + 200);
    p.bias = numbers(p.n, key + 300);
    p.start = numbers(p.m * p.n, key + 400);
    p.want = aligned(p.m * p.n);
    p.c = aligned(p.m * p.n);
    if (type->read)
        make_blocks(&p, key + 500, key >= EXTREME);
    for (size_t i = 0; i < p.m; i++)
        for (size_t j = 0; j < p.n; j++) {
            p.want[i * p.n + j] = p.start[i * p.n + j];
            multiply(type, p.a + i * p.k, row_of_weights(&p, j), p.k, p.accumulates, p.bias + j, &p.want[i * p.n + j]);
        }
    return p;
}

static void product_free(product *p)
{
    float *all[] = {p->a, p->w, p->bias, p->start, p->want, p->c};
    for (size_t i = 0; i < 6; i++)
        free(all[i]);
    free(p->blocks);
}

static void pack_weights(const product *p, const kernels_gemm *gemm, float *panels)
{
    const uint8_t **rows = calloc(p->n, sizeof *rows);
    assert_non_null(rows);
    for (size_t j = 0; j < p->n; j++)
        rows[j] = row_of_weights(p, j);
    if (p->blocks)
        panels_pack_stored(gemm, p->k, p->n, 0, p->n, p->type->format, rows, panels);
    else
        panels_pack(gemm, p->k, p->n, &(matrix){p->w, 1, (ptrdiff_t)p->k}, panels);
    free(rows);
}

/* A param_blocks_fn. */
static const void *blocks_of_row(const void *context, size_t row)
{
    return row_of_weights(context, row);
}

/* The weights, which are blocks, as a parameter of a set. */
static const rapt_param *parameter(const product *p, rapt_params *set)
{
    rapt_param *w = rapt_params_add(set, "w", 2, (const size_t[]){p->n, p->k}, (rapt_init){RAPT_INIT_ZEROS, 0});
    param_source_set(set, w, NULL, NULL, p);
    param_source_set_blocks(w, blocks_of_id(p->type->format), blocks_of_row);
    return w;
}

enum { AS_NUMBERS, PACKED, STORED }; /* how a product gets its weights; STORED: gemm_job.stored */

/* Rows first .. first + m - 1. */
static void run(const product *p, const gemm_team *team, size_t first, size_t m, int how)
{
    rapt_error err = {0};
    const matrix w = {p->w, 1, (ptrdiff_t)p->k};
    float *panels = how == PACKED ? aligned(panels_size(team->gemm, p->k, p->n)) : NULL;
    rapt_params *set = how == STORED ? rapt_params_new(RAPT_SEED_UNSET, &err) : NULL;
    if (how == PACKED)
        pack_weights(p, team->gemm, panels);
    memcpy(p->c, p->start, p->m * p->n * sizeof *p->c);
    gemm(team, &(gemm_job){.m = m, .n = p->n, .k = p->k, .a = {p->a + first * p->k, (ptrdiff_t)p->k, 1}, .b = w,
                           .packed = panels, .stored = set ? parameter(p, set) : NULL, .c = p->c + first * p->n,
                           .epilogue = {.accumulate = p->accumulates, .bias = p->bias}});
    if (memcmp(p->c + first * p->n, p->want + first * p->n, m * p->n * sizeof *p->c) != 0)
        fail_msg("%s, %s: rows %zu to %zu of [%zu, %zu] of %zu products are others: %d", team->kernels->name, p->type->name,
                 first, first + m, p->m, p->n, p->k, how);
    free(panels);
    rapt_params_free(set);
}

enum { TEAMS = 3 }; /* of 1, 2 and 3 threads */

static void check_type(const weight_type *type, gemm_team *teams)
{
    for (uint64_t key = 0; key < SHAPES; key++) {
        product p = product_new(type, key);
        for (size_t i = 0; i < TEAMS; i++) {
            teams[i].gemm = gemm_of(teams[i].kernels, type);
            assert_true(kernels_packed_count(teams[i].gemm, KERNELS_K_BLOCK) <= GEMM_PIECE_ROW);
            run(&p, &teams[i], 0, p.m, PACKED);
            run(&p, &teams[i], p.m / 2, 1, PACKED); /* alone: the same as beside others */
            run(&p, &teams[i], 0, p.m, p.blocks ? STORED : AS_NUMBERS);
            if (p.blocks)
                run(&p, &teams[i], p.m / 2, 1, STORED);
        }
        product_free(&p);
    }
}

static void products_are_as_defined(void **state)
{
    rapt_error err = {0};
    const kernels *k = kernels_of_isa(levels_wanted(state), &err);
    gemm_team teams[TEAMS];
    for (int i = 0; i < TEAMS; i++)
        teams[i] = (gemm_team){NULL, k, pool_new(i + 1, &err), aligned(gemm_workspace_size(i + 1))};
    for (size_t i = 0; i < TYPE_COUNT; i++)
        check_type(&TYPES[i], teams);
    for (size_t i = 0; i < TEAMS; i++) {
        free(teams[i].workspace);
        pool_free(teams[i].pool);
    }
}

/* More columns than a thread packs at once; ReLU. */
static void wide_products_are_as_defined(void **state)
{
    rapt_error err = {0};
    const kernels *k = kernels_of_isa(levels_wanted(state), &err);
    enum { M = 3, N = 3100, K = 400 };
    float *a = numbers(M * K, 1), *w = numbers(N * K, 2), *c = aligned(M * N);
    for (int threads = 1; threads <= 3; threads++) {
        pool *threads_of = pool_new(threads, &err);
        const gemm_team team = {&k->quantized->q8_0, k, threads_of, aligned(gemm_workspace_size(threads))};
        const gemm_job job = {.m = M, .n = N, .k = K, .a = {a, K, 1}, .b = {w, 1, K}, .c = c, .epilogue.relu = true};
        gemm(&team, &job);
        for (size_t i = 0; i < M * N; i++) {
            float want;
            multiply(&TYPES[0], a + i / N * K, w + i % N * K, K, false, NULL, &want);
            if (c[i] != (want > 0 ? want : 0))
                fail_msg("element %zu: %g, not %g", i, (double)c[i], (double)want);
        }
        free(team.workspace);
        pool_free(threads_of);
    }
    free(a);
    free(w);
    free(c);
}

/* More rows than can be rounded before the tasks, times stored blocks: what few rows at a time have. */
static void many_rows_are_as_few(void **state)
{
    rapt_error err = {0};
    const kernels *k = kernels_of_isa(levels_wanted(state), &err);
    enum { M = 2900, N = 70, K = 1600, FEW = 50 };
    product p = {.type = &TYPES[STORED_Q8_0], .m = M, .n = N, .k = K, .a = numbers(M * K, 1)};
    float *all = aligned(M * N), *few = aligned(M * N);
    rapt_params *set = rapt_params_new(RAPT_SEED_UNSET, &err);
    make_blocks(&p, 2, false);
    const rapt_param *w = parameter(&p, set);
    for (int threads = 1; threads <= 2; threads++) {
        pool *threads_of = pool_new(threads, &err);
        const gemm_team team = {&k->quantized->q8_0, k, threads_of, aligned(gemm_workspace_size(threads))};
        gemm_job job = {.m = M, .n = N, .k = K, .a = {p.a, K, 1}, .stored = w, .c = all};
        assert_true(M * (size_t)team.gemm->a_row * ((K + KERNELS_K_BLOCK - 1) / KERNELS_K_BLOCK) > gemm_workspace_size(threads));
        gemm(&team, &job);
        for (size_t i = 0; i < M; i += FEW) {
            job = (gemm_job){.m = FEW, .n = N, .k = K, .a = {p.a + i * K, K, 1}, .stored = w, .c = few + i * N};
            gemm(&team, &job);
        }
        assert_memory_equal(all, few, M * N * sizeof *all);
        free(team.workspace);
        pool_free(threads_of);
    }
    rapt_params_free(set);
    free(p.a);
    free(p.blocks);
    free(all);
    free(few);
}

/* A number that is not finite is seen in all that it is multiplied with, and nowhere else. */
static void check_not_finite(const weight_type *type, gemm_team team)
{
    const float bad[] = {NAN, INFINITY, -INFINITY};
    team.gemm = gemm_of(team.kernels, type);
    for (size_t i = 0; i < 6; i++) {
        product p = product_new(type, 8);
        const size_t row = p.m / 2, column = p.n / 2;
        *(i < 3 ? &p.a[p.k * row + 40] : &p.w[p.k * column + 40]) = bad[i % 3];
        gemm(&team, &(gemm_job){.m = p.m, .n = p.n, .k = p.k, .a = {p.a, (ptrdiff_t)p.k, 1}, .b = {p.w, 1, (ptrdiff_t)p.k},
                                .c = p.c});
        for (size_t j = 0; j < p.m * p.n; j++)
            assert_true(isfinite(p.c[j]) == (i < 3 ? j / p.n != row : j % p.n != column));
        product_free(&p);
    }
}

static void what_is_not_finite_stays_so(void **state)
{
    rapt_error err = {0};
    const kernels *k = kernels_of_isa(levels_wanted(state), &err);
    pool *threads_of = pool_new(1, &err);
    const gemm_team team = {NULL, k, threads_of, aligned(gemm_workspace_size(1))};
    check_not_finite(&TYPES[0], team);
    check_not_finite(&TYPES[1], team);
    free(team.workspace);
    pool_free(threads_of);
}

static void edges_are_as_defined(void **state)
{
    wide_products_are_as_defined(state);
    what_is_not_finite_stays_so(state);
    many_rows_are_as_few(state);
}

int main(void)
{
    struct CMUnitTest tests[2 * LEVELS_MOST] = {{0}};
    size_t count = levels_tests(tests, "products", products_are_as_defined, kernels_names);
    levels_tests(tests + count, "edges", edges_are_as_defined, kernels_names);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
