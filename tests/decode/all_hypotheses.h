/* tests/decode/all_hypotheses.h: all hypotheses that there are for a sentence of search_case.h, with a small vocabulary, written
 * down and scored by passes over whole rows. */
#ifndef TESTS_DECODE_ALL_HYPOTHESES_H
#define TESTS_DECODE_ALL_HYPOTHESES_H

#include "search_case.h"

#define VOCAB 6
#define LIMIT 4
#define MOST 1600 /* hypotheses of up to LIMIT tokens: 1 + 5 + 25 + 125 that end, 625 that are cut, and room */

typedef struct hypothesis {
    int32_t tokens[LIMIT + 1];
    size_t length;
    double score;
} hypothesis;

typedef struct everything {
    hypothesis all[MOST];
    size_t count;
} everything;

static inline void write_down(setting *s, size_t i, size_t limit, double penalty, int32_t *tokens, size_t length, everything *e)
{
    if (length == limit || (length > 0 && tokens[length - 1] == RAPT_EOS)) {
        assert_true(e->count < MOST);
        hypothesis *h = &e->all[e->count++];
        memcpy(h->tokens, tokens, length * sizeof *tokens);
        h->length = length;
        h->score = log_p_of(s, i, tokens, length) / pow((5 + (double)length) / 6, penalty);
        return;
    }
    for (int32_t token = 0; token < VOCAB; token++) {
        tokens[length] = token;
        write_down(s, i, limit, penalty, tokens, length + 1, e);
    }
}

static inline int by_score(const void *a, const void *b)
{
    const hypothesis *x = a, *y = b;
    return x->score > y->score ? -1 : x->score < y->score;
}

#endif
