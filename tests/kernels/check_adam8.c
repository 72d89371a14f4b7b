/* tests/kernels/check_adam8.c: Adam with moments in 8 bits. For check_kernels.
 *
 * What codes mean is written here again, element by element, from docs/number-format.md ("Moments in 8 bits"); the step between
 * decoding and encoding is `adam` of the scalar kernels, which check_elements.c checks. So everything is bitwise. */
#include "check.h"

#include <string.h>

enum { P, GRAD, WANT, MEAN, SQUARE, M_BYTES, V_BYTES };
enum { M, V };

#define BLOCK 256

static const kernels_adam step = {.beta1 = 0.9f, .beta2 = 0.98f, .step_size = 0.01f, .inv_sqrt_bc2 = 1.3f, .eps = 1e-8f,
                                  .grad_scale = 0.5f, .decay = 0.99f};

static float number_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* The upper 12 bits of the number that code 0 stands for; `codes`: of positive numbers. */
static int lowest(int exponent, int codes)
{
    int base = 8 * (exponent + 1) - codes;
    return base > 0 ? base : 0;
}

static float decoded(uint8_t code, int exponent, bool second)
{
    if (second)
        return number_of((uint32_t)(code + lowest(exponent, 256)) << 20);
    const int size = code % 128;
    const float x = size ? number_of((uint32_t)(size + lowest(exponent, 128)) << 20) : 0;
    return code < 128 ? x : -x;
}

/* The random bits of an element. */
static uint32_t random_of(uint32_t number)
{
    number = (number ^ number >> 16) * 0x7feb352d;
    number = (number ^ number >> 15) * 0x846ca68b;
    return number ^ number >> 16;
}

/* The upper 12 bits of |x|, rounded at random. */
static int upper(float x, bool second, uint32_t random)
{
    return (int)(((bits_of(x) & 0x7fffffff) + (second ? random % (1 << 20) : random >> 12)) >> 20);
}

static uint8_t encoded(float x, int exponent, bool second, uint32_t random)
{
    int code = upper(x, second, random) - lowest(exponent, second ? 256 : 128);
    code = code < 0 ? 0 : code;
    return (uint8_t)(signbit(x) && !second ? code + 128 : code);
}

/* The exponent of the largest magnitude once it is rounded, as the number's own 8 bits. */
static int exponent_of(size_t n, const float *x, bool second, uint32_t seed)
{
    int most = 0;
    for (size_t i = 0; i < n; i++) {
        const int bits = upper(x[i], second, random_of(seed + (uint32_t)i));
        most = bits > most ? bits : most;
    }
    return most / 8;
}

/* Exponents of the blocks, then codes, one each. */
static void decode(size_t n, const uint8_t *from, bool second, float *to)
{
    const size_t blocks = (n + BLOCK - 1) / BLOCK;
    for (size_t i = 0; i < n; i++)
        to[i] = decoded(from[blocks + i], from[i / BLOCK], second);
}

static void encode(size_t n, const float *from, bool second, uint32_t seed, uint8_t *to)
{
    const size_t blocks = (n + BLOCK - 1) / BLOCK;
    for (size_t block = 0; block < blocks; block++)
        to[block] = (uint8_t)exponent_of(n - block * BLOCK < BLOCK ? n - block * BLOCK : BLOCK, from + block * BLOCK, second,
                                         seed + (uint32_t)block * BLOCK);
    for (size_t i = 0; i < n; i++)
        to[blocks + i] = encoded(from[i], to[i / BLOCK], second, random_of(seed + (uint32_t)i));
}

static void adam8(const check *c, size_t n, float *p, const float *grad, uint8_t *m, uint8_t *v, uint32_t seed)
{
    float *means = check_room(MEAN, n), *squares = check_room(SQUARE, n);
    decode(n, m, false, means);
    decode(n, v, true, squares);
    c->scalar->adam(n, p, grad, means, squares, &step);
    encode(n, means, false, seed, m);
    encode(n, squares, true, seed, v);
}

static void check_bytes(check *c, size_t n, const uint8_t *got, const uint8_t *want, const char *what)
{
    for (size_t i = 0; i < n; i++)
        if (!check_that(c, got[i] == want[i], "%s: byte %zu of %zu is %d, not %d", what, i, n, got[i], want[i]))
            return;
}

/* Gradients of a span: all zeros, of one size, or of all sizes in one block. */
static void draw_gradients(size_t n, float *grad)
{
    static const float sizes[] = {1, 1e-4f, 1e-9f, 1e-20f, 1e-30f, 0, -0.0f, 1e6f};
    const uint32_t kind = check_random_int(4);
    check_random(grad, n);
    for (size_t i = 0; i < n; i++)
        grad[i] *= kind == 0 ? 0 : kind == 1 ? 1e-3f : sizes[check_random_int(8)];
}

/* Some steps one after the other, from moments of 0 or from any bytes. */
static void run(check *c, size_t n, bool any)
{
    static uint8_t want[2][1 << 19];
    const size_t bytes = kernels_adam8_bytes(n);
    float *p = check_slot(P, n), *grad = check_slot(GRAD, n), *want_p = check_slot(WANT, n);
    uint8_t *moments[2] = {check_slot_bytes(M_BYTES, bytes), check_slot_bytes(V_BYTES, bytes)};
    check_random(p, n);
    memcpy(want_p, p, n * sizeof *p);
    for (int k = M; k <= V; k++) {
        for (size_t i = 0; i < bytes; i++)
            want[k][i] = (uint8_t)(any ? check_random_int(i < kernels_adam8_blocks(n) ? 190 : 256) : 0);
        memcpy(moments[k], want[k], bytes);
    }
    for (int i = 0; i < 4; i++) {
        const uint32_t seed = check_random_int(UINT32_MAX);
        draw_gradients(n, grad);
        memcpy(moments[M], want[M], bytes);
        memcpy(moments[V], want[V], bytes);
        c->k->adam8(n, p, grad, moments[M], moments[V], seed, &step);
        adam8(c, n, want_p, grad, want[M], want[V], seed);
        check_same(c, n, p, want_p, "p");
        check_bytes(c, bytes, moments[M], want[M], "m");
        check_bytes(c, bytes, moments[V], want[V], "v");
    }
}

/* A code is a fixed point of decoding and encoding by any random bits: what does not change is not changed. */
static void check_exact(check *c)
{
    for (int exponent = 0; exponent < 255; exponent++)
        for (int code = 0; code < 256; code++)
            for (int second = 0; second < 2; second++) {
                const float x = decoded((uint8_t)code, exponent, second);
                const uint8_t again = encoded(x, exponent, second, code % 2 ? UINT32_MAX : 0);
                check_that(c, again == code, "exponent %d: code %d is %g, which is code %d", exponent, code, (double)x, again);
            }
}

void check_adam8(check *c)
{
    if (c->k == c->scalar)
        check_exact(c);
    for (const size_t *n = check_sizes; *n; n++)
        for (int any = 0; any < 2; any++)
            run(c, *n, any);
    for (size_t n = 250; n <= 514; n += 1 + (n < 254 || n > 260) * 7)
        run(c, n, true);
}

void bench_adam8(const kernels *k)
{
    static uint8_t m[16384], v[16384];
    const size_t n = 10000;
    float *p = check_room(P, n), *grad = check_room(GRAD, n);
    double seconds;
    check_random(p, n);
    check_random(grad, n);
    CHECK_TIME(seconds, k->adam8(n, p, grad, m, v, 1, &step));
    check_report(k, "adam8", "n = 10000", (double)n, seconds, false);
}
