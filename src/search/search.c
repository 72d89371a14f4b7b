/* search/search.c: one search for all: the rows with the best hypotheses of a text are extended together, a token at a time; with
 * one row it is greedy search, the book's predict_seq2seq. Which tokens may follow, what a hypothesis scores, and when it cannot
 * win any more, two rules say: rapt's own (search_own.c) and the one of Hugging Face folders (search_policy.c). */
#include "search/search_phrases.h"

#include <string.h>

/* ---- memory ------------------------------------------------------------------------------------------------------- */

/* A list of tokens, and their log-probabilities if they are asked for. */
static bool search_allocate_tokens(const search *s, int32_t **tokens, double **log_probs, arena *memory)
{
    *tokens = arena_array(memory, s->text.max_length, sizeof **tokens);
    *log_probs = s->options.log_probs ? arena_zeroed(memory, s->text.max_length, sizeof **log_probs) : NULL;
    return *tokens && (*log_probs || !s->options.log_probs);
}

static bool search_allocate_rows(const search *s, search_row **rows, arena *memory)
{
    *rows = arena_zeroed(memory, s->options.beam, sizeof **rows);
    bool ok = *rows != NULL;
    for (size_t i = 0; ok && i < s->options.beam; i++)
        ok = search_allocate_tokens(s, &(*rows)[i].tokens, &(*rows)[i].sums, memory);
    return ok;
}

static bool search_allocate_result(search *s, arena *memory)
{
    s->found.best = arena_zeroed(memory, s->wanted, sizeof *s->found.best);
    bool ok = s->found.best != NULL;
    for (size_t i = 0; ok && i < s->wanted; i++)
        ok = search_allocate_tokens(s, &s->found.best[i].tokens, &s->found.best[i].log_probs, memory);
    return ok;
}

/* Enough candidates that `beam` of them stay, even if the most probable tokens of every row end it. */
static bool search_allocate(search *s, arena *memory)
{
    const size_t beam = s->options.beam, ends = s->text.eos_count;
    const bool needs_seen = s->options.policy || search_penalizes(&s->options);
    s->candidates.max = beam == 1 ? 1 : (ends > 1 ? 1 + ends : 2) * beam;
    s->candidates.best = arena_array(memory, s->candidates.max, sizeof *s->candidates.best);
    s->tokens = arena_array(memory, beam, sizeof *s->tokens);
    s->parents = arena_array(memory, beam, sizeof *s->parents);
    s->seen = needs_seen ? arena_zeroed(memory, s->classes, sizeof *s->seen) : NULL;
    return s->candidates.best && s->tokens && s->parents && (s->seen || !needs_seen) &&
           (s->text.phrases.count == 0 || search_phrases_allocate(s, memory)) &&
           search_allocate_rows(s, &s->rows, memory) && search_allocate_rows(s, &s->next, memory) &&
           search_allocate_result(s, memory);
}

/* Rounded as CTranslate2 does. */
static size_t search_enough(const search_options *o)
{
    const double enough = floor((double)o->beam * o->patience + 0.5);
    return o->patience > 0 ? (enough < 1 ? 1 : (size_t)enough) : 0;
}

search *search_new(const search_options *o, const search_text *text, const kernels *k, size_t classes, arena *memory,
                   rapt_error *err)
{
    search *s = arena_array(memory, 1, sizeof *s);
    search_options own = *o;
    own.beam = search_beam(o, &text->phrases);
    const size_t enough = search_enough(&own), of_policy = enough > own.beam ? enough : own.beam;
    if (s)
        *s = (search){.rule = o->policy ? &search_rule_of_policy : &search_rule_own, .options = own, .text = *text, .k = k,
                      .classes = classes, .memory = memory, .wanted = o->policy ? of_policy : o->n_best, .enough = enough,
                      .row_count = 1, .length = text->known};
    if (!s || !search_allocate(s, memory)) {
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a beam of %zu", own.beam);
        return NULL;
    }
    memcpy(s->rows[0].tokens, text->prompt, text->known * sizeof *text->prompt);
    s->tokens[0] = text->prompt[text->known - 1];
    return s;
}

/* ---- results ------------------------------------------------------------------------------------------------------ */

/* The log-probability of each token of a hypothesis: the row's, and of one more. */
static void search_tell_log_probs(const search *s, const candidate *c, double *log_probs)
{
    const size_t known = s->text.known;
    const search_row *row = &s->rows[c->row];
    for (size_t i = known; i < s->length; i++)
        log_probs[i - known] = row->sums[i] - row->sums[i - 1];
    log_probs[s->length - known] = c->log_prob - row->log_prob;
}

/* Puts a finished hypothesis among the results, the best first: the row's tokens and one more. */
static void search_keep(search *s, const candidate *c)
{
    search_result *r = &s->found;
    const size_t known = s->text.known, length = s->length + 1 - known;
    const double score = s->rule->score(s, c->log_prob, s->length + 1);
    s->ended++;
    if (!(score > search_worst(s)))
        return;
    size_t at = r->count < s->wanted ? r->count++ : r->count - 1;
    int32_t *copy = r->best[at].tokens;
    double *log_probs = r->best[at].log_probs;
    for (; at > 0 && score > r->best[at - 1].score; at--)
        r->best[at] = r->best[at - 1];
    memcpy(copy, s->rows[c->row].tokens + known, (length - 1) * sizeof *copy);
    copy[length - 1] = c->token;
    if (log_probs)
        search_tell_log_probs(s, c, log_probs);
    r->best[at] = (search_hypothesis){copy, log_probs, length, c->log_prob, score};
}

search_result search_found(const search *s)
{
    return s->found;
}

/* ---- one token ---------------------------------------------------------------------------------------------------- */

static void search_continue_row(search *s, const candidate *c)
{
    search_row *to = &s->next[s->next_count];
    memcpy(to->tokens, s->rows[c->row].tokens, s->length * sizeof *to->tokens);
    to->tokens[s->length] = c->token;
    to->log_prob = c->log_prob;
    if (to->sums) {
        memcpy(to->sums, s->rows[c->row].sums, s->length * sizeof *to->sums);
        to->sums[s->length] = c->log_prob;
    }
    s->tokens[s->next_count] = c->token;
    s->parents[s->next_count++] = (int32_t)c->row;
}

/* Log-probabilities stay what they were. */
static void search_suppress(const search *s, const search_row *row, rapt_real *x)
{
    const size_t known = s->text.known;
    for (size_t i = 0; i < s->options.suppressed_count; i++)
        candidates_ban_sequence(s->options.suppressed[i].ids, s->options.suppressed[i].count, row->tokens + known,
                                s->length - known, x);
}

/* The candidate is the token that is drawn, with the probability that it has among all. */
static rapt_code search_draw(search *s, const rapt_real *x, double base, rapt_error *err)
{
    int32_t token = 0;
    const search_place at = {s->k, x, s->classes, s->text.row, s->length - s->text.known, s->memory};
    rapt_code code = s->options.draw(s->options.sampler, &at, &token, err);
    if (!code)
        candidates_insert(&s->candidates, (candidate){base + (double)x[token], 0, token});
    return code;
}

/* The means of logits[models], of a row that begins at element `at`, in place of the first. Sums of equal floats, and their
 * means, are exact in double. */
static void search_average(const search *s, rapt_real *const *logits, size_t models, size_t at)
{
    for (size_t j = at; j < at + s->classes; j++) {
        double sum = 0;
        for (size_t m = 0; m < models; m++)
            sum += (double)logits[m][j];
        logits[0][j] = (rapt_real)(sum / (double)models);
    }
}

/* The rule's `weigh` of the mean of all models: the mean of their logits, and of their bases. */
static rapt_code search_weigh(search *s, size_t row, rapt_real *const *logits, size_t models, double *base, rapt_error *err)
{
    const size_t at = row * s->classes;
    rapt_code code = s->rule->weigh(s, &s->rows[row], logits[0] + at, base, err);
    for (size_t m = 1; m < models && !code; m++) {
        double own;
        code = s->rule->weigh(s, &s->rows[row], logits[m] + at, &own, err);
        *base += (own - *base) / (double)(m + 1);
    }
    if (!code && models > 1)
        search_average(s, logits, models, at);
    return code;
}

/* The best token of a row that does not compete with the others. */
static void search_take_best(search *s, const rapt_real *x, double base, size_t row)
{
    const size_t best = s->k->argmax(s->classes, x);
    if (x[best] > -INFINITY)
        s->candidates.best[s->candidates.count++] = (candidate){base + (double)x[best], row, (int32_t)best};
}

/* Collects the candidates of all rows. */
static rapt_code search_gather(search *s, rapt_real *const *logits, size_t models, rapt_error *err)
{
    s->candidates.count = 0;
    for (size_t i = 0; i < s->row_count; i++) {
        rapt_real *x = logits[0] + i * s->classes; /* [classes] */
        double base;
        rapt_code code = search_weigh(s, i, logits, models, &base, err);
        if (!code && s->length >= s->text.count)
            search_suppress(s, &s->rows[i], x);
        if (!code && s->length < s->text.count) {
            const int32_t forced = s->text.prompt[s->length];
            candidates_insert(&s->candidates, (candidate){base + (double)x[forced], i, forced});
        } else if (!code && s->options.draw)
            code = search_draw(s, x, base, err);
        else if (!code && s->parted)
            search_take_best(s, x, base, i);
        else if (!code && s->text.phrases.count)
            search_phrases_gather(s, x, base, i);
        else if (!code)
            candidates_gather_row(s->k, &s->candidates, s->classes, x, base, i);
        if (code)
            return code;
    }
    if (s->candidates.count > 0 || s->text.phrases.count > 0)
        return RAPT_OK;
    return rapt_fail(err, RAPT_ERR_VALUE, "the model's generation settings exclude every token at position %zu", s->length);
}

/* Candidates that end become results; the best others stay if they can still become one. With phrases, all that are left do. */
static void search_choose(search *s)
{
    const bool last = s->length + 1 == s->text.max_length, phrases = s->text.phrases.count && s->length >= s->text.count;
    const size_t most = s->options.alternatives ? s->options.beam : s->candidates.count;
    size_t open = 0;
    for (size_t i = 0; i < s->candidates.count && i < most && (open < s->options.beam || phrases); i++) {
        const candidate *c = &s->candidates.best[i];
        const bool ends = search_ends(s, c->token);
        open += !ends;
        if (!ends && !last)
            search_continue_row(s, c);
        else if (i < s->options.beam || s->rule->late_ends || phrases)
            search_keep(s, c);
    }
    if (s->options.alternatives) { /* each row to its own end, from where several tokens may follow */
        s->parted = s->parted || s->candidates.count > 1;
        return;
    }
    s->rule->drop(s);
    if (s->enough > 0 && s->ended >= s->enough)
        s->next_count = 0;
}

/* The rows of the last step, as far as they stay, are now the rows. */
static void search_advance(search *s)
{
    search_row *rows = s->rows;
    s->same = s->next_count == s->row_count;
    for (size_t i = 0; i < s->next_count && s->same; i++)
        s->same = s->parents[i] == (int32_t)i;
    s->rows = s->next;
    s->next = rows;
    s->row_count = s->next_count;
    s->length++;
}

rapt_code search_extend(search *s, rapt_real *const *logits, size_t models, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    s->next_count = 0;
    if (s->length < s->text.count && !s->rule->weighs_prompt)
        search_continue_row(s, &(candidate){s->rows[0].log_prob, 0, s->text.prompt[s->length]});
    else if ((code = search_gather(s, logits, models, err)) == RAPT_OK) {
        if (s->text.phrases.count && s->length >= s->text.count)
            search_phrases_choose(s);
        search_choose(s);
    }
    search_advance(s);
    return code;
}

size_t search_rows(const search *s)
{
    return s->row_count;
}

const int32_t *search_tokens(const search *s)
{
    return s->tokens;
}

const int32_t *search_parents(const search *s)
{
    return s->same ? NULL : s->parents;
}
