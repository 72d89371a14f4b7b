/* decode/schema/schema_effects.h: what the bytes of tokens do to the automata of some patterns: after which state which one
 * follows. Thousands of tokens do the same, as all words of five lower case letters do to [a-z ]{20,60}, so a vocabulary has
 * few effects on a pattern, and few combinations of them on patterns that are read side by side. */
#ifndef DECODE_SCHEMA_SCHEMA_EFFECTS_H
#define DECODE_SCHEMA_SCHEMA_EFFECTS_H

#include "decode/schema/schema_shape.h"
#include "text/token_trie.h"

enum { EFFECT_NONE, EFFECT_OF_NOTHING, EFFECTS_MAX = 8192 }; /* bytes that no state takes; no bytes */

/* Combinations: for each pattern an element of its automaton's transition monoid, which the tokens of a trie have. */
typedef struct schema_effects {
    size_t patterns;    /* at most SCHEMA_PATTERN_RUNS */
    size_t count;       /* 0: there are too many, or they take too long to find */
    uint16_t *parts;    /* [count, patterns] the effect of each pattern */
    uint16_t *after[SCHEMA_PATTERN_RUNS]; /* [effects of the pattern, states] the state, or SCHEMA_DFA_BAD */
    uint16_t *of_token; /* [vocab + 1] of each token, behind the first element, which has no meaning */
    uint16_t *of_quote; /* [quote_count] of the bytes before a quotation mark of the trie */
    size_t bytes;       /* of these arrays */
} schema_effects;

/* Bytes that schema_effects_find takes at most while it runs. */
size_t schema_effects_bytes(const schema_dfa *const *dfas, size_t count, const token_trie *t);
/* For 1 .. SCHEMA_PATTERN_RUNS patterns, in a bounded number of steps. False: out of memory. Free *e in any case. */
bool schema_effects_find(schema_effects *e, const schema_dfa *const *dfas, size_t count, const token_trie *t);
void schema_effects_free(schema_effects *e);

#endif
