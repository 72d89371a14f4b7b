/* decode/sampler.h: samples a token from the logits of a position as rapt/generate.h describes; and finds the most probable
 * tokens, for inspection. */
#ifndef DECODE_SAMPLER_H
#define DECODE_SAMPLER_H

#include "rapt/generate.h"

#include "base/arena.h"
#include "kernels/kernels.h"

/* Immutable once made: threads can share it, each with its own scratch memory. */
typedef struct sampler {
    rapt_sample_options options; /* filled; greedy: temperature 0 */
    const kernels *k;
    uint64_t key; /* of the seed */
} sampler;

/* The logits of one position of one row. */
typedef struct sampler_input {
    const rapt_real *logits; /* [vocab] */
    size_t vocab;
    uint64_t row, position;
    const int32_t *history;  /* [count], the tokens before, the latest last; ids outside the vocabulary are ignored,
                                in biases too */
    size_t count;
    const int32_t *sampled;  /* [sampled_count], the generated tokens among them, for presence and frequency */
    size_t sampled_count;
} sampler_input;

/* Replaces RAPT_AS_MODEL by the defaults without a policy. */
rapt_sample_options sampler_fill(const rapt_sample_options *given);
/* RAPT_ERR_VALUE: an option is out of range. */
rapt_code sampler_check(const rapt_sample_options *o, rapt_error *err);

/* `options` NULL: the defaults. Errors as in sampler_check. */
rapt_code sampler_init(sampler *s, const rapt_sample_options *options, const kernels *k, rapt_error *err);

/* Draws a token, *id. Each token that stays has the weight exp((x - x_max) / T); in order of ids, the first token is drawn whose
 * running sum is above u times the whole sum, u = rng_uniform(rng_mix(rng_mix(seed, rng_hash_text("sample")), row), position).
 * Weights are floats from the kernels' exp, sums are doubles: the same on every machine. Time grows with the vocabulary only,
 * whatever k and p are. Leaves nothing in `scratch`, which settles at 24 bytes for each token. RAPT_ERR_NOT_FINITE: a logit is
 * NaN or +inf, or all are -inf; the message names the position. */
rapt_code sampler_choose(const sampler *s, const sampler_input *in, arena *scratch, int32_t *id, rapt_error *err);

/* The log-probability of a token from its logit and the results of the kernel log_sum_exp over all logits. It equals minus the
 * token's loss in rapt_op_cross_entropy, bit for bit. */
double sampler_log_prob(rapt_real logit, rapt_real max, rapt_real sum);

/* The n <= vocab most probable tokens, ids[n], in descending order (smaller ids first among equals), and their softmax
 * probabilities[n], without any options. Errors as in sampler_choose. */
rapt_code sampler_likeliest(const kernels *k, const sampler_input *in, size_t n, int32_t *ids, double *probabilities,
                            arena *scratch, rapt_error *err);

#endif
