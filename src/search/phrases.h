/* search/phrases.h: phrases that a hypothesis must contain, and how far it is from having all: for lexically constrained search
 * (Hokamp and Liu 2017). Everything is a function of the tokens. */
#ifndef SEARCH_PHRASES_H
#define SEARCH_PHRASES_H

#include "rapt/policy.h"

/* A phrase, in one or several divisions into tokens: any of them will do. */
typedef struct search_phrase {
    rapt_token_list *ways; /* [way_count] none is empty */
    size_t way_count;
    size_t times;          /* how often it must occur, without overlaps; at least 1 */
} search_phrase;

typedef struct search_phrases {
    const search_phrase *list; /* [count] */
    size_t count;
} search_phrases;

/* Tokens that would bring a hypothesis nearer to all phrases: at most as many as there are ways. */
typedef struct phrase_tokens {
    int32_t *ids;
    size_t count;
} phrase_tokens;

/* The tokens of all phrases, each in its shortest way. */
size_t phrases_length(const search_phrases *p);
size_t phrases_ways(const search_phrases *p);
/* The tokens of all ways together. */
size_t phrases_tokens(const search_phrases *p);

/* What some tokens have of the phrases. */
typedef struct phrase_counts {
    size_t missing; /* tokens of the occurrences that are missing, each in its shortest way */
    struct phrase_count {
        size_t found, end; /* occurrences, up to p->times; the place behind the last one */
    } *of;          /* [p->count] */
} phrase_counts;

/* Which phrases have a token: in order of the tokens, each phrase once. */
typedef struct phrase_index {
    struct phrase_entry {
        int32_t token;
        uint32_t phrase;
    } *list;        /* [count] of phrases_tokens(p) */
    size_t count;
} phrase_index;

void phrases_index(const search_phrases *p, phrase_index *index);
/* Counts the occurrences in tokens[length]. */
void phrases_count(const search_phrases *p, const phrase_index *index, const int32_t *tokens, size_t length,
                   phrase_counts *c);
/* A number of tokens that would be enough to complete all phrases behind tokens[length], whose counts are `c`: the length of all,
 * minus the phrases that occur, minus the beginning of the one that has begun and needs least. 0 if and only if all occur. Sets
 * *next, which may be NULL: one of its tokens at least makes the number smaller. */
size_t phrases_missing(const search_phrases *p, const phrase_counts *c, const int32_t *tokens, size_t length,
                       phrase_tokens *next);
/* The same number, where `c` counts in the tokens before the last one: looks only at the phrases that have the last one. */
size_t phrases_missing_after(const search_phrases *p, const phrase_index *index, const phrase_counts *c, const int32_t *tokens,
                             size_t length);

#endif
