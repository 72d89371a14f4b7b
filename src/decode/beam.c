/* decode/beam.c: beam search: the best `beam` beginnings of each sentence are extended together. For rapt_translate.
 * Among equal scores the earlier row and the smaller token win, so the result is one. */
#include "decode/search.h"

#include "base/arena.h"
#include "base/math.h"
#include "ops/tape.h"

#include <string.h>

typedef struct candidate {
    double log_p;
    size_t row; /* within the sentence */
    int32_t token;
} candidate;

/* A beginning: its tokens so far. */
typedef struct beam_row {
    int32_t *tokens;
    double log_p;
    bool alive;
} beam_row;

typedef struct beam_search {
    const kernels *k;
    const search_batch *batch;
    const search_options *options;
    size_t beam, classes, capacity, length;
    beam_row *rows, *next;  /* [batch * beam] */
    int32_t *tokens, *parents;
    candidate *best;        /* [2 * beam], of one sentence */
    bool *done;             /* [batch] */
    search_result *results;
} beam_search;

static bool allocate_rows(beam_row **rows, size_t count, size_t capacity, arena *memory)
{
    *rows = arena_zeroed(memory, count, sizeof **rows);
    bool ok = *rows != NULL;
    for (size_t i = 0; ok && i < count; i++)
        ok = ((*rows)[i].tokens = arena_array(memory, capacity, sizeof(int32_t))) != NULL;
    return ok;
}

static bool allocate_results(beam_search *s, arena *memory)
{
    bool ok = true;
    for (size_t i = 0; ok && i < s->batch->source.batch; i++) {
        s->results[i] = (search_result){arena_zeroed(memory, s->beam, sizeof(search_hypothesis)), 0};
        ok = s->results[i].best != NULL;
        for (size_t j = 0; ok && j < s->beam; j++)
            ok = (s->results[i].best[j].tokens = arena_array(memory, s->capacity, sizeof(int32_t))) != NULL;
    }
    return ok;
}

static bool allocate(beam_search *s, arena *memory)
{
    size_t count = s->batch->source.batch * s->beam;
    for (size_t i = 0; i < s->batch->source.batch; i++)
        s->capacity = s->batch->limits[i] > s->capacity ? s->batch->limits[i] : s->capacity;
    s->tokens = arena_array(memory, count, sizeof *s->tokens);
    s->parents = arena_array(memory, count, sizeof *s->parents);
    s->best = arena_array(memory, 2 * s->beam, sizeof *s->best);
    s->done = arena_zeroed(memory, s->batch->source.batch, sizeof *s->done);
    return s->tokens && s->parents && s->best && s->done && allocate_rows(&s->rows, count, s->capacity, memory) &&
           allocate_rows(&s->next, count, s->capacity, memory) && allocate_results(s, memory);
}

/* Puts c into the sorted list of at most `most`; returns its new size. */
static size_t offer(candidate *list, size_t size, size_t most, candidate c)
{
    if (size == most && !(c.log_p > list[size - 1].log_p))
        return size;
    size_t at = size < most ? size++ : size - 1;
    for (; at > 0 && c.log_p > list[at - 1].log_p; at--)
        list[at] = list[at - 1];
    list[at] = c;
    return size;
}

static size_t gather(const beam_search *s, size_t sentence, const rapt_real *logits)
{
    size_t size = 0, most = 2 * s->beam;
    for (size_t r = 0; r < s->beam; r++) {
        const beam_row *row = &s->rows[sentence * s->beam + r];
        const rapt_real *x = logits + (sentence * s->beam + r) * s->classes;
        rapt_real max, sum;
        if (!row->alive)
            continue;
        s->k->log_sum_exp(s->classes, x, &max, &sum);
        double base = row->log_p - (double)max - math_log((double)sum);
        for (size_t j = 0; j < s->classes; j++)
            size = offer(s->best, size, most, (candidate){base + (double)x[j], r, (int32_t)j});
    }
    return size;
}

/* Files a finished hypothesis among the sentence's results, the best first. */
static void file(beam_search *s, size_t sentence, const int32_t *tokens, size_t length, double log_p)
{
    search_result *r = &s->results[sentence];
    double score = log_p / search_penalty(s->options->length_penalty, length);
    if (r->count == s->beam && !(score > r->best[r->count - 1].score))
        return;
    size_t at = r->count < s->beam ? r->count++ : r->count - 1;
    int32_t *room = r->best[at].tokens;
    for (; at > 0 && score > r->best[at - 1].score; at--)
        r->best[at] = r->best[at - 1];
    memcpy(room, tokens, length * sizeof *tokens);
    r->best[at] = (search_hypothesis){room, length, score};
}

static void continue_row(beam_search *s, size_t sentence, size_t slot, const candidate *c)
{
    size_t to = sentence * s->beam + slot, from = sentence * s->beam + c->row;
    memcpy(s->next[to].tokens, s->rows[from].tokens, s->length * sizeof(int32_t));
    s->next[to].tokens[s->length] = c->token;
    s->next[to].log_p = c->log_p;
    s->next[to].alive = true;
    s->tokens[to] = c->token;
    s->parents[to] = (int32_t)from;
}

static void finish_candidate(beam_search *s, size_t sentence, const candidate *c)
{
    int32_t *tokens = s->rows[sentence * s->beam + c->row].tokens;
    tokens[s->length] = c->token;
    file(s, sentence, tokens, s->length + 1, c->log_p);
}

/* Extends one sentence by a token: ended candidates are filed, the best others go on. */
static void extend_sentence(beam_search *s, size_t sentence, const rapt_real *logits)
{
    size_t count = gather(s, sentence, logits), slot = 0;
    bool last = s->length + 1 == s->batch->limits[sentence];
    for (size_t i = 0; i < count && slot < s->beam; i++) {
        if (s->best[i].token == RAPT_EOS || last)
            finish_candidate(s, sentence, &s->best[i]);
        else
            continue_row(s, sentence, slot, &s->best[i]);
        slot += s->best[i].token != RAPT_EOS;
    }
    s->done[sentence] = last || s->results[sentence].count == s->beam;
}

static void rest_rows(beam_search *s, size_t sentence)
{
    for (size_t i = sentence * s->beam; i < (sentence + 1) * s->beam; i++) {
        s->next[i].alive = false;
        s->tokens[i] = RAPT_PAD;
        s->parents[i] = (int32_t)i;
    }
}

/* One position for all sentences; returns whether one is left. */
static bool extend(beam_search *s, const rapt_real *logits)
{
    bool left = false;
    for (size_t i = 0; i < s->batch->source.batch; i++) {
        rest_rows(s, i);
        if (!s->done[i])
            extend_sentence(s, i, logits);
        left = left || !s->done[i];
    }
    beam_row *rows = s->rows;
    s->rows = s->next;
    s->next = rows;
    s->length++;
    return left;
}

static void start_rows(beam_search *s)
{
    for (size_t i = 0; i < s->batch->source.batch * s->beam; i++) {
        s->tokens[i] = RAPT_BOS;
        s->rows[i].alive = i % s->beam == 0; /* all rows of a sentence begin alike: one is enough */
    }
}

rapt_code search_beam(rapt_tape *t, const rapt_transformer *m, const search_batch *batch, const search_options *options,
                      arena *memory, search_result *results, rapt_error *err)
{
    beam_search s = {.k = t->k, .batch = batch, .options = options, .beam = options->beam,
                     .classes = m->config.target_vocab, .results = results};
    if (!allocate(&s, memory))
        return rapt_fail(err, RAPT_NO_MEMORY, "no memory for a beam of %zu", options->beam);
    rapt_decoder_state *state = search_start(t, m, batch, s.beam, memory, err);
    if (!state)
        return search_failure(err);
    start_rows(&s);
    const rapt_real *logits;
    bool left = true;
    while (left && (logits = search_step(t, m, state, s.tokens, batch->source.batch * s.beam, err))) {
        left = extend(&s, logits);
        if (left)
            rapt_decoder_state_reorder(state, s.parents);
    }
    rapt_decoder_state_free(state);
    return left ? search_failure(err) : RAPT_OK;
}
