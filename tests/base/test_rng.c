/* tests/base/test_rng.c: Philox against the known answers of its authors' library (Random123, kat_vectors), moments of
 * what is drawn, and shuffles.
 * labels: arm-first */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/rng.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define DRAWS 200000

static void check_philox(rng_block counter, const uint32_t *key, rng_block want)
{
    rng_block got = rng_philox(counter, key);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(got.word[i], want.word[i]);
}

static void known_answers(void **state)
{
    const uint32_t zeros[] = {0, 0}, ones[] = {~0u, ~0u}, pi[] = {0xa4093822, 0x299f31d0};
    (void)state;
    check_philox((rng_block){{0}}, zeros, (rng_block){{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}});
    check_philox((rng_block){{~0u, ~0u, ~0u, ~0u}}, ones,
                 (rng_block){{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}});
    check_philox((rng_block){{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, pi,
                 (rng_block){{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}});
}

typedef struct moments {
    double mean, variance, skewness, kurtosis, least, most;
} moments;

static moments moments_of(double (*draw)(uint64_t, uint64_t), uint64_t key)
{
    moments m = {.least = INFINITY, .most = -INFINITY};
    for (uint64_t i = 0; i < DRAWS; i++) {
        double x = draw(key, i);
        m.mean += x / DRAWS;
        m.least = fmin(m.least, x);
        m.most = fmax(m.most, x);
    }
    for (uint64_t i = 0; i < DRAWS; i++) {
        double d = draw(key, i) - m.mean;
        m.variance += d * d / DRAWS;
        m.skewness += d * d * d / DRAWS;
        m.kurtosis += d * d * d * d / DRAWS;
    }
    m.skewness /= pow(m.variance, 1.5);
    m.kurtosis /= m.variance * m.variance;
    return m;
}

static bool near(double x, double want, double deviation)
{
    return fabs(x - want) < 5 * deviation / sqrt(DRAWS);
}

/* The deviations of the estimates: sqrt(1/12) and sqrt(1/180) for mean and variance of the uniform distribution; 1,
 * sqrt(2), sqrt(6), sqrt(24) for the moments of the normal one. */
static void distributions(void **state)
{
    (void)state;
    for (uint64_t key = 1; key < 5; key++) {
        moments u = moments_of(rng_uniform, key), n = moments_of(rng_normal, key);
        assert_true(near(u.mean, 0.5, sqrt(1 / 12.0)));
        assert_true(near(u.variance, 1 / 12.0, sqrt(1 / 180.0)));
        assert_true(u.least >= 0 && u.least < 1e-4 && u.most < 1 && u.most > 1 - 1e-4);
        assert_true(near(n.mean, 0, 1));
        assert_true(near(n.variance, 1, sqrt(2)));
        assert_true(near(n.skewness, 0, sqrt(6)));
        assert_true(near(n.kurtosis, 3, sqrt(24)));
        assert_true(n.most > 3.5 && n.most < 7 && n.least < -3.5 && n.least > -7);
    }
}

/* Numbers with indices, keys or both side by side are not related. */
static void streams_are_independent(void **state)
{
    double along = 0, across = 0;
    (void)state;
    for (uint64_t i = 0; i < DRAWS; i++) {
        along += rng_normal(9, i) * rng_normal(9, i + 1) / DRAWS;
        across += rng_normal(9, i) * rng_normal(10, i) / DRAWS;
    }
    assert_true(near(along, 0, 1));
    assert_true(near(across, 0, 1));
}

static int bits_changed(uint64_t a, uint64_t b)
{
    return __builtin_popcountll(a ^ b);
}

/* Each bit of either number changes half of the bits of the mix, give or take. */
static void mixing(void **state)
{
    double flips = 0;
    (void)state;
    for (uint64_t i = 0; i < 1000; i++)
        for (int bit = 0; bit < 64; bit++) {
            flips += bits_changed(rng_mix(i, 5), rng_mix(i ^ (uint64_t)1 << bit, 5));
            flips += bits_changed(rng_mix(5, i), rng_mix(5, i ^ (uint64_t)1 << bit));
        }
    assert_true(fabs(flips / 128000 - 32) < 0.1);
    assert_true(rng_mix(1, 2) != rng_mix(2, 1));
    assert_true(rng_hash_text("encoder.0.q.weight") != rng_hash_text("encoder.1.q.weight"));
    assert_true(rng_hash_text("") != rng_hash_text("a"));
}

static void bounded_numbers(void **state)
{
    long counts[7] = {0};
    (void)state;
    for (uint64_t i = 0; i < DRAWS; i++) {
        uint64_t x = rng_below(3, i, 7);
        assert_true(x < 7);
        counts[x]++;
    }
    for (int i = 0; i < 7; i++)
        assert_true(fabs((double)counts[i] / DRAWS - 1 / 7.0) < 5 * sqrt(6 / 49.0 / DRAWS));
    assert_int_equal(rng_below(3, 0, 1), 0);
}

/* All 24 orders of four things come up alike. */
static void shuffles(void **state)
{
    long counts[256] = {0}, orders = 0;
    const long rounds = 24000;
    (void)state;
    for (uint64_t key = 0; key < (uint64_t)rounds; key++) {
        size_t order[] = {0, 1, 2, 3};
        rng_shuffle(key, order, 4);
        assert_int_equal(1u << order[0] | 1u << order[1] | 1u << order[2] | 1u << order[3], 15);
        counts[order[0] << 6 | order[1] << 4 | order[2] << 2 | order[3]]++;
    }
    for (int i = 0; i < 256; i++)
        if (counts[i]) {
            orders++;
            assert_true(labs(counts[i] - rounds / 24) < 5 * 31); /* the deviation is 31 */
        }
    assert_int_equal(orders, 24);
    rng_shuffle(1, NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_answers),
        cmocka_unit_test(distributions),
        cmocka_unit_test(streams_are_independent),
        cmocka_unit_test(mixing),
        cmocka_unit_test(bounded_numbers),
        cmocka_unit_test(shuffles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
