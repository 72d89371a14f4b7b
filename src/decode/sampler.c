/* decode/sampler.c: penalties, bias, temperature, top-k, top-p, min-p, typical-p and the draw. For generation with language
 * models. Not a model, and not a loop over positions: it sees one row of logits at a time. */
#include "decode/sampler.h"

#include "base/math.h"
#include "base/rng.h"
#include "base/sized.h"
#include "decode/option_defaults.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MIN_PENALTY 0.001
#define MAX_PENALTY 1000
#define MAX_TAKEN 2 /* max presence and frequency penalty */
#define DEFAULT_TEMPERATURE 0.8
enum { DEFAULT_TOP_K = 200 };

/* ---- options ----------------------------------------------------------------------------------------------------- */

/* It lies at the beginning of options that have a size: if it grew, all members behind it would move. */
_Static_assert(sizeof(void *) != 8 || sizeof(rapt_sample_options) == 160, "the size of rapt_sample_options is fixed");
SIZED_ENDS_WITH(rapt_sample_options, reserved);

void rapt_sample_options_init(rapt_sample_options *o, size_t size)
{
    sized_fill(o, size, &(rapt_sample_options){SAMPLE_DEFAULTS}, sizeof *o);
}

static double otherwise(double value, double without_policy)
{
    return SIZED_AS_MODEL(value) ? without_policy : value;
}

rapt_sample_options sampler_fill(const rapt_sample_options *given)
{
    rapt_sample_options o = *given;
    o.temperature = o.greedy ? 0 : otherwise(o.temperature, DEFAULT_TEMPERATURE);
    o.top_k = SIZED_AS_MODEL(o.top_k) ? DEFAULT_TOP_K : o.top_k;
    o.top_p = otherwise(o.top_p, 1);
    o.min_p = otherwise(o.min_p, 0);
    o.typical_p = otherwise(o.typical_p, 0);
    o.repetition_penalty = otherwise(o.repetition_penalty, 1);
    return o;
}

static rapt_code check_filled(const rapt_sample_options *o, rapt_error *err)
{
    double r = o->repetition_penalty;
    if (!(o->temperature >= 0 && o->temperature < INFINITY))
        return rapt_fail(err, RAPT_ERR_VALUE, "temperature %g: it is a number of 0 or more", o->temperature);
    if (!(o->top_p > 0 && o->top_p <= 1))
        return rapt_fail(err, RAPT_ERR_VALUE, "top-p %g: a probability above 0, at most 1", o->top_p);
    if (!(o->min_p >= 0 && o->min_p <= 1))
        return rapt_fail(err, RAPT_ERR_VALUE, "min-p %g: it is from 0 to 1", o->min_p);
    if (!(o->typical_p >= 0 && o->typical_p <= 1))
        return rapt_fail(err, RAPT_ERR_VALUE, "typical-p %g: it is from 0 to 1", o->typical_p);
    for (size_t i = 0; i < o->bias_count; i++)
        if (!(o->biases[i].bias < INFINITY))
            return rapt_fail(err, RAPT_ERR_VALUE, "logit bias %g of token %d: it is a number, or -inf", o->biases[i].bias,
                             (int)o->biases[i].id);
    if (!(r >= MIN_PENALTY && r <= MAX_PENALTY))
        return rapt_fail(err, RAPT_ERR_VALUE, "repetition penalty %g: it is from %g to %d", r, MIN_PENALTY, MAX_PENALTY);
    if (!(fabs(o->presence_penalty) <= MAX_TAKEN && fabs(o->frequency_penalty) <= MAX_TAKEN))
        return rapt_fail(err, RAPT_ERR_VALUE, "presence penalty %g, frequency penalty %g: they are from %d to %d",
                         o->presence_penalty, o->frequency_penalty, -MAX_TAKEN, MAX_TAKEN);
    return sized_check_reserved(o->reserved, sizeof o->reserved, "sample_options", err);
}

rapt_code sampler_check(const rapt_sample_options *o, rapt_error *err)
{
    const rapt_sample_options filled = sampler_fill(o);
    return check_filled(&filled, err);
}

rapt_code sampler_init(sampler *s, const rapt_sample_options *options, const kernels *k, rapt_error *err)
{
    const rapt_sample_options defaults = rapt_sample_options_default();
    *s = (sampler){.options = sampler_fill(options ? options : &defaults), .k = k};
    s->key = rng_mix(s->options.seed, rng_hash_text("sample")); /* a separate random stream, because the seed may also be a
                                                                   model's */
    return check_filled(&s->options, err);
}

/* ---- the logits -------------------------------------------------------------------------------------------------- */

static rapt_code sampler_out_of_memory(const sampler_input *in, rapt_error *err)
{
    return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for sampling from %zu tokens", in->vocab);
}

/* Starts from the model's logit each time, so a token that occurs twice is penalized once. */
static void penalize(const sampler_input *in, const rapt_sample_options *o, rapt_real *x)
{
    size_t window = o->repetition_window, first = window > 0 && window < in->count ? in->count - window : 0;
    for (size_t i = first; i < in->count; i++) {
        int32_t id = in->history[i];
        if (id < 0 || (size_t)id >= in->vocab)
            continue;
        double logit = (double)in->logits[id];
        x[id] = (rapt_real)(logit > 0 ? logit / o->repetition_penalty : logit * o->repetition_penalty);
    }
}

/* OpenAI's penalties: x - count * frequency - presence for each token that was generated, whatever the order of the text. False:
 * out of memory. */
static bool take_frequencies(const sampler_input *in, const rapt_sample_options *o, arena *scratch, rapt_real *x)
{
    uint32_t *counts = arena_array(scratch, in->vocab, sizeof *counts);
    if (!counts)
        return false;
    memset(counts, 0, in->vocab * sizeof *counts);
    for (size_t i = 0; i < in->sampled_count; i++)
        if (in->sampled[i] >= 0 && (size_t)in->sampled[i] < in->vocab)
            counts[in->sampled[i]]++;
    for (size_t id = 0; id < in->vocab; id++)
        if (counts[id] > 0)
            x[id] = (rapt_real)((double)x[id] - (double)counts[id] * o->frequency_penalty - o->presence_penalty);
    return true;
}

static void add_biases(const sampler_input *in, const rapt_sample_options *o, rapt_real *x)
{
    for (size_t i = 0; i < o->bias_count; i++) {
        int32_t id = o->biases[i].id;
        if (id >= 0 && (size_t)id < in->vocab)
            x[id] = (rapt_real)((double)x[id] + o->biases[i].bias);
    }
}

/* A copy of the logits [vocab], with penalties and biases; NULL on out-of-memory. */
static rapt_real *own_logits(const sampler_input *in, const rapt_sample_options *o, arena *scratch)
{
    rapt_real *x = arena_array(scratch, in->vocab, sizeof *x);
    if (!x)
        return NULL;
    memcpy(x, in->logits, in->vocab * sizeof *x);
    if (o->repetition_penalty != 1)
        penalize(in, o, x);
    if ((o->presence_penalty != 0 || o->frequency_penalty != 0) && !take_frequencies(in, o, scratch, x))
        return NULL;
    add_biases(in, o, x);
    return x;
}

/* -inf is allowed: it rules a token out. */
static rapt_code check_finite(const kernels *k, const rapt_real *x, const sampler_input *in, rapt_error *err)
{
    size_t at = 0;
    if (k->all_finite(in->vocab, x))
        return RAPT_OK;
    while (at < in->vocab && x[at] < INFINITY)
        at++;
    if (at == in->vocab)
        return RAPT_OK;
    return rapt_fail(err, RAPT_ERR_NOT_FINITE, "the logits of position %llu are not finite: token %zu has %s",
                     (unsigned long long)in->position, at, isnan(x[at]) ? "nan" : "inf");
}

/* The index of the largest logit, the first of equal ones. */
static rapt_code find_best(const kernels *k, const rapt_real *x, const sampler_input *in, size_t *best, rapt_error *err)
{
    rapt_code code = check_finite(k, x, in, err);
    if (code)
        return code;
    *best = in->vocab > 0 ? k->argmax(in->vocab, x) : 0;
    if (in->vocab == 0 || x[*best] == -INFINITY)
        return rapt_fail(err, RAPT_ERR_NOT_FINITE, "the logits of position %llu leave no token: all are -inf",
                         (unsigned long long)in->position);
    return RAPT_OK;
}

/* ---- the tokens that remain, in order of ids --------------------------------------------------------------------- */

typedef struct remaining {
    int32_t *ids;
    rapt_real *x, *weights;
    double *sums; /* running sums of the weights */
    size_t count;
} remaining;

/* All tokens; ids is NULL on out-of-memory. Takes ownership of x. */
static remaining all_tokens(rapt_real *x, size_t vocab, arena *scratch)
{
    remaining r = {.x = x, .count = vocab};
    r.weights = arena_array(scratch, vocab, sizeof *r.weights);
    r.sums = arena_array(scratch, vocab, sizeof *r.sums);
    r.ids = r.weights && r.sums ? arena_array(scratch, vocab, sizeof *r.ids) : NULL;
    for (size_t i = 0; r.ids && i < vocab; i++)
        r.ids[i] = (int32_t)i;
    return r;
}

/* The weights exp((x - max) / T), at most 1. The exponent is computed in double, so that no temperature is too small. */
static void sampler_weigh(const kernels *k, remaining *r, rapt_real max, double temperature)
{
    for (size_t i = 0; i < r->count; i++)
        r->weights[i] = (rapt_real)(((double)r->x[i] - (double)max) / temperature);
    k->exp(r->count, r->weights, r->weights);
}

/* Returns the last of the running sums. */
static double sum_up(remaining *r)
{
    double sum = 0;
    for (size_t i = 0; i < r->count; i++)
        r->sums[i] = sum += (double)r->weights[i];
    return sum;
}

/* An integer that sorts like x. The bits of a float do, except for the sign. */
static uint32_t sampler_key_of(rapt_real x)
{
    float value = (float)x + 0.0f; /* -0 becomes 0 */
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

/* The border of the most probable tokens: all tokens above `key`, and the first tokens at `key` until their weights add up to
 * `left`. */
typedef struct border {
    uint32_t key;
    double left;
} border;

#define DIGITS 2048u

/* The border of the most probable tokens that together have the weight `wanted`, or if weights is NULL, the count `wanted`. A
 * radix select: the digits of the border's key are found from the highest on, from the sum of the weights for each value of a
 * digit. No two tokens are compared, so the time hardly depends on logits, k and p. The last digit shares a bit with the one
 * before, which is known by then. */
static border find_border(const rapt_real *x, const rapt_real *weights, size_t count, double wanted)
{
    static const int shifts[] = {21, 10, 0};
    uint32_t found = 0, mask = 0;
    for (size_t d = 0; d < sizeof shifts / sizeof *shifts; d++) {
        double have[DIGITS] = {0};
        uint32_t digit = DIGITS - 1;
        for (size_t i = 0; i < count; i++)
            if ((sampler_key_of(x[i]) & mask) == found)
                have[sampler_key_of(x[i]) >> shifts[d] & (DIGITS - 1)] += weights ? (double)weights[i] : 1;
        for (; digit > 0 && have[digit] < wanted; digit--)
            wanted -= have[digit];
        found |= digit << shifts[d];
        mask |= (DIGITS - 1) << shifts[d];
    }
    return (border){found, wanted};
}

/* Keeps the most probable tokens that together have the weight `wanted`, or whose count is `wanted`. */
static void keep_most_probable(remaining *r, bool by_weight, double wanted)
{
    border b = find_border(r->x, by_weight ? r->weights : NULL, r->count, wanted);
    size_t kept = 0;
    for (size_t i = 0; i < r->count; i++) {
        uint32_t key = sampler_key_of(r->x[i]);
        bool stays = key > b.key;
        if (key == b.key) {
            stays = b.left > 0;
            b.left -= by_weight ? (double)r->weights[i] : 1;
        }
        r->ids[kept] = r->ids[i];
        r->x[kept] = r->x[i];
        r->weights[kept] = r->weights[i];
        kept += stays;
    }
    r->count = kept;
}

/* Keeps the tokens of a weight of at least `share`; the largest weight is 1. */
static void keep_min_p(remaining *r, double share)
{
    size_t kept = 0;
    for (size_t i = 0; i < r->count; i++) {
        r->ids[kept] = r->ids[i];
        r->x[kept] = r->x[i];
        r->weights[kept] = r->weights[i];
        kept += (double)r->weights[i] >= share;
    }
    r->count = kept;
}

/* Keeps the tokens of the most typical information that together have the weight `wanted`, of `sum`. With e_i = (x_i - max) / T,
 * -log p_i is log(sum) - e_i and the entropy is log(sum) - mean, where mean is the expected e: they differ by e_i - mean. */
static void keep_typical(remaining *r, rapt_real max, double temperature, double sum, double wanted)
{
    double mean = 0;
    for (size_t i = 0; i < r->count; i++)
        if (r->weights[i] > 0)
            mean += (double)r->weights[i] * (((double)r->x[i] - (double)max) / temperature);
    mean /= sum;
    for (size_t i = 0; i < r->count; i++)
        r->x[i] = (rapt_real)-fabs(((double)r->x[i] - (double)max) / temperature - mean);
    const border b = find_border(r->x, r->weights, r->count, wanted);
    size_t kept = 0;
    for (size_t i = 0; i < r->count; i++) {
        r->ids[kept] = r->ids[i];
        r->weights[kept] = r->weights[i];
        kept += sampler_key_of(r->x[i]) >= b.key;
    }
    r->count = kept;
}

/* ---- the choice -------------------------------------------------------------------------------------------------- */

/* The first of the running sums above `target`; the last one if none is. */
static size_t first_above(const remaining *r, double target)
{
    size_t low = 0, high = r->count - 1;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (r->sums[middle] > target)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static int32_t sampler_draw(const sampler *s, const sampler_input *in, rapt_real max, remaining *r)
{
    const rapt_sample_options *o = &s->options;
    sampler_weigh(s->k, r, max, o->temperature);
    if (o->top_k > 0 && o->top_k < r->count)
        keep_most_probable(r, false, (double)o->top_k);
    double sum = sum_up(r);
    if (o->top_p < 1) {
        keep_most_probable(r, true, o->top_p * sum);
        sum = sum_up(r);
    }
    if (o->min_p > 0) {
        keep_min_p(r, o->min_p);
        sum = sum_up(r);
    }
    if (o->typical_p > 0 && o->typical_p < 1) { /* last, because it changes r->x */
        keep_typical(r, max, o->temperature, sum, o->typical_p * sum);
        sum = sum_up(r);
    }
    return r->ids[first_above(r, sum * rng_uniform(rng_mix(s->key, in->row), in->position))];
}

static rapt_code choose_token(const sampler *s, const sampler_input *in, arena *scratch, int32_t *id, rapt_error *err)
{
    size_t best;
    rapt_real *x = own_logits(in, &s->options, scratch);
    if (!x)
        return sampler_out_of_memory(in, err);
    rapt_code code = find_best(s->k, x, in, &best, err);
    if (code)
        return code;
    *id = (int32_t)best;
    if (s->options.temperature == 0)
        return RAPT_OK;
    rapt_real largest = x[best];
    remaining r = all_tokens(x, in->vocab, scratch);
    if (!r.ids)
        return sampler_out_of_memory(in, err);
    *id = sampler_draw(s, in, largest, &r);
    return RAPT_OK;
}

rapt_code sampler_choose(const sampler *s, const sampler_input *in, arena *scratch, int32_t *id, rapt_error *err)
{
    arena_mark mark = arena_save(scratch);
    rapt_code code = choose_token(s, in, scratch, id, err);
    arena_release(scratch, mark);
    return code;
}

/* ---- the most probable tokens ------------------------------------------------------------------------------------ */

typedef struct listed {
    rapt_real x, weight;
    int32_t id;
} listed;

static int by_likelihood(const void *a, const void *b)
{
    const listed *p = a, *q = b;
    if (p->x != q->x)
        return p->x > q->x ? -1 : 1;
    return p->id < q->id ? -1 : 1;
}

static bool sampler_list_top(const kernels *k, remaining *r, rapt_real max, size_t n, arena *scratch, int32_t *ids,
                             double *probabilities)
{
    listed *list = arena_array(scratch, n, sizeof *list);
    if (!list)
        return false;
    sampler_weigh(k, r, max, 1);
    double sum = sum_up(r);
    if (n < r->count)
        keep_most_probable(r, false, (double)n);
    for (size_t i = 0; i < n; i++)
        list[i] = (listed){r->x[i], r->weights[i], r->ids[i]};
    qsort(list, n, sizeof *list, by_likelihood);
    for (size_t i = 0; i < n; i++) {
        ids[i] = list[i].id;
        probabilities[i] = (double)list[i].weight / sum;
    }
    return true;
}

static rapt_code sampler_top(const kernels *k, const sampler_input *in, size_t n, int32_t *ids, double *probabilities,
                             arena *scratch, rapt_error *err)
{
    size_t best;
    rapt_real *x = own_logits(in, &(rapt_sample_options){.repetition_penalty = 1}, scratch);
    if (!x)
        return sampler_out_of_memory(in, err);
    rapt_code code = find_best(k, x, in, &best, err);
    if (code)
        return code;
    rapt_real largest = x[best];
    remaining r = all_tokens(x, in->vocab, scratch);
    bool ok = r.ids && sampler_list_top(k, &r, largest, n, scratch, ids, probabilities);
    return ok ? RAPT_OK : sampler_out_of_memory(in, err);
}

rapt_code sampler_likeliest(const kernels *k, const sampler_input *in, size_t n, int32_t *ids, double *probabilities,
                            arena *scratch, rapt_error *err)
{
    if (n > in->vocab)
        return rapt_fail(err, RAPT_ERR_VALUE, "the %zu most probable of %zu tokens", n, in->vocab);
    arena_mark mark = arena_save(scratch);
    rapt_code code = sampler_top(k, in, n, ids, probabilities, scratch, err);
    arena_release(scratch, mark);
    return code;
}

double sampler_log_prob(rapt_real logit, rapt_real max, rapt_real sum)
{
    return (double)logit - ((double)max + math_log((double)sum));
}
