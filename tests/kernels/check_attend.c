/* tests/kernels/check_attend.c: attention of one query, against its definition: products that are added one by one, and the
 * softmax of the scalar level. For check_kernels. Not attention as an operation: see tests/ops. */
#include "check.h"

enum { Q, K, PANELS, V, KEEP, P, OUT, WANT_P, WANT, STATS, WANT_STATS };

typedef struct sizes {
    size_t heads, first, group, keys, d, dv;
    bool panels, keep, wild;
} sizes;

static size_t kv_heads_of(const sizes *s) { return (s->first + s->heads + s->group - 1) / s->group; }
static size_t width_of(const sizes *s) { return (s->keys + 15) / 16 * 16; }

static const float *numbers(const sizes *s, int slot, size_t n)
{
    float *x = check_slot(slot, n);
    (s->wild ? check_random_wild : check_random)(x, n);
    return x;
}

static const uint8_t *some_kept(const sizes *s)
{
    uint8_t *keep = s->keep ? check_slot_bytes(KEEP, s->keys) : NULL;
    for (size_t j = 0; keep && j < s->keys; j++)
        keep[j] = check_random_int(3) != 0;
    return keep;
}

/* Every array ends with the last number that may be read. */
static kernels_query make_query(const check *c, const sizes *s)
{
    const size_t kv_heads = kv_heads_of(s), gap = 3, k_row = kv_heads * s->d + gap, v_row = kv_heads * s->dv + gap;
    const size_t nr = (size_t)c->k->gemm.nr, panels = (s->keys + nr - 1) / nr;
    kernels_query a = {.heads = s->heads, .first = s->first, .group = s->group, .keys = s->keys, .d = s->d, .dv = s->dv,
                       .q = numbers(s, Q, s->heads * s->d), .k_row = (ptrdiff_t)k_row, .v_row = (ptrdiff_t)v_row,
                       .k = numbers(s, K, (s->keys - 1) * k_row + kv_heads * s->d),
                       .v = numbers(s, V, (s->keys - 1) * v_row + kv_heads * s->dv), .keep = some_kept(s), .scale = 0.3f,
                       .p = check_slot(P, s->heads * width_of(s)), .out = check_slot(OUT, s->heads * s->dv)};
    if (s->panels) {
        float *to = check_slot(PANELS, kv_heads * panels * nr * s->d);
        a.panels = to;
        a.panels_head = panels * nr * s->d;
        for (size_t i = 0; i < kv_heads * panels; i++, to += nr * s->d) {
            const size_t j = i % panels * nr, n = s->keys - j < nr ? s->keys - j : nr;
            c->k->gemm.pack_b(s->d, (int)n, a.k + j * k_row + i / panels * s->d, 1, (ptrdiff_t)k_row, to);
        }
    }
    a.max = check_slot(STATS, 2 * s->heads);
    a.inv_sum = a.max + s->heads;
    return a;
}

static float score(const kernels_query *a, const float *q, const float *k)
{
    float sum = 0;
    for (size_t i = 0; i < a->d; i++)
        sum = fmaf(q[i], k[i], sum);
    return sum;
}

static float weighted(const kernels_query *a, const float *p, const float *v)
{
    float all = 0, sum = 0;
    for (size_t j = 0; j < a->keys; j++) {
        if (j > 0 && j % KERNELS_K_BLOCK == 0) {
            all = j == KERNELS_K_BLOCK ? sum : all + sum;
            sum = 0;
        }
        sum = fmaf(p[j], v[(ptrdiff_t)j * a->v_row], sum);
    }
    return a->keys > KERNELS_K_BLOCK ? all + sum : sum;
}

static void run_attend(check *c, sizes s)
{
    kernels_query a = make_query(c, &s);
    const size_t width = width_of(&s);
    float *p = check_slot(WANT_P, s.heads * width), *out = check_slot(WANT, s.heads * s.dv);
    float *max = check_slot(WANT_STATS, 2 * s.heads), *inv_sum = max + s.heads;
    for (size_t h = 0; h < s.heads; h++) {
        const size_t from = (s.first + h) / s.group;
        for (size_t j = 0; j < s.keys; j++)
            p[h * width + j] = score(&a, a.q + h * s.d, a.k + (ptrdiff_t)j * a.k_row + from * s.d);
        c->scalar->softmax(width, a.keys, p + h * width, a.keep, a.scale, p + h * width, &max[h], &inv_sum[h]);
        for (size_t i = 0; i < s.dv; i++)
            out[h * s.dv + i] = weighted(&a, p + h * width, a.v + from * s.dv + i);
    }
    c->k->attend(&a);
    check_same(c, s.heads * width, a.p, p, "p");
    check_same(c, s.heads * s.dv, a.out, out, s.wild ? "out, odd numbers" : "out");
    check_same(c, 2 * s.heads, a.max, max, "max, inv_sum");
    check_canary(c, a.p, "p");
    check_canary(c, a.out, "out");
    check_canary(c, a.max, "max");
}

void check_attend(check *c)
{
    static const size_t keys[] = {1, 2, 7, 15, 16, 17, 31, 32, 33, 48, 100, 383, 384, 385, 769};
    static const size_t widths[] = {1, 4, 16, 17, 31, 32, 40, 64, 96, 112, 128, 384};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        for (size_t j = 0; j < sizeof widths / sizeof *widths; j++)
            for (unsigned how = 0; how < 8; how++) {
                const size_t d = widths[j], dv = widths[(i + j + how) % (sizeof widths / sizeof *widths)];
                const size_t group = 1 + (i + 3 * j + how) % 9; /* more heads than are computed together, and fewer */
                const sizes s = {.heads = 1 + check_random_int(2 * (uint32_t)group), .first = check_random_int((uint32_t)group),
                                 .group = group, .keys = keys[i],
                                 .d = keys[i] > 100 && d > 64 ? 64 : d, .dv = keys[i] > 100 && dv > 64 ? 80 : dv,
                                 .panels = how & 1, .keep = how & 2, .wild = how & 4};
                run_attend(c, s);
            }
    run_attend(c, (sizes){.heads = 4, .group = 1, .keys = 13, .d = 32, .dv = 32});
    run_attend(c, (sizes){.heads = 4, .group = 1, .keys = 13, .d = 32, .dv = 32, .panels = true});
}

static void time_attend(const kernels *k, size_t heads, size_t group, size_t keys, size_t d, const char *what)
{
    const size_t row = heads / group * d;
    float *q = check_room(Q, heads * d), *keys_of = check_room(K, keys * row), *v = check_room(V, keys * row);
    float *p = check_room(P, heads * (keys + 16)), *out = check_room(OUT, heads * d), *stats = check_room(STATS, 2 * heads);
    double seconds;
    check_random(q, heads * d);
    check_random(keys_of, keys * row);
    check_random(v, keys * row);
    const kernels_query a = {.heads = heads, .group = group, .keys = keys, .d = d, .dv = d, .q = q, .k = keys_of,
                             .v = v, .k_row = (ptrdiff_t)row, .v_row = (ptrdiff_t)row, .scale = 0.2f, .p = p, .out = out,
                             .max = stats, .inv_sum = stats + heads};
    CHECK_TIME(seconds, k->attend(&a));
    check_report(k, "attend", what, 4 * (double)(heads * keys * d), seconds, true);
}

void bench_attend(const kernels *k)
{
    time_attend(k, 4, 1, 7, 32, "4 heads of 32, 7 keys");
    time_attend(k, 4, 1, 13, 32, "4 heads of 32, 13 keys");
    time_attend(k, 4, 1, 256, 64, "4 heads of 64, 256 keys");
    time_attend(k, 14, 7, 544, 64, "14 heads of 64, 7 a group, 544 keys");
}
