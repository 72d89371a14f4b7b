/* search/phrases.c: compares the tokens of a hypothesis with phrases. Each call looks through all tokens: a hypothesis has some
 * hundred, and the phrases a dozen, which is little beside a decoding step of the model. */
#include "search/phrases.h"

#include <stdbool.h>
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

/* Whether tokens[length] begin with the first `count` of a way. */
static bool phrase_is_at(const rapt_token_list *way, size_t count, const int32_t *tokens, size_t length)
{
    return count <= length && tokens[0] == way->ids[0] && memcmp(tokens, way->ids, count * sizeof *tokens) == 0;
}

/* Occurrences from the left, without overlaps; *end: behind the last one. At each place the shortest way counts, so that one more
 * token never takes an occurrence away. */
static size_t phrase_count(const search_phrase *p, const int32_t *tokens, size_t length, size_t *end)
{
    size_t found = 0;
    *end = 0;
    for (size_t at = 0; at < length && found < p->times;) {
        size_t least = 0;
        for (size_t i = 0; i < p->way_count; i++)
            if ((least == 0 || p->ways[i].count < least) && phrase_is_at(&p->ways[i], p->ways[i].count, tokens + at, length - at))
                least = p->ways[i].count;
        found += least > 0;
        at += least > 0 ? least : 1;
        *end = least > 0 ? at : *end;
    }
    return found;
}

size_t phrases_found(const search_phrase *p, const int32_t *tokens, size_t length)
{
    size_t end;
    return phrase_count(p, tokens, length, &end);
}

/* The most tokens of a way that tokens[length] end with, but not all. */
static size_t phrase_begun(const rapt_token_list *way, const int32_t *tokens, size_t length)
{
    size_t begun = way->count - 1 < length ? way->count - 1 : length;
    while (begun > 0 && !phrase_is_at(way, begun, tokens + length - begun, begun))
        begun--;
    return begun;
}

size_t phrases_missing(const search_phrases *p, const int32_t *tokens, size_t length, phrase_tokens *next)
{
    size_t missing = 0, most = 0, end;
    for (size_t i = 0; i < p->count; i++) {
        const search_phrase *one = &p->list[i];
        const size_t found = phrase_count(one, tokens, length, &end), shortest = phrase_shortest(one);
        missing += (one->times - found) * shortest;
        for (size_t j = 0; j < one->way_count && found < one->times; j++) {
            const rapt_token_list *way = &one->ways[j];
            const size_t begun = phrase_begun(way, tokens + end, length - end), rest = way->count - begun;
            if (rest < shortest && shortest - rest > most)
                most = shortest - rest;
            if (next)
                next->ids[next->count++] = way->ids[begun];
        }
    }
    return missing - most;
}
