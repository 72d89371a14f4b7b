/* decode/greedy.c: greedy search: the most probable token at each position (the book's predict_seq2seq). For
 * rapt_translate. */
#include "decode/search.h"

#include "base/math.h"

/* The unfinished sentences, one row each. */
typedef struct greedy_search {
    search_run base; /* its rows are the sentences' */
    const kernels *k;
    const search_batch *batch;
    const search_options *options;
    size_t classes;
    size_t *sentences;          /* [rows] */
    int32_t *tokens, *parents;  /* [rows]: the last token; the row before */
    search_result *results;
} greedy_search;

static bool greedy_allocate(greedy_search *s, arena *memory)
{
    const search_batch *b = s->batch;
    const size_t rows = s->base.rows = b->source.batch;
    s->tokens = arena_array(memory, rows, sizeof *s->tokens);
    s->parents = arena_array(memory, rows, sizeof *s->parents);
    s->sentences = arena_array(memory, rows, sizeof *s->sentences);
    bool ok = s->tokens && s->parents && s->sentences;
    for (size_t i = 0; ok && i < rows; i++) {
        search_hypothesis *h = arena_zeroed(memory, 1, sizeof *h);
        s->results[i] = (search_result){h, 1};
        ok = h && (h->tokens = arena_array(memory, b->limits[i], sizeof *h->tokens));
        s->tokens[i] = s->options->special.bos;
        s->sentences[i] = i;
    }
    return ok;
}

/* The first of the largest logits. `max` was the largest before tokens were banned, and nearly always still is. */
static size_t greedy_best(const greedy_search *s, const rapt_real *logits, rapt_real max)
{
    const size_t first = s->k->first_at_least(s->classes, logits, max);
    return first < s->classes ? first : s->k->argmax(s->classes, logits);
}

/* The softmax is over all tokens, including banned ones. `logits`: [classes]. */
static rapt_code greedy_append(const greedy_search *s, size_t sentence, rapt_real *logits, rapt_error *err)
{
    search_hypothesis *h = s->results[sentence].best;
    rapt_real max, sum;
    s->k->log_sum_exp(s->classes, logits, &max, &sum);
    if (search_check(max, sum, err))
        return RAPT_ERR_NOT_FINITE;
    int32_t best = search_forced(s->batch, sentence, h->length);
    if (best < 0) {
        search_ban(s->options, h->tokens, h->length, s->classes, logits);
        best = (int32_t)greedy_best(s, logits, max);
    }
    h->log_prob = h->log_prob - (double)max - math_log((double)sum) + (double)logits[best];
    h->tokens[h->length++] = best;
    return RAPT_OK;
}

/* Appends the most probable token to each sentence that is not cancelled. The *count unfinished sentences move up, without
 * gaps. */
static rapt_code greedy_extend(greedy_search *s, rapt_real *logits, size_t *count, rapt_error *err)
{
    size_t left = 0;
    for (size_t r = 0; r < s->base.rows; r++) {
        size_t sentence = s->sentences[r];
        search_hypothesis *h = s->results[sentence].best;
        if (search_is_stopped(&s->batch->stop, sentence)) {
            s->results[sentence].count = 0;
            continue;
        }
        rapt_code code = greedy_append(s, sentence, logits + r * s->classes, err);
        if (code)
            return code;
        int32_t last = h->tokens[h->length - 1];
        if (h->length == s->batch->limits[sentence] || last == s->options->special.eos) {
            h->score = h->log_prob / search_penalty(s->options->length_penalty, h->length);
            search_end_sentence(s->batch, sentence);
            continue;
        }
        s->sentences[left] = sentence;
        s->tokens[left] = last;
        s->parents[left++] = (int32_t)r;
    }
    *count = left;
    return RAPT_OK;
}

/* A search's extend. */
static rapt_code greedy_step(search_run *base, rapt_decoder_state *state, rapt_real *logits, rapt_error *err)
{
    greedy_search *s = (greedy_search *)base;
    size_t left;
    rapt_code code = greedy_extend(s, logits, &left, err);
    if (code)
        return code;
    if (left > 0 && left < base->rows)
        rapt_decoder_state_select(state, s->parents, left);
    base->rows = left;
    return RAPT_OK;
}

rapt_code search_greedy(const searcher *on, const search_batch *batch, const search_options *options, arena *memory,
                        search_result *results, search_run **out, rapt_error *err)
{
    greedy_search *s = arena_array(memory, 1, sizeof *s);
    if (s)
        *s = (greedy_search){.base.extend = greedy_step, .k = search_kernels(on->t), .batch = batch, .options = options,
                             .classes = on->m->config.target_vocab, .results = results};
    if (!s || !greedy_allocate(s, memory))
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a greedy search");
    s->base.tokens = s->tokens;
    *out = &s->base;
    return search_start(on, batch, 1, err);
}
