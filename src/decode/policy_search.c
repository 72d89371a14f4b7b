/* decode/policy_search.c: the beam search of transformers 5: it decides in the same way which hypotheses end, which stay, and
 * when a search is over. Its placeholder hypotheses with a score of -1e9 are left out. Sums are doubles here, floats there. */
#include "decode/policy_search.h"

#include "base/math.h"
#include "decode/candidates.h"
#include "decode/search_rows.h"

#include <math.h>
#include <string.h>

struct policy_run {
    const policy_model *m;
    const policy_start *starts;
    size_t texts;
    const policy_options *options;
    size_t length, capacity;   /* tokens of every row so far, and max */
    search_row *rows, *next;   /* [row_count]: the rows of text 0, of text 1, ... */
    size_t row_count, next_count;
    size_t *counts;            /* [texts] rows of each; 0: it is done */
    int32_t *tokens, *parents; /* for the next rows */
    candidate_list found;
    bool *seen;                /* [classes] */
    search_result *results;
};

/* ---- memory ------------------------------------------------------------------------------------------------------- */

static bool policy_allocate(policy_run *s, arena *memory)
{
    size_t count = s->texts * s->options->beams, ends = s->options->rules.eos_count;
    for (size_t i = 0; i < s->texts; i++) {
        size_t length = s->starts[i].count + s->starts[i].limit;
        s->capacity = length > s->capacity ? length : s->capacity;
    }
    s->found.max = s->options->beams == 1 ? 1 : (ends > 1 ? 1 + ends : 2) * s->options->beams;
    s->found.best = arena_array(memory, s->found.max, sizeof *s->found.best);
    s->tokens = arena_array(memory, count, sizeof *s->tokens);
    s->parents = arena_array(memory, count, sizeof *s->parents);
    s->counts = arena_array(memory, s->texts, sizeof *s->counts);
    s->seen = arena_zeroed(memory, s->m->classes, sizeof *s->seen);
    return s->found.best && s->tokens && s->parents && s->counts && s->seen &&
           search_rows_allocate(&s->rows, count, s->capacity, memory) &&
           search_rows_allocate(&s->next, count, s->capacity, memory) &&
           search_rows_allocate_results(s->results, s->texts, s->options->beams, s->capacity, memory);
}

/* ---- results ------------------------------------------------------------------------------------------------------ */

static double policy_score_of(const policy_run *s, double log_prob, size_t new_tokens)
{
    return s->options->length_penalty == 0 ? log_prob : log_prob / math_pow((double)new_tokens, s->options->length_penalty);
}

/* Puts a finished hypothesis among the best of its text: the row's tokens and one more. */
static void policy_keep(policy_run *s, size_t text, const candidate *c)
{
    search_result *r = &s->results[text];
    const size_t beams = s->options->beams, known = s->options->known, length = s->length + 1 - known;
    double score = policy_score_of(s, c->log_prob, s->length + 1 - s->starts[text].count);
    if (r->count == beams && !(score > r->best[beams - 1].score))
        return;
    size_t at = r->count < beams ? r->count++ : beams - 1;
    int32_t *copy = r->best[at].tokens;
    for (; at > 0 && score > r->best[at - 1].score; at--)
        r->best[at] = r->best[at - 1];
    memcpy(copy, s->rows[c->row].tokens + known, (length - 1) * sizeof *copy);
    copy[length - 1] = c->token;
    r->best[at] = (search_hypothesis){copy, length, c->log_prob, score};
}

/* Whether a text has as many hypotheses as beams, and `best`, its best unfinished row, is not to improve them. */
static bool policy_is_done(const policy_run *s, size_t text, const search_row *best)
{
    const search_result *r = &s->results[text];
    const rapt_early_stopping stopping = s->options->rules.policy->early_stopping;
    if (r->count < s->options->beams)
        return false;
    if (s->options->beams == 1 || stopping == RAPT_EARLY_STOPPING_YES)
        return true;
    bool at_the_end = stopping == RAPT_EARLY_STOPPING_NEVER && s->options->length_penalty > 0;
    size_t length = at_the_end ? s->starts[text].limit : s->length + 1 - s->starts[text].count;
    return !(policy_score_of(s, best->log_prob, length) > r->best[r->count - 1].score);
}

/* ---- one token ---------------------------------------------------------------------------------------------------- */

static void policy_continue_row(policy_run *s, const candidate *c)
{
    search_row *to = &s->next[s->next_count];
    memcpy(to->tokens, s->rows[c->row].tokens, s->length * sizeof(int32_t));
    to->tokens[s->length] = c->token;
    to->log_prob = c->log_prob;
    s->tokens[s->next_count] = c->token;
    s->parents[s->next_count++] = (int32_t)c->row;
}

/* Collects the candidates of a text, whose rows are `first` and following. `logits`: [row_count, classes]. */
static rapt_code policy_gather(policy_run *s, size_t text, size_t first, rapt_real *logits, rapt_error *err)
{
    const policy_start *start = &s->starts[text];
    const size_t classes = s->m->classes;
    s->found.count = 0;
    for (size_t i = first; i < first + s->counts[text]; i++) {
        const policy_text so_far = {s->rows[i].tokens, s->length, start->count, start->count + start->limit, start->source,
                                    start->source_count};
        rapt_real *x = logits + i * classes; /* [classes] */
        double log_sum;
        rapt_code code = policy_score(s->m->k, &s->options->rules, &so_far, s->seen, classes, x, &log_sum, err);
        if (code)
            return code;
        candidates_gather_row(s->m->k, &s->found, classes, x, s->rows[i].log_prob - log_sum, i);
    }
    return s->found.count ? RAPT_OK
                          : rapt_fail(err, RAPT_ERR_VALUE, "the model's generation settings exclude every token at position %zu",
                                      s->length);
}

/* Extends one text by a token, unless it is cancelled. There are more candidates than beams: the first `beams` candidates may end
 * the text, and the best `beams` candidates that do not end it stay. */
static rapt_code policy_extend_text(policy_run *s, size_t text, size_t first, rapt_real *logits, rapt_error *err)
{
    const policy_start *start = &s->starts[text];
    const size_t before = s->next_count, beams = s->options->beams;
    const bool last = s->length + 1 == start->count + start->limit;
    if (search_is_stopped(&s->options->stop, text)) {
        s->results[text].count = s->counts[text] = 0;
        return RAPT_OK;
    }
    if (s->length < start->count) {
        policy_continue_row(s, &(candidate){s->rows[first].log_prob, first, start->prompt[s->length]});
        return RAPT_OK;
    }
    rapt_code code = policy_gather(s, text, first, logits, err);
    for (size_t i = 0; i < s->found.count && !code; i++) {
        const candidate *c = &s->found.best[i];
        bool ends = last || policy_ends(&s->options->rules, c->token);
        if (ends && i < beams)
            policy_keep(s, text, c);
        else if (!ends && s->next_count - before < beams)
            policy_continue_row(s, c);
    }
    if (s->next_count > before && policy_is_done(s, text, &s->next[before]))
        s->next_count = before;
    s->counts[text] = s->next_count - before;
    if (s->counts[text] == 0 && s->options->over)
        s->options->over[text] = true;
    return code;
}

/* One position of all texts. */
static rapt_code policy_extend(policy_run *s, rapt_real *logits, rapt_error *err)
{
    size_t first = 0;
    rapt_code code = RAPT_OK;
    s->next_count = 0;
    for (size_t i = 0; i < s->texts && !code; i++) {
        size_t count = s->counts[i];
        if (count > 0)
            code = policy_extend_text(s, i, first, logits, err);
        first += count;
    }
    search_row *rows = s->rows;
    s->rows = s->next;
    s->next = rows;
    s->row_count = s->next_count;
    s->length++;
    return code;
}

/* A text has one row at first: hypotheses with the same prompt would be the same. */
static void policy_start_rows(policy_run *s)
{
    s->row_count = s->texts;
    s->length = s->options->known;
    for (size_t i = 0; i < s->texts; i++) {
        memcpy(s->rows[i].tokens, s->starts[i].prompt, s->length * sizeof(int32_t));
        s->tokens[i] = s->rows[i].tokens[s->length - 1];
        s->counts[i] = 1;
    }
}

rapt_code policy_search_begin(const policy_model *m, const policy_start *starts, size_t texts, const policy_options *options,
                              arena *memory, search_result *results, policy_run **run, rapt_error *err)
{
    policy_run *s = arena_array(memory, 1, sizeof *s);
    if (s)
        *s = (policy_run){.m = m, .starts = starts, .texts = texts, .options = options, .results = results};
    if (!s || !policy_allocate(s, memory))
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu beams", options->beams);
    policy_start_rows(s);
    *run = s;
    return RAPT_OK;
}

const int32_t *policy_search_tokens(const policy_run *s, size_t *rows)
{
    *rows = s->row_count;
    return s->tokens;
}

rapt_code policy_search_extend(policy_run *s, rapt_real *logits, rapt_error *err)
{
    rapt_code code = policy_extend(s, logits, err);
    if (!code && s->row_count > 0)
        s->m->select(s->m->context, s->parents, s->row_count);
    return code;
}

rapt_code policy_search(const policy_model *m, const policy_start *starts, size_t texts, const policy_options *options,
                        arena *memory, search_result *results, rapt_error *err)
{
    policy_run *s;
    rapt_code code = policy_search_begin(m, starts, texts, options, memory, results, &s, err);
    while (!code && s->row_count > 0) {
        rapt_real *logits;
        code = m->step(m->context, s->tokens, s->row_count, &logits, err);
        code = code ? code : policy_search_extend(s, logits, err);
    }
    return code;
}
