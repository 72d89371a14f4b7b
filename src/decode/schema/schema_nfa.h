/* decode/schema/schema_nfa.h: automata of bytes in which several states hold at once, and the deterministic one that does the
 * same. For patterns. */
#ifndef DECODE_SCHEMA_SCHEMA_NFA_H
#define DECODE_SCHEMA_SCHEMA_NFA_H

#include "decode/schema/schema_shape.h"
#include "decode/schema/schema_work.h"

enum { SCHEMA_NFA_STATES = 4096 };

/* With low <= high: takes a byte of the range and leads to `to`. Else takes none and leads to both; -1: to nothing. */
typedef struct schema_nfa_state {
    uint8_t low, high;
    int32_t to, other;
} schema_nfa_state;

typedef struct schema_nfa {
    schema_nfa_state *list; /* [count], of SCHEMA_NFA_STATES */
    int32_t count;
} schema_nfa;

/* False: out of memory. */
bool schema_nfa_init(schema_nfa *n);
void schema_nfa_free(schema_nfa *n);
/* The index; -1: there are too many. */
int32_t schema_nfa_add(schema_nfa *n, schema_nfa_state state);
/* The deterministic automaton, from `begin` to `end`. NULL with `err` set: RAPT_ERR_VALUE: it has more than `max_states`, or
 * takes more steps than are left; RAPT_ERR_MEMORY. */
const schema_dfa *schema_nfa_determine(const schema_nfa *n, int32_t begin, int32_t end, size_t max_states, schema_work *w,
                                       rapt_error *err);

#endif
