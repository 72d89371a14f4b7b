/* tests/kernels/check_dropout.c: Philox against its published values, and dropout against Philox. For check_kernels. Not a test
 * of randomness: Philox4x32-10 passed its authors' tests.
 *
 * The plain Philox here is written from the paper (Salmon et al., SC 2011), one counter at a time. */
#include "check.h"

#include <string.h>

enum { X, OUT, WANT, PART };

static void philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
    uint32_t c[4], k0 = key[0], k1 = key[1];
    memcpy(c, counter, sizeof c);
    for (int round = 0; round < 10; round++, k0 += 0x9E3779B9, k1 += 0xBB67AE85) {
        uint64_t p0 = (uint64_t)0xD2511F53 * c[0], p1 = (uint64_t)0xCD9E8D57 * c[2];
        uint32_t next[4] = {(uint32_t)(p1 >> 32) ^ c[1] ^ k0, (uint32_t)p1, (uint32_t)(p0 >> 32) ^ c[3] ^ k1,
                            (uint32_t)p0};
        memcpy(c, next, sizeof c);
    }
    memcpy(out, c, sizeof c);
}

/* The 16 random bits of element (r, c). */
static uint32_t element_bits(const kernels_dropout *d, size_t r, size_t c)
{
    const uint32_t counter[4] = {(uint32_t)c, (uint32_t)(r / 8), d->head, d->example};
    uint32_t words[4];
    philox(counter, d->key, words);
    return words[r % 8 / 2] >> r % 2 * 16 & 0xffff;
}

/* Known answers of the authors' Random123 (kat_vectors, philox4x32 with 10 rounds): counter, key, result. */
static const uint32_t known[3][10] = {
    {0, 0, 0, 0, 0, 0, 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
    {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0x408f276d, 0x41c83b0e,
     0xa20bc7c6, 0x6d5451fd},
    {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0, 0xd16cfe09, 0x94fdcceb,
     0x5001e420, 0x24126ea1},
};

static void check_known(check *c)
{
    for (int i = 0; i < 3; i++) {
        uint32_t out[4];
        philox(known[i], known[i] + 4, out);
        check_that(c, memcmp(out, known[i] + 6, sizeof out) == 0, "plain Philox misses known answer %d", i);
    }
}

/* The kernel's own Philox, read through thresholds: an element is kept at its own bits and dropped one
 * above. */
static void check_known_kernel(check *c)
{
    for (size_t r = 0; r < 8; r++) {
        uint32_t bits = known[0][6 + r / 2] >> r % 2 * 16 & 0xffff;
        kernels_dropout at = {.threshold = bits, .scale = 1}, above = {.threshold = bits + 1, .scale = 1};
        const float one = 1;
        float kept, dropped;
        c->k->dropout(&at, r, 1, 1, &one, 1, &kept, 1);
        c->k->dropout(&above, r, 1, 1, &one, 1, &dropped, 1);
        check_that(c, kept == 1 && dropped == 0, "row %zu of the known answer: kept %g, dropped %g", r,
                   (double)kept, (double)dropped);
    }
}

static kernels_dropout some_dropout(uint32_t threshold)
{
    return (kernels_dropout){{check_random_int(UINT32_MAX), check_random_int(UINT32_MAX)},
                             check_random_int(UINT32_MAX),
                             check_random_int(UINT32_MAX),
                             threshold,
                             1.25f};
}

static void run_dropout(check *c, const kernels_dropout *d, size_t row0, size_t rows, size_t cols)
{
    size_t ldx = cols + 2, ldy = cols + 5, nx = (rows - 1) * ldx + cols, ny = (rows - 1) * ldy + cols;
    float *x = check_slot(X, nx), *y = check_slot(OUT, ny), *want = check_slot(WANT, cols);
    check_random_wild(x, nx);
    c->k->dropout(d, row0, rows, cols, x, ldx, y, ldy);
    check_canary(c, y, "y");
    check_gaps(c, y, rows, cols, ldy, "y");
    for (size_t r = 0; r < rows; r++) {
        for (size_t j = 0; j < cols; j++)
            want[j] = element_bits(d, row0 + r, j) >= d->threshold ? x[r * ldx + j] * d->scale : 0;
        check_same(c, cols, y + r * ldy, want, "row");
    }
    c->k->dropout(d, row0, rows, cols, x, ldx, x, ldx);
    for (size_t r = 0; r < rows; r++)
        check_same(c, cols, x + r * ldx, y + r * ldy, "in place");
}

void check_dropout(check *c)
{
    const uint32_t thresholds[] = {0, 1, 6554, 32768, 65535, 65536};
    int turn = 0;
    check_known(c);
    check_known_kernel(c);
    for (const size_t *cols = check_sizes; *cols; cols++)
        for (size_t rows = 1; rows <= 20; rows += rows < 10 ? 1 : 5, turn++) {
            kernels_dropout d = some_dropout(thresholds[turn % 6]);
            run_dropout(c, &d, (size_t)turn % 11, rows, *cols);
        }
    kernels_dropout d = some_dropout(6554);
    if (SIZE_MAX / 8 >= UINT32_MAX) /* the row group wraps round 2^32; where rows have 32 bits, they end before */
        run_dropout(c, &d, ((size_t)UINT32_MAX - 1) * 8 + 3, 16, 33);
}

void bench_dropout(const kernels *k)
{
    const size_t widths[] = {10, 32, 512};
    kernels_dropout d = {{1, 2}, 3, 4, 6554, 1.1f};
    for (int i = 0; i < 3; i++) {
        size_t cols = widths[i];
        float *x = check_room(X, 64 * cols), *y = check_room(OUT, 64 * cols);
        double seconds;
        char what[40];
        check_random(x, 64 * cols);
        CHECK_TIME(seconds, k->dropout(&d, 0, 64, cols, x, cols, y, cols));
        snprintf(what, sizeof what, "64 x %zu", cols);
        check_report(k, "dropout", what, 64.0 * (double)cols, seconds, false);
    }
}
