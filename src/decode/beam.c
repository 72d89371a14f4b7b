/* decode/beam.c: beam search: the best `beam` unfinished hypotheses of each sentence are extended together. For
 * rapt_translate. Among equal scores the earlier row and the smaller token win, so that the result is deterministic. Only
 * hypotheses that can still become a result take part in a step. */
#include "decode/search.h"

#include "base/math.h"
#include "decode/candidates.h"
#include "decode/search_rows.h"

#include <math.h>
#include <string.h>

typedef struct beam_search {
    search_run base; /* its rows are those below */
    const kernels *k;
    const search_batch *batch;
    const search_options *options;
    size_t classes, capacity, length;
    search_row *rows, *next;   /* [base.rows]: the rows of sentence 0, of sentence 1, ... */
    size_t next_count;
    size_t *counts;            /* [batch] rows of each sentence; 0: it is done */
    int32_t *tokens, *parents; /* for the next rows */
    candidate_list found;
    search_result *results;
} beam_search;

/* ---- memory ------------------------------------------------------------------------------------------------- */

static bool beam_allocate(beam_search *s, arena *memory)
{
    size_t batch = s->batch->source.batch, count = batch * s->options->beam;
    s->capacity = search_max_limit(s->batch);
    s->tokens = arena_array(memory, count, sizeof *s->tokens);
    s->parents = arena_array(memory, count, sizeof *s->parents);
    s->counts = arena_array(memory, batch, sizeof *s->counts);
    s->found.max = 2 * s->options->beam;
    s->found.best = arena_array(memory, s->found.max, sizeof *s->found.best);
    return s->tokens && s->parents && s->counts && s->found.best && search_rows_allocate(&s->rows, count, s->capacity, memory) &&
           search_rows_allocate(&s->next, count, s->capacity, memory) &&
           search_rows_allocate_results(s->results, batch, s->options->n_best, s->capacity, memory);
}

/* ---- candidates --------------------------------------------------------------------------------------------- */

/* Collects the candidates of a sentence, whose rows begin at `first`. The softmax is over all tokens, including banned ones.
 * `logits`: [rows, classes]. */
static rapt_code beam_gather(beam_search *s, size_t sentence, size_t first, rapt_real *logits, rapt_error *err)
{
    int32_t forced = search_forced(s->batch, sentence, s->length);
    s->found.count = 0;
    for (size_t r = first; r < first + s->counts[sentence]; r++) {
        rapt_real *x = logits + r * s->classes, max, sum; /* x: [classes] */
        s->k->log_sum_exp(s->classes, x, &max, &sum);
        if (search_check(max, sum, err))
            return RAPT_ERR_NOT_FINITE;
        double base = s->rows[r].log_prob - (double)max - math_log((double)sum);
        if (forced < 0) {
            search_ban(s->options, s->rows[r].tokens, s->length, s->classes, x);
            candidates_gather_row(s->k, &s->found, s->classes, x, base, r);
        } else
            candidates_insert(&s->found, (candidate){base + (double)x[forced], r, forced});
    }
    return RAPT_OK;
}

/* ---- results ------------------------------------------------------------------------------------------------ */

static double beam_score(const beam_search *s, double log_prob, size_t length)
{
    return log_prob / search_penalty(s->options->length_penalty, length);
}

/* The score that a hypothesis must exceed to become a result. */
static double beam_worst_result(const beam_search *s, size_t sentence)
{
    const search_result *r = &s->results[sentence];
    return r->count == s->options->n_best ? r->best[r->count - 1].score : -INFINITY;
}

/* Puts a finished hypothesis among the sentence's results, the best first. */
static void beam_keep_result(beam_search *s, size_t sentence, const int32_t *tokens, size_t length, double log_prob)
{
    search_result *r = &s->results[sentence];
    double score = beam_score(s, log_prob, length);
    if (!(score > beam_worst_result(s, sentence)))
        return;
    size_t at = r->count < s->options->n_best ? r->count++ : r->count - 1;
    int32_t *copy = r->best[at].tokens;
    for (; at > 0 && score > r->best[at - 1].score; at--)
        r->best[at] = r->best[at - 1];
    memcpy(copy, tokens, length * sizeof *tokens);
    r->best[at] = (search_hypothesis){copy, length, log_prob, score};
}

/* The best score that an unfinished hypothesis can reach: log p only falls, and the penalty is largest at one end of the
 * remaining lengths. The bound rises with log p, so the rows that it drops are the last rows of a sentence. */
static double beam_bound(const beam_search *s, size_t sentence, double log_prob)
{
    return fmax(beam_score(s, log_prob, s->length + 2), beam_score(s, log_prob, s->batch->limits[sentence]));
}

/* ---- one token ---------------------------------------------------------------------------------------------- */

static void beam_continue_row(beam_search *s, const candidate *c)
{
    search_row *to = &s->next[s->next_count];
    memcpy(to->tokens, s->rows[c->row].tokens, s->length * sizeof(int32_t));
    to->tokens[s->length] = c->token;
    to->log_prob = c->log_prob;
    s->tokens[s->next_count] = c->token;
    s->parents[s->next_count++] = (int32_t)c->row;
}

/* Extends one sentence by a token, unless it is cancelled: candidates that end become results; the best others stay if they can
 * still become a result. */
static rapt_code beam_extend_sentence(beam_search *s, size_t sentence, size_t first, rapt_real *logits, rapt_error *err)
{
    size_t before = s->next_count, open = 0;
    bool last = s->length + 1 == s->batch->limits[sentence];
    if (search_is_stopped(&s->batch->stop, sentence)) {
        s->results[sentence].count = s->counts[sentence] = 0;
        return RAPT_OK;
    }
    if (beam_gather(s, sentence, first, logits, err))
        return RAPT_ERR_NOT_FINITE;
    for (size_t i = 0; i < s->found.count && open < s->options->beam; i++) {
        const candidate *c = &s->found.best[i];
        open += c->token != s->options->special.eos;
        if (c->token == s->options->special.eos || last) {
            int32_t *tokens = s->rows[c->row].tokens;
            tokens[s->length] = c->token;
            beam_keep_result(s, sentence, tokens, s->length + 1, c->log_prob);
        } else {
            beam_continue_row(s, c);
        }
    }
    double worst = beam_worst_result(s, sentence);
    while (s->next_count > before && !(beam_bound(s, sentence, s->next[s->next_count - 1].log_prob) > worst))
        s->next_count--;
    s->counts[sentence] = s->next_count - before;
    if (s->counts[sentence] == 0)
        search_end_sentence(s->batch, sentence);
    return RAPT_OK;
}

/* One position for all sentences. */
static rapt_code beam_extend(beam_search *s, rapt_real *logits, rapt_error *err)
{
    size_t first = 0;
    rapt_code code = RAPT_OK;
    s->next_count = 0;
    for (size_t i = 0; i < s->batch->source.batch && !code; i++) {
        size_t count = s->counts[i];
        if (count > 0)
            code = beam_extend_sentence(s, i, first, logits, err);
        first += count;
    }
    search_row *rows = s->rows;
    s->rows = s->next;
    s->next = rows;
    s->base.rows = s->next_count;
    s->length++;
    return code;
}

/* All hypotheses of a sentence begin with <bos>: one row is enough. */
static void beam_start_rows(beam_search *s)
{
    s->base.rows = s->batch->source.batch;
    for (size_t i = 0; i < s->base.rows; i++) {
        s->tokens[i] = s->options->special.bos;
        s->counts[i] = 1;
    }
}

/* A search's extend. */
static rapt_code beam_step(search_run *base, rapt_decoder_state *state, rapt_real *logits, rapt_error *err)
{
    beam_search *s = (beam_search *)base;
    rapt_code code = beam_extend(s, logits, err);
    if (!code && base->rows > 0)
        rapt_decoder_state_select(state, s->parents, base->rows);
    return code;
}

rapt_code search_beam(const searcher *on, const search_batch *batch, const search_options *options, arena *memory,
                      search_result *results, search_run **out, rapt_error *err)
{
    beam_search *s = arena_array(memory, 1, sizeof *s);
    if (s)
        *s = (beam_search){.base.extend = beam_step, .k = search_kernels(on->t), .batch = batch, .options = options,
                           .classes = on->m->config.target_vocab, .results = results};
    if (!s || !beam_allocate(s, memory))
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a beam of %zu", options->beam);
    beam_start_rows(s);
    s->base.tokens = s->tokens;
    *out = &s->base;
    return search_start(on, batch, options->beam, err);
}
