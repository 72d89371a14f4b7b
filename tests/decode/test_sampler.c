/* tests/decode/test_sampler.c: what the sampler draws, against probabilities computed here in the plainest way: sorted
 * lists, long doubles and libm. Distributions by chi-square, single draws by the documented inverse of the running sum.
 * labels: levels */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "decode/sampler.h"

#include "base/rng.h"
#include "options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST 100000

/* Greedy, without anything that changes probabilities. */
#define PLAIN .top_p = 1, .repetition_penalty = 1

/* ---- the reference ----------------------------------------------------------------------------------------------- */

typedef struct entry {
    long double x, p;
    size_t id;
    long double away, nearer; /* from the entropy; the probability of tokens nearer to it */
} entry;

static int likelier_first(const void *a, const void *b)
{
    const entry *e = a, *f = b;
    return e->x != f->x ? (e->x > f->x ? -1 : 1) : (e->id > f->id) - (e->id < f->id);
}

static bool is_seen(const sampler_input *in, size_t window, size_t id)
{
    size_t first = window && window < in->count ? in->count - window : 0;
    for (size_t i = first; i < in->count; i++)
        if (in->history[i] == (int32_t)id)
            return true;
    return false;
}

static long double penalised(const rapt_sample_options *o, const sampler_input *in, size_t id)
{
    long double x = (long double)in->logits[id], r = (long double)o->repetition_penalty;
    if (!is_seen(in, o->repetition_window, id))
        return x;
    return (long double)(rapt_real)(x > 0 ? x / r : x * r); /* kept as a float, which may make two logits equal */
}

static long double biased(const rapt_sample_options *o, const sampler_input *in, size_t id)
{
    rapt_real x = (rapt_real)penalised(o, in, id);
    size_t sampled = 0;
    for (size_t i = 0; i < in->sampled_count; i++)
        sampled += in->sampled[i] == (int32_t)id;
    if (sampled) /* c[j] > 0 takes the presence once, and the frequency c[j] times: OpenAI's reference */
        x = (rapt_real)((double)x - (double)sampled * o->frequency_penalty - o->presence_penalty);
    for (size_t i = 0; i < o->bias_count; i++)
        if (o->biases[i].id == (int32_t)id)
            x = (rapt_real)((double)x + o->biases[i].bias);
    return (long double)x;
}

/* Scales the first `kept` to sum 1, the others to 0. */
static void scale(entry *sorted, size_t n, size_t kept)
{
    long double sum = 0;
    for (size_t i = 0; i < kept; i++)
        sum += sorted[i].p;
    for (size_t i = 0; i < n; i++)
        sorted[i].p = i < kept ? sorted[i].p / sum : 0;
}

/* TypicalLogitsWarper of transformers, without sorting: a token goes if the probability of those that are strictly nearer to the
 * entropy is at least `mass`, because the border lies before it. False where rounding may decide. */
static bool keep_typical(entry *list, size_t count, long double mass)
{
    long double entropy = 0;
    bool clear = true;
    for (size_t i = 0; i < count; i++)
        entropy -= list[i].p > 0 ? list[i].p * logl(list[i].p) : 0;
    for (size_t i = 0; i < count; i++)
        list[i].away = list[i].p > 0 ? fabsl(-logl(list[i].p) - entropy) : INFINITY;
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < count; j++) {
            list[i].nearer += list[j].away < list[i].away ? list[j].p : 0;
            clear = clear && (list[j].x == list[i].x || list[i].p * list[j].p == 0 || fabsl(list[j].away - list[i].away) > 1e-5L);
        }
        clear = clear && (list[i].p == 0 || fabsl(list[i].nearer - mass) > 1e-6L);
    }
    for (size_t i = 0; i < count; i++)
        list[i].p = list[i].nearer < mass ? list[i].p : 0;
    return clear;
}

/* Probabilities by the definition of rapt/generate.h. False where rounding may decide whether a token belongs to the
 * nucleus. */
static bool exact(const rapt_sample_options *o, const sampler_input *in, long double *p)
{
    size_t n = in->vocab, kept = o->top_k && o->top_k < n ? o->top_k : n;
    entry *sorted = malloc(n * sizeof *sorted);
    bool clear = true;
    for (size_t i = 0; i < n; i++)
        sorted[i] = (entry){.x = biased(o, in, i), .id = i};
    qsort(sorted, n, sizeof *sorted, likelier_first);
    for (size_t i = 0; i < n; i++)
        sorted[i].p = expl((sorted[i].x - sorted[0].x) / (long double)o->temperature);
    scale(sorted, n, kept);
    if (o->top_p < 1) {
        long double sum = sorted[0].p;
        for (kept = 1; sum < (long double)o->top_p; sum += sorted[kept++].p)
            clear = clear && fabsl(sum - (long double)o->top_p) > 1e-6L;
        clear = clear && fabsl(sum - (long double)o->top_p) > 1e-6L;
        scale(sorted, n, kept);
    }
    if (o->min_p > 0) {
        size_t all = kept;
        for (kept = 1; kept < all && sorted[kept].p / sorted[0].p >= (long double)o->min_p; kept++)
            ;
        for (size_t i = 1; i < all; i++)
            clear = clear && fabsl(sorted[i].p / sorted[0].p - (long double)o->min_p) > 1e-6L;
        scale(sorted, n, kept);
    }
    if (o->typical_p > 0 && o->typical_p < 1) {
        clear = keep_typical(sorted, kept, (long double)o->typical_p) && clear;
        scale(sorted, n, kept);
    }
    for (size_t i = 0; i < n; i++)
        p[sorted[i].id] = sorted[i].p;
    free(sorted);
    return clear;
}

/* ---- helpers ----------------------------------------------------------------------------------------------------- */

static arena scratch;

static int begin(void **state)
{
    (void)state;
    arena_init(&scratch, 4096);
    return 0;
}

static int end(void **state)
{
    (void)state;
    arena_free(&scratch);
    return 0;
}

static sampler made(rapt_sample_options o)
{
    rapt_error err = {0};
    sampler s = {0};
    const kernels *k = kernels_active(&err);
    if (!k || sampler_init(&s, &o, k, &err))
        fail_msg("%s", err.message);
    return s;
}

static size_t chosen(const sampler *s, const sampler_input *in)
{
    rapt_error err = {0};
    int32_t id = -1;
    if (sampler_choose(s, in, &scratch, &id, &err))
        fail_msg("%s", err.message);
    assert_in_range(id, 0, in->vocab - 1);
    return (size_t)id;
}

/* A bit for each token that comes in 1000 draws. */
static unsigned seen(rapt_sample_options o, const rapt_real *x, size_t vocab)
{
    sampler s = made(o);
    unsigned ids = 0;
    for (uint64_t position = 0; position < 1000; position++)
        ids |= 1u << chosen(&s, &(sampler_input){.logits = x, .vocab = vocab, .position = position});
    return ids;
}

/* Normal logits; `steps` > 0 rounds them to multiples of 1 / steps, so that many are equal. */
static void fill_logits(rapt_real *x, size_t n, uint64_t key, double deviation, double steps)
{
    for (size_t i = 0; i < n; i++) {
        double value = deviation * rng_normal(key, i);
        x[i] = (rapt_real)(steps > 0 ? round(value * steps) / steps : value);
    }
}

/* What a chi-square variable with these degrees of freedom exceeds once in 30,000 times (4 deviations of the normal
 * approximation of its cube root: Wilson & Hilferty 1931). */
static double chi_square_bound(double freedom)
{
    double variance = 2 / (9 * freedom);
    return freedom * pow(1 - variance + 4 * sqrt(variance), 3);
}

/* Draws at `draws` positions; counts must fit p. Tokens that are expected less than 5 times count as one. */
static void check_distribution(const rapt_sample_options *o, sampler_input in, size_t draws)
{
    long double p[64];
    size_t counts[64] = {0};
    double rare = 0, rare_count = 0, sum = 0, bins = -1;
    sampler s = made(*o);
    assert_true(in.vocab <= 64 && exact(o, &in, p));
    for (in.position = 0; in.position < draws; in.position++)
        counts[chosen(&s, &in)]++;
    for (size_t i = 0; i < in.vocab; i++) {
        double expected = (double)p[i] * (double)draws, difference = (double)counts[i] - expected;
        if (p[i] == 0)
            assert_int_equal(counts[i], 0);
        if (expected < 5) {
            rare += expected;
            rare_count += (double)counts[i];
            continue;
        }
        sum += difference * difference / expected;
        bins++;
    }
    if (rare > 1) {
        sum += (rare_count - rare) * (rare_count - rare) / rare;
        bins++;
    }
    print_message("  T %g, k %zu, p %g: chi-square %.1f with %g degrees\n", o->temperature, o->top_k, o->top_p, sum, bins);
    assert_true(bins > 0 && sum < chi_square_bound(bins));
}

/* ---- the tests --------------------------------------------------------------------------------------------------- */

static void greedy_takes_the_first_of_the_largest(void **state)
{
    rapt_real x[50];
    (void)state;
    sampler s = made((rapt_sample_options){PLAIN, .top_k = 7, .top_p = 0.3, .seed = 4});
    for (uint64_t key = 0; key < 500; key++) {
        size_t n = 1 + key % 50, best = 0;
        fill_logits(x, n, key, 1, 2);
        for (size_t i = 1; i < n; i++)
            best = x[i] > x[best] ? i : best;
        assert_int_equal(chosen(&s, &(sampler_input){.logits = x, .vocab = n, .position = key}), best);
    }
    sampler plain;
    assert_int_equal(sampler_init(&plain, &(rapt_sample_options){PLAIN, .greedy = true}, s.k, NULL), RAPT_OK);
    assert_int_equal(chosen(&plain, &(sampler_input){.logits = (rapt_real[]){1, 3, 3}, .vocab = 3}), 1);
}

static const rapt_logit_bias BIASES[] = {{3, 1.5}, {7, -INFINITY}, {9, -0.5}, {3, 0.25}};

static void distributions(void **state)
{
    static const rapt_sample_options options[] = {
        {PLAIN, .temperature = 1, .seed = 1},
        {PLAIN, .temperature = 0.5, .seed = 2},
        {PLAIN, .temperature = 3, .seed = 3},
        {PLAIN, .temperature = 1e9, .seed = 3},
        {PLAIN, .temperature = 1, .top_k = 9, .seed = 4},
        {PLAIN, .temperature = 1, .top_p = 0.8, .seed = 5},
        {PLAIN, .temperature = 1.5, .top_k = 20, .top_p = 0.7, .seed = 6},
        {PLAIN, .temperature = 1, .repetition_penalty = 1.3, .seed = 7},
        {PLAIN, .temperature = 1, .top_k = 10, .repetition_penalty = 0.5, .repetition_window = 2, .seed = 8},
        {PLAIN, .temperature = 1, .min_p = 0.1, .seed = 9},
        {PLAIN, .temperature = 1.5, .top_k = 30, .top_p = 0.9, .min_p = 0.2, .seed = 10},
        {PLAIN, .temperature = 1, .biases = BIASES, .bias_count = 4, .repetition_penalty = 1.3, .min_p = 0.02, .seed = 11},
        {PLAIN, .temperature = 0.6, .typical_p = 0.9, .seed = 16},
        {PLAIN, .temperature = 1.5, .top_k = 30, .top_p = 0.95, .min_p = 0.05, .typical_p = 0.5, .seed = 17},
        {PLAIN, .temperature = 1, .presence_penalty = 1.5, .seed = 12},
        {PLAIN, .temperature = 1, .frequency_penalty = 0.75, .seed = 13},
        {PLAIN, .temperature = 0.7, .presence_penalty = -1, .frequency_penalty = -0.5, .repetition_penalty = 1.3, .top_k = 12,
         .seed = 14},
    };
    static const int32_t history[] = {3, 9, 3, 20, -1, 40, 5, 6};
    rapt_real x[40];
    (void)state;
    fill_logits(x, 40, 77, 1.5, 0);
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        check_distribution(&options[i], (sampler_input){x, 40, i, 0, history, 8, history + 2, 6}, 20000);
}

/* The documented draw: the first token whose running sum of probabilities, in order of ids, is above u. Where u is within
 * 1e-6 of a border, rounding may decide. */
static size_t drawn(const long double *p, size_t n, double u, bool *clear)
{
    long double sum = p[0];
    size_t i = 0;
    *clear = fabsl(sum - (long double)u) > 1e-6L;
    while (i + 1 < n && !(sum > (long double)u)) {
        sum += p[++i];
        *clear = *clear && fabsl(sum - (long double)u) > 1e-6L;
    }
    return i;
}

static rapt_sample_options random_options(uint64_t key, size_t n)
{
    rapt_sample_options o = {PLAIN, .seed = key};
    o.temperature = 0.2 + 2 * rng_uniform(key, 100);
    o.top_k = key % 2 ? (size_t)rng_below(key, 101, n + 3) : 0;
    o.top_p = key % 3 ? 1e-9 + rng_uniform(key, 102) * (1 - 1e-9) : 1;
    o.repetition_penalty = key % 5 ? 1 : 0.5 + rng_uniform(key, 103);
    o.repetition_window = key % 10 ? 0 : 3;
    o.min_p = key % 4 == 1 ? 0.5 * rng_uniform(key, 104) : 0;
    o.typical_p = key / 7 % 3 == 0 ? rng_uniform(key, 105) : 0;
    o.biases = BIASES;
    o.bias_count = key % 9 == 1 && n > 8 ? 4 : 0;
    return o;
}

/* Single draws under random options; many logits are equal in every other case. */
static void draws_invert_the_running_sum(void **state)
{
    rapt_real x[60];
    long double p[60];
    int32_t history[12];
    size_t checked = 0;
    (void)state;
    for (uint64_t key = 0; key < 6000; key++) {
        size_t n = 1 + key % 60;
        bool clear;
        rapt_sample_options o = random_options(key, n);
        fill_logits(x, n, key, 2, key % 4 < 2 ? 3 : 0);
        for (size_t i = 0; i < 12; i++)
            history[i] = (int32_t)rng_below(key, 200 + i, n + 1);
        sampler_input in = {x, n, key % 7, key * 11, history, key % 13};
        sampler s = made(o);
        double u = rng_uniform(rng_mix(rng_mix(o.seed, rng_hash_text("sample")), in.row), in.position);
        if (!exact(&o, &in, p))
            continue;
        size_t want = drawn(p, n, u, &clear), got = chosen(&s, &in);
        if (clear && got != want)
            fail_msg("case %llu: token %zu instead of %zu", (unsigned long long)key, got, want);
        checked += clear;
    }
    assert_true(checked > 5900);
}

/* Equal logits: exactly k stay, those with the smallest ids; a nucleus ends within equal ones as well. */
static void ties_go_to_smaller_ids(void **state)
{
    static const rapt_real x[] = {0, -0.0f, 1, 0, 0, 1, 0, 0}; /* -0 equals 0 */
    static const struct {
        size_t top_k;
        double top_p;
        unsigned stay;
    } cases[] = {
        {1, 0, 0x04}, {2, 0, 0x24}, {3, 0, 0x25}, {4, 0, 0x27}, {5, 0, 0x2F}, {7, 0, 0x7F}, {8, 0, 0xFF}, {99, 0, 0xFF},
        {0, 0.2, 0x04}, {0, 0.4, 0x24}, {0, 0.5, 0x25}, {0, 0.99, 0xFF}, {3, 0.9, 0x25}, {3, 0.8, 0x24},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double p = cases[i].top_p > 0 ? cases[i].top_p : 1;
        assert_int_equal(seen((rapt_sample_options){PLAIN, .temperature = 1, .top_k = cases[i].top_k, .top_p = p}, x, 8),
                         cases[i].stay);
    }
}

/* By hand, at T = 1: e^-0.7 is 0.4966, e^-0.69 0.5016; at T = 2 their roots, 0.7047 and 0.7082. A bias of ln 2 doubles a
 * probability, -inf rules out the most probable token itself. */
static void min_p_and_biases_by_hand(void **state)
{
    static const rapt_real x[] = {2, 1.3f, 1.31f, 0, 2};
    static const rapt_logit_bias biases[] = {{3, 2}, {0, -INFINITY}, {4, -INFINITY}, {1, -10}};
    static const struct {
        double temperature, min_p;
        size_t biases;
        unsigned stay;
    } cases[] = {
        {1, 0.5, 0, 0x15}, {1, 0.49, 0, 0x17}, {1, 1, 0, 0x11}, {2, 0.706, 0, 0x15}, {2, 0.7, 0, 0x17}, {1, 0, 0, 0x1F},
        {1, 0.1, 0, 0x1F}, {1, 0.5, 1, 0x1D}, {1, 0.5, 2, 0x1C}, {1, 0.5, 3, 0x0C}, {1, 1, 4, 0x08}, {0, 0, 4, 0x08},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rapt_sample_options o = {PLAIN, .temperature = cases[i].temperature, .min_p = cases[i].min_p, .biases = biases,
                                 .bias_count = cases[i].biases};
        assert_int_equal(seen(o, x, 5), cases[i].temperature > 0 ? cases[i].stay : 0x08);
    }
}

/* By hand: p = 0.6, 0.2, 0.1, 0.1 has the information -log p = 0.511, 1.609, 2.303, 2.303 and the entropy 0.6 x 0.511 + 0.2 x
 * 1.609 + 0.2 x 2.303 = 1.089, at distances of 0.578, 0.521, 1.214, 1.214. So the second token is first, then the first one, then
 * the other two together. After top-k 2, p = 0.75, 0.25: 0.288, 1.386, the entropy 0.562, the distances 0.275, 0.824. */
static void typical_p_by_hand(void **state)
{
    const rapt_real x[] = {(rapt_real)log(0.6), (rapt_real)log(0.2), (rapt_real)log(0.1), (rapt_real)log(0.1)};
    static const struct {
        double typical_p;
        size_t top_k;
        unsigned stay;
    } cases[] = {
        {1e-9, 0, 2}, {0.19, 0, 2}, {0.21, 0, 3}, {0.79, 0, 3}, {0.81, 0, 15}, {0.99, 0, 15}, {1, 0, 15}, {0, 0, 15},
        {0.74, 2, 1}, {0.76, 2, 3}, {0.5, 1, 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rapt_sample_options o = {PLAIN, .temperature = 1, .typical_p = cases[i].typical_p, .top_k = cases[i].top_k};
        assert_int_equal(seen(o, x, 4), cases[i].stay);
    }
}

/* By hand: 3 / 2 = 1.5, -1 * 2 = -2; a token seen twice is penalized once. */
static void penalty_by_hand(void **state)
{
    static const rapt_real x[] = {3, 2, -1, -1.5f};
    static const struct {
        size_t count, window;
        int32_t history[4];
        double penalty;
        size_t best;
    } cases[] = {
        {0, 0, {0}, 2, 0},
        {1, 0, {0}, 2, 1},          /* 1.5 2 -1 -1.5 */
        {2, 0, {0, 1}, 2, 0},       /* 1.5 1 */
        {2, 1, {0, 1}, 2, 0},       /* 3 1: only the last counts */
        {2, 1, {1, 0}, 2, 1},
        {4, 4, {0, 1, 1, 1}, 2, 0}, /* 1.5 1, not 1.5 0.25 ... */
        {4, 9, {0, 0, 0, 1}, 2, 0}, /* ... or 0.375 1 */
        {2, 0, {0, 1}, 1, 0},
        {1, 0, {1}, 0.5, 1},        /* 3 4 */
        {3, 0, {-1, 4, 1 << 30}, 100, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sampler s = made((rapt_sample_options){PLAIN, .repetition_penalty = cases[i].penalty,
                                               .repetition_window = cases[i].window});
        assert_int_equal(chosen(&s, &(sampler_input){x, 4, 0, 0, cases[i].history, cases[i].count}), cases[i].best);
    }
    /* Negative ones are multiplied: token 2 falls from -1 to -2, below token 3. */
    sampler s = made((rapt_sample_options){PLAIN, .repetition_penalty = 2});
    assert_int_equal(chosen(&s, &(sampler_input){x + 2, 2, 0, 0, (int32_t[]){0}, 1}), 1);
}

static void low_temperature_is_greedy(void **state)
{
    static const double temperatures[] = {1e-3, 1e-30, 1e-300, 5e-324};
    rapt_real x[40];
    (void)state;
    for (uint64_t key = 0; key < 400; key++) {
        fill_logits(x, 40, key, 1, 0);
        x[key % 40] = 5; /* ahead of the others by more than rounding */
        sampler s = made((rapt_sample_options){PLAIN, .temperature = temperatures[key % 4], .top_p = key % 3 ? 0.9 : 1});
        assert_int_equal(chosen(&s, &(sampler_input){.logits = x, .vocab = 40, .position = key}), key % 40);
    }
    sampler one = made((rapt_sample_options){PLAIN, .temperature = 50, .top_k = 1});
    sampler tiny = made((rapt_sample_options){PLAIN, .temperature = 1, .top_p = 1e-9});
    for (uint64_t position = 0; position < 100; position++) {
        assert_int_equal(chosen(&one, &(sampler_input){.logits = x, .vocab = 40, .position = position}), 399 % 40);
        assert_int_equal(chosen(&tiny, &(sampler_input){.logits = x, .vocab = 40, .position = position}), 399 % 40);
    }
}

/* The same token at every level of kernels; others for another seed, row or position. */
static void same_everywhere(void **state)
{
    rapt_real x[300];
    size_t same[3] = {0};
    (void)state;
    fill_logits(x, 300, 5, 1, 0);
    rapt_sample_options o = {PLAIN, .temperature = 0.9, .top_k = 200, .top_p = 0.95, .seed = 1, .min_p = 0.01};
    sampler s = made(o);
    o.seed = 2;
    sampler other = made(o);
    for (uint64_t i = 0; i < 1000; i++) {
        sampler_input in = {.logits = x, .vocab = 300, .row = 3, .position = i};
        size_t id = chosen(&s, &in);
        for (const char *const *isa = kernels_names; *isa; isa++) {
            sampler level = s;
            if ((level.k = kernels_of_isa(*isa, NULL)))
                assert_int_equal(chosen(&level, &in), id);
        }
        same[0] += chosen(&other, &in) == id;
        same[1] += chosen(&s, &(sampler_input){.logits = x, .vocab = 300, .row = 4, .position = i}) == id;
        same[2] += chosen(&s, &(sampler_input){.logits = x, .vocab = 300, .row = 3, .position = i + 1000}) == id;
    }
    for (size_t i = 0; i < 3; i++)
        assert_true(same[i] < 60); /* 10 on average: sum of p squared is about 0.01 */
}

static void ruled_out_tokens_are_never_drawn(void **state)
{
    rapt_real x[30];
    (void)state;
    for (uint64_t key = 0; key < 3000; key++) {
        fill_logits(x, 30, key, 1, 0);
        for (size_t i = 0; i < 30; i++)
            x[i] = rng_uniform(key, 100 + i) < 0.8 && i != key % 30 ? -INFINITY : x[i];
        rapt_sample_options o = random_options(key, 30);
        o.temperature = key % 7 ? o.temperature * 100 : 0;
        sampler s = made(o);
        assert_true(x[chosen(&s, &(sampler_input){x, 30, 0, key, (int32_t[]){1, 2, 3}, 3})] > -INFINITY);
    }
}

/* What `rapt generate` does without options; and zeros, which mean zero. */
static void defaults_are_what_is_documented(void **state)
{
    (void)state;
    const kernels *k = kernels_active(NULL);
    sampler made_so, null, said, zeros;
    rapt_sample_options none = rapt_sample_options_default();
    const rapt_sample_options defaults = none;
    const rapt_sample_options wanted = {SAMPLE_DEFAULTS, .temperature = 0.8, .top_k = 200, .top_p = 1, .min_p = 0,
                                        .typical_p = 0, .repetition_penalty = 1, .seed = 1};
    none.temperature = none.min_p = none.typical_p = 0;
    none.top_k = none.seed = 0;
    assert_int_equal(sampler_init(&made_so, &defaults, k, NULL), RAPT_OK);
    assert_int_equal(sampler_init(&null, NULL, k, NULL), RAPT_OK);
    assert_int_equal(sampler_init(&said, &wanted, k, NULL), RAPT_OK);
    assert_int_equal(sampler_init(&zeros, &none, k, NULL), RAPT_OK);
    const sampler *const same[] = {&made_so, &null};
    for (size_t i = 0; i < 2; i++) {
        assert_memory_equal(&same[i]->options, &said.options, sizeof said.options);
        assert_true(same[i]->key == said.key);
    }
    assert_true(zeros.options.temperature == 0 && zeros.options.top_k == 0 && zeros.options.seed == 0);
    assert_true(zeros.key != said.key);
}

/* Against a full sort; the sizes of a real vocabulary. */
static void large_vocabulary(void **state)
{
    static const rapt_sample_options options[] = {
        {PLAIN, .temperature = 1}, {PLAIN, .temperature = 1, .top_k = 50}, {PLAIN, .temperature = 1.1, .top_p = 0.9},
        {PLAIN, .temperature = 0.7, .top_k = 70000, .top_p = 0.99}, {PLAIN, .temperature = 0.1, .top_p = 0.5},
    };
    rapt_real *x = malloc(MOST * sizeof *x);
    long double *p = malloc(MOST * sizeof *p);
    size_t checked = 0;
    (void)state;
    for (size_t i = 0; i < 20; i++) {
        sampler s = made(options[i % 5]);
        sampler_input in = {.logits = x, .vocab = MOST, .position = i};
        bool clear;
        fill_logits(x, MOST, i, i < 10 ? 3 : 0.01, i % 2 ? 8 : 0);
        bool sharp = exact(&options[i % 5], &in, p);
        size_t got = chosen(&s, &in), want = drawn(p, MOST, rng_uniform(rng_mix(s.key, 0), i), &clear);
        assert_true(!sharp || p[got] > 0);
        if (sharp && clear)
            assert_int_equal(got, want);
        checked += sharp && clear;
    }
    print_message("  %zu of 20 draws were far from a border\n", checked);
    assert_true(checked >= 5);
    free(x);
    free(p);
}

static void likeliest_tokens(void **state)
{
    rapt_real x[200];
    long double p[200];
    int32_t ids[200];
    double probabilities[200];
    (void)state;
    const kernels *k = kernels_active(NULL);
    for (uint64_t key = 0; key < 300; key++) {
        size_t vocab = 1 + key % 200, n = key % 3 ? (size_t)rng_below(key, 7, vocab + 1) : vocab;
        entry sorted[200];
        fill_logits(x, vocab, key, 2, key % 2 ? 4 : 0);
        sampler_input in = {.logits = x, .vocab = vocab};
        exact(&(rapt_sample_options){PLAIN, .temperature = 1}, &in, p);
        for (size_t i = 0; i < vocab; i++)
            sorted[i] = (entry){.x = (long double)x[i], .p = p[i], .id = i};
        qsort(sorted, vocab, sizeof *sorted, likelier_first);
        assert_int_equal(sampler_likeliest(k, &in, n, ids, probabilities, &scratch, NULL), RAPT_OK);
        for (size_t i = 0; i < n; i++) {
            assert_int_equal(ids[i], sorted[i].id);
            assert_true(fabs(probabilities[i] / (double)sorted[i].p - 1) < 2e-6); /* (x - max) is rounded to a float */
        }
    }
}

static void check_failure(const rapt_real *x, size_t n, const char *message)
{
    static const double temperatures[] = {0, 1};
    int32_t id = -7;
    double p;
    for (size_t i = 0; i < 2; i++) {
        rapt_error err = {0};
        sampler s = made((rapt_sample_options){PLAIN, .temperature = temperatures[i], .top_k = 2});
        sampler_input in = {.logits = x, .vocab = n, .position = 12};
        assert_int_equal(sampler_choose(&s, &in, &scratch, &id, &err), RAPT_ERR_NOT_FINITE);
        assert_string_equal(err.message, message);
        err = (rapt_error){0};
        assert_int_equal(sampler_likeliest(s.k, &in, n > 0, &id, &p, &scratch, &err), RAPT_ERR_NOT_FINITE);
        assert_string_equal(err.message, message);
    }
    assert_int_equal(id, -7);
}

static void bad_logits(void **state)
{
    static const char *const none = "the logits of position 12 leave no token: all are -inf";
    rapt_error err = {0};
    (void)state;
    check_failure((rapt_real[]){1, 2, NAN, 3}, 4, "the logits of position 12 are not finite: token 2 has nan");
    check_failure((rapt_real[]){-INFINITY, INFINITY, NAN}, 3, "the logits of position 12 are not finite: token 1 has inf");
    check_failure((rapt_real[]){NAN}, 1, "the logits of position 12 are not finite: token 0 has nan");
    check_failure((rapt_real[]){-INFINITY, -INFINITY}, 2, none);
    check_failure((rapt_real[]){0}, 0, none);
    sampler s = made((rapt_sample_options){PLAIN});
    int32_t ids[2];
    double p[2];
    assert_int_equal(sampler_likeliest(s.k, &(sampler_input){.logits = (rapt_real[]){1}, .vocab = 1}, 2, ids, p, &scratch, &err),
                     RAPT_ERR_VALUE);
}

static void bad_options(void **state)
{
    static const rapt_logit_bias not_a_number[] = {{4, NAN}}, infinite[] = {{4, INFINITY}};
    static const struct {
        rapt_sample_options o;
        const char *message;
    } cases[] = {
        {{SAMPLE_DEFAULTS, .temperature = -1}, "temperature -1: it is a number of 0 or more"},
        {{SAMPLE_DEFAULTS, .temperature = NAN}, "temperature nan: it is a number of 0 or more"},
        {{SAMPLE_DEFAULTS, .temperature = INFINITY}, "temperature inf: it is a number of 0 or more"},
        {{SAMPLE_DEFAULTS, .top_p = 1.5}, "top-p 1.5: a probability above 0, at most 1"},
        {{SAMPLE_DEFAULTS, .top_p = 0}, "top-p 0: a probability above 0, at most 1"},
        {{SAMPLE_DEFAULTS, .top_p = -0.1}, "top-p -0.1: a probability above 0, at most 1"},
        {{SAMPLE_DEFAULTS, .top_p = NAN}, "top-p nan: a probability above 0, at most 1"},
        {{SAMPLE_DEFAULTS, .min_p = -0.1}, "min-p -0.1: it is from 0 to 1"},
        {{SAMPLE_DEFAULTS, .min_p = 1.5}, "min-p 1.5: it is from 0 to 1"},
        {{SAMPLE_DEFAULTS, .min_p = NAN}, "min-p nan: it is from 0 to 1"},
        {{SAMPLE_DEFAULTS, .typical_p = -0.1}, "typical-p -0.1: it is from 0 to 1"},
        {{SAMPLE_DEFAULTS, .typical_p = 1.5}, "typical-p 1.5: it is from 0 to 1"},
        {{SAMPLE_DEFAULTS, .biases = not_a_number, .bias_count = 1}, "logit bias nan of token 4: it is a number, or -inf"},
        {{SAMPLE_DEFAULTS, .biases = infinite, .bias_count = 1}, "logit bias inf of token 4: it is a number, or -inf"},
        {{SAMPLE_DEFAULTS, .repetition_penalty = -2}, "repetition penalty -2: it is from 0.001 to 1000"},
        {{SAMPLE_DEFAULTS, .repetition_penalty = 1e-9}, "repetition penalty 1e-09: it is from 0.001 to 1000"},
        {{SAMPLE_DEFAULTS, .repetition_penalty = 1001}, "repetition penalty 1001: it is from 0.001 to 1000"},
        {{SAMPLE_DEFAULTS, .presence_penalty = 2.5}, "presence penalty 2.5, frequency penalty 0: they are from -2 to 2"},
        {{SAMPLE_DEFAULTS, .frequency_penalty = NAN}, "presence penalty 0, frequency penalty nan: they are from -2 to 2"},
        {{SAMPLE_DEFAULTS, .repetition_penalty = NAN}, "repetition penalty nan: it is from 0.001 to 1000"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rapt_error err = {0};
        sampler s;
        assert_int_equal(sampler_init(&s, &cases[i].o, kernels_active(NULL), &err), RAPT_ERR_VALUE);
        assert_string_equal(err.message, cases[i].message);
    }
}

/* The largest and smallest floats, and penalties that overflow them. */
static void extreme_logits(void **state)
{
    static const rapt_real x[] = {-3e38f, 3e38f, 0, 1e-45f, -INFINITY};
    (void)state;
    for (uint64_t position = 0; position < 100; position++) {
        sampler s = made((rapt_sample_options){PLAIN, .temperature = 1e30, .top_p = 0.5}),
                harsh = made((rapt_sample_options){PLAIN, .temperature = 1, .repetition_penalty = 1000});
        assert_int_equal(chosen(&s, &(sampler_input){.logits = x, .vocab = 5, .position = position}), 1);
        assert_int_equal(chosen(&harsh, &(sampler_input){x, 5, 0, position, (int32_t[]){0, 1, 4}, 3}), 1);
    }
}

static void memory_settles(void **state)
{
    rapt_real x[1000];
    size_t peak = 0;
    (void)state;
    fill_logits(x, 1000, 1, 1, 0);
    sampler s = made((rapt_sample_options){PLAIN, .temperature = 1, .top_k = 100, .top_p = 0.9, .repetition_penalty = 2});
    arena_mark before = arena_save(&scratch);
    for (uint64_t position = 0; position < 100; position++) {
        chosen(&s, &(sampler_input){x, 1000, 0, position, (int32_t[]){5}, 1});
        peak = position == 0 ? scratch.peak : peak;
    }
    assert_int_equal(scratch.used, before.used);
    assert_int_equal(scratch.peak, peak);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(greedy_takes_the_first_of_the_largest),
        cmocka_unit_test(distributions),
        cmocka_unit_test(draws_invert_the_running_sum),
        cmocka_unit_test(ties_go_to_smaller_ids),
        cmocka_unit_test(min_p_and_biases_by_hand),
        cmocka_unit_test(typical_p_by_hand),
        cmocka_unit_test(penalty_by_hand),
        cmocka_unit_test(low_temperature_is_greedy),
        cmocka_unit_test(defaults_are_what_is_documented),
        cmocka_unit_test(same_everywhere),
        cmocka_unit_test(ruled_out_tokens_are_never_drawn),
        cmocka_unit_test(large_vocabulary),
        cmocka_unit_test(likeliest_tokens),
        cmocka_unit_test(bad_logits),
        cmocka_unit_test(bad_options),
        cmocka_unit_test(extreme_logits),
        cmocka_unit_test(memory_settles),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
