/* search/phrases.h: phrases that a hypothesis must contain, and how far it is from having all: for lexically constrained search
 * (Hokamp and Liu 2017). Everything is a function of the tokens; there is no state beside them. */
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
/* How often a phrase occurs in tokens[length]; counts up to p->times. */
size_t phrases_found(const search_phrase *p, const int32_t *tokens, size_t length);
/* A number of tokens that would be enough to complete all phrases behind tokens[length]: the length of all, minus the phrases
 * that occur, minus the beginning of the one that has begun and needs least. 0 if and only if all occur. Sets *next, which may be
 * NULL: one of its tokens at least makes the number smaller. */
size_t phrases_missing(const search_phrases *p, const int32_t *tokens, size_t length, phrase_tokens *next);

#endif
