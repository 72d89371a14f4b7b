/* search/search_phrases.c: which candidates a search with phrases takes: dynamic beam allocation (Post and Vilar 2018), with the
 * places given out in turns (Hu et al. 2019). Besides the best of all, the candidates are each row's best token and the tokens
 * that bring it nearer to its phrases; they compete only with candidates that miss as many tokens. So a hypothesis that has begun
 * a phrase is not lost to others, which are more probable so far. */
#include "search/search_phrases.h"

#include <stdlib.h>
#include <string.h>

/* A beam that has a place for each number of missing tokens finds all phrases; narrower ones keep to the length (see
 * phrases_are_late). More than LARGEST_FOR_PHRASES places would cost time for little. */
enum { LEAST_FOR_PHRASES = 8, LARGEST_FOR_PHRASES = 32 };

size_t search_beam(const search_options *o, const search_phrases *p)
{
    const size_t places = p->count ? phrases_length(p) + 1 : 0;
    size_t beam = places > LARGEST_FOR_PHRASES ? LARGEST_FOR_PHRASES : places;
    beam = p->count && beam < LEAST_FOR_PHRASES ? LEAST_FOR_PHRASES : beam;
    return o->beam > beam ? o->beam : beam;
}

bool search_phrases_allocate(search *s, arena *memory)
{
    search_required *r = &s->required;
    const search_phrases *p = &s->text.phrases;
    r->length = phrases_length(p);
    r->next.ids = arena_array(memory, phrases_ways(p) + 1, sizeof *r->next.ids);
    r->index.list = arena_array(memory, phrases_tokens(p), sizeof *r->index.list);
    r->counts = arena_array(memory, s->options.beam, sizeof *r->counts);
    struct phrase_count *counts = arena_array(memory, s->options.beam * p->count, sizeof *counts);
    r->more_max = s->options.beam * (phrases_ways(p) + 1);
    r->more = arena_array(memory, r->more_max, sizeof *r->more);
    const size_t most = r->more_max + s->candidates.max;
    r->all = arena_array(memory, most, sizeof *r->all);
    r->missing = arena_array(memory, most, sizeof *r->missing);
    s->candidates.best = arena_array(memory, most, sizeof *s->candidates.best); /* all may end at once */
    r->there = arena_array(memory, r->length + 1, sizeof *r->there);
    r->taken = arena_array(memory, r->length + 1, sizeof *r->taken);
    if (r->index.list)
        phrases_index(p, &r->index);
    for (size_t i = 0; i < s->options.beam && r->counts && counts; i++)
        r->counts[i].of = counts + i * p->count;
    const bool indexed = r->next.ids && r->index.list && r->counts && counts;
    return indexed && r->more && r->all && r->missing && s->candidates.best && r->there && r->taken;
}

static void phrases_add(search *s, const rapt_real *x, double base, size_t row, int32_t token)
{
    if (x[token] > -INFINITY)
        s->required.more[s->required.more_count++] = (candidate){base + (double)x[token], row, token};
}

/* The best token is added although it may be among the candidates already: there it comes twice. */
void search_phrases_gather(search *s, rapt_real *x, double base, size_t row)
{
    search_required *r = &s->required;
    const int32_t *tokens = s->rows[row].tokens + s->text.known;
    const size_t length = s->length - s->text.known;
    if (row == 0)
        r->more_count = 0;
    r->next.count = 0;
    phrases_count(&s->text.phrases, &r->index, tokens, length, &r->counts[row]);
    if (phrases_missing(&s->text.phrases, &r->counts[row], tokens, length, &r->next) > 0)
        for (size_t i = 0; i < s->text.eos_count; i++)
            x[s->text.eos[i]] = -INFINITY;
    candidates_gather_row(s->k, &s->candidates, s->classes, x, base, row);
    phrases_add(s, x, base, row, (int32_t)s->k->argmax(s->classes, x));
    for (size_t i = 0; i < r->next.count; i++)
        phrases_add(s, x, base, row, r->next.ids[i]);
}

static int candidate_by_rank(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    if (x->log_prob != y->log_prob)
        return x->log_prob > y->log_prob ? -1 : 1;
    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    return (x->token > y->token) - (x->token < y->token);
}

/* All candidates, the best first, each once. Returns how many there are. */
static size_t phrases_merge(search *s)
{
    search_required *r = &s->required;
    const size_t count = s->candidates.count, all = count + r->more_count;
    size_t kept = 0;
    if (count > 0)
        memcpy(r->all, s->candidates.best, count * sizeof *r->all);
    if (r->more_count > 0)
        memcpy(r->all + count, r->more, r->more_count * sizeof *r->all);
    if (all > 0)
        qsort(r->all, all, sizeof *r->all, candidate_by_rank);
    for (size_t i = 0; i < all; i++)
        if (i == 0 || candidate_by_rank(&r->all[i], &r->all[i - 1]) != 0)
            r->all[kept++] = r->all[i];
    return kept;
}

/* Whether a row of this length has no room for the tokens that it misses. A beam with a place for each number of missing tokens
 * needs no such care: one step after the other, one of its rows misses one token less. */
static bool phrases_are_late(const search *s, size_t length, size_t missing)
{
    const bool wide = s->options.beam > s->required.length;
    return length == s->text.max_length ? missing > 0 : !wide && length + missing > s->text.max_length;
}

/* Sets missing[i] for the candidates, and drops the ones that are late. */
static size_t phrases_measure(search *s, size_t count)
{
    search_required *r = &s->required;
    const size_t known = s->text.known;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        int32_t *tokens = s->rows[r->all[i].row].tokens;
        tokens[s->length] = r->all[i].token;
        const size_t missing = phrases_missing_after(&s->text.phrases, &r->index, &r->counts[r->all[i].row], tokens + known,
                                                     s->length + 1 - known);
        if (phrases_are_late(s, s->length + 1, missing))
            continue;
        r->all[kept] = r->all[i];
        r->missing[kept++] = missing;
    }
    return kept;
}

/* taken[m]: how many candidates that miss m tokens continue: one of each m in turn, the nearest to the end first, until the beam
 * is full. */
static void phrases_share(const search *s)
{
    const search_required *r = &s->required;
    size_t places = s->options.beam;
    memset(r->taken, 0, (r->length + 1) * sizeof *r->taken);
    for (bool any = true; any && places > 0;) {
        any = false;
        for (size_t m = 0; m <= r->length && places > 0; m++)
            if (r->taken[m] < r->there[m]) {
                r->taken[m]++;
                places--;
                any = true;
            }
    }
}

static bool phrases_end(const search *s, int32_t token)
{
    return s->length + 1 == s->text.max_length || search_ends(s, token);
}

void search_phrases_choose(search *s)
{
    search_required *r = &s->required;
    const size_t count = phrases_measure(s, phrases_merge(s));
    size_t complete = 0;
    s->candidates.count = 0;
    memset(r->there, 0, (r->length + 1) * sizeof *r->there);
    for (size_t i = 0; i < count; i++)
        r->there[r->missing[i]] += !phrases_end(s, r->all[i].token);
    phrases_share(s);
    for (size_t i = 0; i < count; i++) {
        const size_t missing = r->missing[i];
        bool stays = phrases_end(s, r->all[i].token);
        complete += missing == 0;
        if (stays)
            stays = s->rule->late_ends || complete <= s->options.beam;
        else if (r->taken[missing] > 0)
            stays = r->taken[missing]--;
        if (stays)
            s->candidates.best[s->candidates.count++] = r->all[i];
    }
}
