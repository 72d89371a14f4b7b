/* search/phrases.c: compares the tokens of a hypothesis with phrases. All its tokens are looked through once a step. A step has
 * thousands of candidates, if there are some dozen phrases: for them only the last token is new. */
#include "search/phrases.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static size_t phrase_shortest(const search_phrase *p)
{
    size_t least = p->ways[0].count;
    for (size_t i = 1; i < p->way_count; i++)
        least = p->ways[i].count < least ? p->ways[i].count : least;
    return least;
}

size_t phrases_length(const search_phrases *p)
{
    size_t length = 0;
    for (size_t i = 0; i < p->count; i++)
        length += p->list[i].times * phrase_shortest(&p->list[i]);
    return length;
}

size_t phrases_ways(const search_phrases *p)
{
    size_t ways = 0;
    for (size_t i = 0; i < p->count; i++)
        ways += p->list[i].way_count;
    return ways;
}

size_t phrases_tokens(const search_phrases *p)
{
    size_t tokens = 0;
    for (size_t i = 0; i < p->count; i++)
        for (size_t j = 0; j < p->list[i].way_count; j++)
            tokens += p->list[i].ways[j].count;
    return tokens;
}

static int by_token_and_phrase(const void *a, const void *b)
{
    const struct phrase_entry *x = a, *y = b;
    if (x->token != y->token)
        return x->token > y->token ? 1 : -1;
    return (x->phrase > y->phrase) - (x->phrase < y->phrase);
}

void phrases_index(const search_phrases *p, phrase_index *index)
{
    size_t all = 0;
    for (size_t i = 0; i < p->count; i++)
        for (size_t j = 0; j < p->list[i].way_count; j++)
            for (size_t k = 0; k < p->list[i].ways[j].count; k++)
                index->list[all++] = (struct phrase_entry){p->list[i].ways[j].ids[k], (uint32_t)i};
    if (all > 0)
        qsort(index->list, all, sizeof *index->list, by_token_and_phrase);
    index->count = 0;
    for (size_t i = 0; i < all; i++)
        if (i == 0 || by_token_and_phrase(&index->list[i - 1], &index->list[i]) != 0)
            index->list[index->count++] = index->list[i];
}

/* The first entry of a token, or where it would be. */
static size_t index_find(const phrase_index *index, int32_t token)
{
    size_t low = 0, high = index->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (index->list[middle].token < token)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Whether tokens[length] begin with the first `count` of a way. */
static bool phrase_is_at(const rapt_token_list *way, size_t count, const int32_t *tokens, size_t length)
{
    return count <= length && tokens[0] == way->ids[0] && memcmp(tokens, way->ids, count * sizeof *tokens) == 0;
}

/* The tokens of the shortest way that tokens[length] begin with; 0: none. */
static size_t phrase_at(const search_phrase *p, const int32_t *tokens, size_t length)
{
    size_t least = 0;
    for (size_t i = 0; i < p->way_count; i++)
        if ((least == 0 || p->ways[i].count < least) && phrase_is_at(&p->ways[i], p->ways[i].count, tokens, length))
            least = p->ways[i].count;
    return least;
}

/* Counts what begins at a place: places come from the left, so that occurrences do not overlap. At each place the shortest way
 * counts. */
static void phrase_count_at(const search_phrase *p, const int32_t *tokens, size_t length, size_t at, struct phrase_count *c)
{
    const size_t size = at < c->end || c->found == p->times ? 0 : phrase_at(p, tokens + at, length - at);
    c->found += size > 0;
    c->end = size > 0 ? at + size : c->end;
}

void phrases_count(const search_phrases *p, const phrase_index *index, const int32_t *tokens, size_t length, phrase_counts *c)
{
    memset(c->of, 0, p->count * sizeof *c->of);
    for (size_t at = 0; at < length; at++)
        for (size_t i = index_find(index, tokens[at]); i < index->count && index->list[i].token == tokens[at]; i++)
            phrase_count_at(&p->list[index->list[i].phrase], tokens, length, at, &c->of[index->list[i].phrase]);
    c->missing = 0;
    for (size_t i = 0; i < p->count; i++)
        c->missing += (p->list[i].times - c->of[i].found) * phrase_shortest(&p->list[i]);
}

/* The most tokens of a way that tokens[length] end with, but not all. */
static size_t phrase_begun(const rapt_token_list *way, const int32_t *tokens, size_t length)
{
    size_t begun = way->count - 1 < length ? way->count - 1 : length;
    while (begun > 0 && !phrase_is_at(way, begun, tokens + length - begun, begun))
        begun--;
    return begun;
}

/* The tokens that a phrase needs less because of the way that has begun and needs least. */
static size_t phrase_gain(const search_phrase *p, const int32_t *tokens, size_t length, phrase_tokens *next)
{
    const size_t shortest = phrase_shortest(p);
    size_t most = 0;
    for (size_t j = 0; j < p->way_count; j++) {
        const rapt_token_list *way = &p->ways[j];
        const size_t begun = phrase_begun(way, tokens, length), rest = way->count - begun;
        if (rest < shortest && shortest - rest > most)
            most = shortest - rest;
        if (next)
            next->ids[next->count++] = way->ids[begun];
    }
    return most;
}

size_t phrases_missing(const search_phrases *p, const phrase_counts *c, const int32_t *tokens, size_t length, phrase_tokens *next)
{
    size_t most = 0;
    for (size_t i = 0; i < p->count; i++) {
        const size_t end = c->of[i].end;
        if (c->of[i].found == p->list[i].times)
            continue;
        const size_t gain = phrase_gain(&p->list[i], tokens + end, length - end, next);
        most = gain > most ? gain : most;
    }
    return c->missing - most;
}

/* Whether a way ends with the last of tokens[length]: else the token changes no count. */
static bool phrase_ends(const search_phrase *p, const int32_t *tokens, size_t length)
{
    bool ends = false;
    for (size_t j = 0; j < p->way_count && !ends; j++) {
        const size_t count = p->ways[j].count;
        ends = count <= length && phrase_is_at(&p->ways[j], count, tokens + length - count, count);
    }
    return ends;
}

size_t phrases_missing_after(const search_phrases *p, const phrase_index *index, const phrase_counts *c, const int32_t *tokens,
                             size_t length)
{
    const int32_t last = tokens[length - 1];
    size_t missing = c->missing, most = 0;
    for (size_t i = index_find(index, last); i < index->count && index->list[i].token == last; i++) {
        const search_phrase *one = &p->list[index->list[i].phrase];
        struct phrase_count has = c->of[index->list[i].phrase];
        if (phrase_ends(one, tokens, length)) {
            missing += has.found * phrase_shortest(one);
            has = (struct phrase_count){0, 0};
            for (size_t at = 0; at < length; at++)
                phrase_count_at(one, tokens, length, at, &has);
            missing -= has.found * phrase_shortest(one);
        }
        const size_t gain = has.found < one->times ? phrase_gain(one, tokens + has.end, length - has.end, NULL) : 0;
        most = gain > most ? gain : most;
    }
    return missing - most;
}
