/* tests/kernels/check_gemm.c: the GEMM tile and the packing. For check_kernels.
 * Not the driver that calls them: see tests/tensor. */
#include "check.h"

#include <string.h>

enum { SLOT_A, SLOT_B, SLOT_C, SLOT_BIAS, SLOT_WANT };

typedef enum layout { PACKED, ROWS, TURNED, STRIDED, LAYOUTS } layout;

static const char *const layout_names[] = {"packed", "a_col 1", "a_row 1", "both strides"};

typedef struct tile {
    int m, n;
    size_t kc;
    layout how;
    bool accumulate, with_bias, relu;
} tile;

typedef struct operands {
    const float *a, *b, *bias;
    float *c;
    ptrdiff_t a_row, a_col, b_row, ldc;
} operands;

/* A and its strides; every A ends with its last number at the guard page. */
static void make_a(const kernels *k, const tile *t, operands *o)
{
    size_t m = (size_t)t->m, n = 0;
    o->a_row = t->how == ROWS ? (ptrdiff_t)t->kc + 3 : t->how == STRIDED ? 2 : 1;
    o->a_col = t->how == ROWS      ? 1
               : t->how == TURNED  ? t->m + 5
               : t->how == STRIDED ? 2 * t->m + 1
                                   : k->gemm.a_stride;
    n = (m - 1) * (size_t)o->a_row + (t->kc - 1) * (size_t)o->a_col + 1;
    if (t->how == PACKED)
        n = t->kc * (size_t)k->gemm.a_stride;
    float *a = check_slot(SLOT_A, n);
    check_random(a, n);
    o->a = a;
}

/* B's panel: the columns past n are numbers too, as they may be, but nothing of them may reach C. Whole vectors and
 * less than one may also lie in a matrix, here in one whose rows are not aligned and that ends with the last number of
 * the tile. */
static operands make_operands(const kernels *k, const tile *t)
{
    operands o = {.ldc = t->n + 3, .b_row = (t->n % 16 == 0 || t->n < 16) && t->kc % 2 == 0 ? t->n + 5 : k->gemm.nr};
    make_a(k, t, &o);
    bool in_place = o.b_row != k->gemm.nr;
    size_t panel = in_place ? (t->kc - 1) * (size_t)o.b_row + (size_t)t->n : t->kc * (size_t)k->gemm.nr;
    size_t size = ((size_t)t->m - 1) * (size_t)o.ldc + (size_t)t->n;
    float *b = check_slot(SLOT_B, panel), *bias = check_slot(SLOT_BIAS, (size_t)t->n);
    check_random(b, panel);
    check_random(bias, (size_t)t->n);
    o.b = b;
    o.bias = t->with_bias ? bias : NULL;
    o.c = check_slot(SLOT_C, size);
    for (int i = 0; i < t->m; i++)
        check_random(o.c + i * o.ldc, (size_t)t->n);
    return o;
}

/* Element (i, j) by the number format, and what it should be within a bound. */
static void check_element(check *c, const tile *t, const operands *o, const float *old, int i, int j)
{
    float sum = 0;
    double exact = 0, size = 0;
    for (size_t k = 0; k < t->kc; k++) {
        float a = o->a[i * o->a_row + (ptrdiff_t)k * o->a_col], b = o->b[k * (size_t)o->b_row + (size_t)j];
        sum = fmaf(a, b, sum);
        exact += (double)a * b;
        size += fabs((double)a * b);
    }
    float before = t->accumulate ? old[i * o->ldc + j] : 0, bias = o->bias ? o->bias[j] : 0;
    if (t->accumulate)
        sum = before + sum;
    if (o->bias)
        sum += bias;
    exact += (double)before + bias;
    if (t->relu) {
        sum = sum < 0 ? 0 : sum;
        exact = exact < 0 ? 0 : exact;
    }
    float got = o->c[i * o->ldc + j];
    check_within(c, (size_t)(i * t->n + j), got, exact,
                 ((double)t->kc + 4) * CHECK_U * (size + fabs((double)before) + fabs((double)bias)),
                 "product");
    check_that(c, got == sum, "%d x %d x %zu, %s%s%s%s: (%d, %d) is %a, not %a", t->m, t->n, t->kc,
               layout_names[t->how], t->accumulate ? ", accumulate" : "", o->bias ? ", bias" : "",
               t->relu ? ", relu" : "", i, j, (double)got, (double)sum);
}

static void check_tile(check *c, tile t)
{
    operands o = make_operands(c->k, &t);
    size_t size = ((size_t)t.m - 1) * (size_t)o.ldc + (size_t)t.n;
    float *old = check_slot(SLOT_WANT, size);
    memcpy(old, o.c, size * sizeof(float));
    kernels_epilogue epilogue = {t.accumulate, o.bias, t.relu};
    if (!t.accumulate)
        for (int i = 0; i < t.m; i++)
            o.c[i * o.ldc] = NAN; /* must not be read */
    c->k->gemm.gemm_tile(t.m, t.n, t.kc, o.a, o.a_row, o.a_col, o.b, o.b_row, o.c, o.ldc, &epilogue);
    check_canary(c, o.c, "C");
    check_gaps(c, o.c, (size_t)t.m, (size_t)t.n, (size_t)o.ldc, "C");
    for (int i = 0; i < t.m; i++)
        for (int j = 0; j < t.n; j++)
            check_element(c, &t, &o, old, i, j);
}

void check_gemm_tile(check *c)
{
    const size_t depths[] = {1, 2, 5, 16, 33};
    int turn = 0;
    const kernels_gemm *g = &c->k->gemm;
    check_that(c, g->mr <= KERNELS_MAX_MR && g->nr <= KERNELS_MAX_NR && g->nr % 16 == 0 && g->a_stride >= g->mr,
               "geometry %d x %d, stride %d", g->mr, g->nr, g->a_stride);
    for (int m = 1; m <= c->k->gemm.mr; m++)
        for (int n = 1; n <= c->k->gemm.nr; n++)
            for (int d = 0; d < 5; d++, turn++)
                check_tile(c, (tile){m, n, depths[d], turn % LAYOUTS, turn & 8, turn & 16, turn & 32});
    for (int how = 0; how < LAYOUTS; how++)
        for (int n = 1; n <= c->k->gemm.nr; n += n == 1 ? 14 : 1)
            check_tile(c, (tile){c->k->gemm.mr, n, KERNELS_K_BLOCK, how, n & 1, n & 2, false});
}

/* dst as `pack` must leave it: count numbers of each of kc steps, then zeros up to a multiple of 16. */
static void check_pack(check *c, size_t count, size_t kc, bool turned, size_t stride, bool is_a)
{
    size_t step = turned ? kc + 3 : count + 3;
    size_t n = turned ? (count - 1) * step + kc : (kc - 1) * step + count;
    float *src = check_slot(SLOT_A, n), *dst = check_slot(SLOT_C, kc * stride),
          *want = check_slot(SLOT_WANT, kc * stride);
    check_random_wild(src, n);
    for (size_t k = 0; k < kc; k++)
        for (size_t i = 0; i < stride; i++)
            want[k * stride + i] = i >= count ? 0 : turned ? src[i * step + k] : src[k * step + i];
    ptrdiff_t i_step = turned ? (ptrdiff_t)step : 1, k_step = turned ? 1 : (ptrdiff_t)step;
    if (is_a)
        c->k->gemm.pack_a((int)count, kc, src, i_step, k_step, dst);
    else
        c->k->gemm.pack_b(kc, (int)count, src, k_step, i_step, dst);
    size_t filled = (count + 15) / 16 * 16 < stride ? (count + 15) / 16 * 16 : stride;
    for (size_t k = 0; k < kc; k++)
        check_same(c, filled, dst + k * stride, want + k * stride, turned ? "turned" : "straight");
    check_canary(c, dst, "panel");
}

static void check_packing(check *c, int most, int stride, bool is_a)
{
    for (int count = 1; count <= most; count++)
        for (size_t kc = 1; kc <= 33; kc += kc < 4 ? 1 : 3)
            for (int turned = 0; turned < 2; turned++)
                check_pack(c, (size_t)count, kc, turned, (size_t)stride, is_a);
    check_pack(c, (size_t)most, KERNELS_K_BLOCK, true, (size_t)stride, is_a);
    check_pack(c, (size_t)most, KERNELS_K_BLOCK, false, (size_t)stride, is_a);
}

void check_pack_a(check *c) { check_packing(c, c->k->gemm.mr, c->k->gemm.a_stride, true); }
void check_pack_b(check *c) { check_packing(c, c->k->gemm.nr, c->k->gemm.nr, false); }

static void bench_tile(const kernels *k, tile t, const char *what)
{
    operands o = make_operands(k, &t);
    kernels_epilogue epilogue = {t.accumulate, o.bias, t.relu};
    double seconds;
    CHECK_TIME(seconds, k->gemm.gemm_tile(t.m, t.n, t.kc, o.a, o.a_row, o.a_col, o.b, o.b_row, o.c, o.ldc, &epilogue));
    check_report(k, "gemm_tile", what, 2.0 * t.m * t.n * (double)t.kc, seconds, true);
}

void bench_gemm_tile(const kernels *k)
{
    bench_tile(k, (tile){k->gemm.mr, k->gemm.nr, 384, PACKED, false, false, false}, "packed");
    bench_tile(k, (tile){k->gemm.mr, k->gemm.nr, 384, PACKED, true, true, true}, "packed, tail");
    bench_tile(k, (tile){k->gemm.mr, k->gemm.nr, 384, ROWS, false, false, false}, "rows");
    bench_tile(k, (tile){k->gemm.mr, k->gemm.nr, 384, TURNED, false, false, false}, "turned");
    bench_tile(k, (tile){k->gemm.mr, k->gemm.nr, 32, PACKED, false, false, false}, "packed, kc 32");
    bench_tile(k, (tile){k->gemm.mr, k->gemm.nr, 32, ROWS, false, true, true}, "rows, tail, kc 32");
    bench_tile(k, (tile){k->gemm.mr, k->gemm.nr - 3, 384, PACKED, false, false, false}, "n = nr - 3");
    bench_tile(k, (tile){k->gemm.mr, 16, 384, PACKED, false, false, false}, "n = 16");
    bench_tile(k, (tile){k->gemm.mr, 10, 64, ROWS, false, false, false}, "n = 10, rows, kc 64");
    bench_tile(k, (tile){1, k->gemm.nr, 384, PACKED, false, false, false}, "m = 1");
}

static void bench_pack(const kernels *k, bool turned, bool is_a)
{
    int count = is_a ? k->gemm.mr : k->gemm.nr;
    float *src = check_room(SLOT_A, 512 * 384), *dst = check_room(SLOT_C, 384 * 64);
    ptrdiff_t i_step = turned ? 512 : 1, k_step = turned ? 1 : 512;
    double seconds;
    memset(src, 0, 512 * 384 * sizeof *src);
    if (is_a)
        CHECK_TIME(seconds, k->gemm.pack_a(count, 384, src, i_step, k_step, dst));
    else
        CHECK_TIME(seconds, k->gemm.pack_b(384, count, src, k_step, i_step, dst));
    check_report(k, is_a ? "pack_a" : "pack_b", turned ? "turned" : "straight", 384.0 * count, seconds,
                 false);
}

void bench_pack_a(const kernels *k)
{
    bench_pack(k, false, true);
    bench_pack(k, true, true);
}

void bench_pack_b(const kernels *k)
{
    bench_pack(k, false, false);
    bench_pack(k, true, false);
}
