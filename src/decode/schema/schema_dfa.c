/* decode/schema/schema_dfa.c: makes an automaton of patterns deterministic: its states are the sets of states that hold at once
 * (Rabin and Scott 1959). Every state of schema_pattern.c's automata leads to the end, hence so does every set. */
#include "decode/schema/schema_nfa.h"

#include "base/buffer.h"
#include "base/rng.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_STATES = 2048, SLOTS = 2 * MAX_STATES };

typedef enum outcome { FOUND, TOO_LARGE, NO_STEPS, NO_MEMORY } outcome;

bool schema_nfa_init(schema_nfa *n)
{
    *n = (schema_nfa){.list = malloc(SCHEMA_NFA_STATES * sizeof *n->list)};
    return n->list != NULL;
}

void schema_nfa_free(schema_nfa *n)
{
    free(n->list);
}

int32_t schema_nfa_add(schema_nfa *n, schema_nfa_state state)
{
    if (n->count == SCHEMA_NFA_STATES)
        return -1;
    n->list[n->count] = state;
    return n->count++;
}

typedef struct determining {
    const schema_nfa *nfa;
    int32_t *members;     /* of all sets, one after the other */
    size_t member_count, member_capacity;
    size_t from[MAX_STATES + 1];
    uint16_t slots[SLOTS];          /* sets by their hash; 0: none, else one more */
    size_t count;
    uint16_t next[MAX_STATES][256]; /* by class */
    int32_t *stack, *marked;        /* [nfa->count]; marked: the round in which a state was last put */
    int32_t round;
    schema_work *work;
    schema_dfa result;
    uint8_t samples[256];           /* a byte of each class */
} determining;

/* Bytes belong to one class if no range tells them apart. */
static void find_classes(determining *d)
{
    bool cut[257] = {[0] = true};
    for (int32_t i = 0; i < d->nfa->count; i++) {
        const schema_nfa_state *s = &d->nfa->list[i];
        if (s->low <= s->high)
            cut[s->low] = cut[s->high + 1] = true;
    }
    size_t class = 0;
    for (size_t byte = 0; byte < 256; byte++) {
        class += byte > 0 && cut[byte];
        d->result.classes[byte] = (uint8_t)class;
        d->samples[class] = (uint8_t)byte;
    }
    d->result.class_count = class + 1;
}

/* Puts a state and what it leads to without a byte on the list of a new set. Only states that take bytes, and the ends, are
 * kept. */
static outcome put_state(determining *d, int32_t state)
{
    size_t depth = 0;
    d->stack[depth++] = state;
    while (depth > 0) {
        const int32_t at = d->stack[--depth];
        if (at < 0 || d->marked[at] == d->round)
            continue;
        if (!schema_pay(d->work, 4))
            return NO_STEPS;
        d->marked[at] = d->round;
        const schema_nfa_state *s = &d->nfa->list[at];
        if (s->low <= s->high || s->to < 0) {
            if (!ARRAY_RESERVE(&d->members, &d->member_capacity, d->member_count + 1))
                return NO_MEMORY;
            d->members[d->member_count++] = at;
        }
        if (s->low > s->high) {
            d->stack[depth++] = s->to;
            d->stack[depth++] = s->other;
        }
    }
    return FOUND;
}

/* Whether a set of `size` states is the one that was put last: of its states, all were put in this round. */
static bool is_last_set(const determining *d, size_t set, size_t size)
{
    if (d->from[set] - d->from[set - 1] != size)
        return false;
    for (size_t i = d->from[set - 1]; i < d->from[set]; i++)
        if (d->marked[d->members[i]] != d->round)
            return false;
    return true;
}

/* The place of the set that was put last, or of an equal one that was there. The hash does not depend on the order of states. */
static uint16_t *slot_of(determining *d, const int32_t *own, size_t size)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < size; i++) {
        const uint64_t mixed = ((uint64_t)own[i] + 1) * 0x9E3779B97F4A7C15u;
        hash += mixed ^ mixed >> 29;
    }
    for (size_t at = rng_mix(hash, size) % SLOTS;; at = (at + 1) % SLOTS)
        if (d->slots[at] == 0 || is_last_set(d, d->slots[at], size))
            return &d->slots[at];
}

/* The number of the set that was put last, or of an equal one that was there. */
static outcome close_set(determining *d, size_t *set)
{
    uint16_t *slot = slot_of(d, d->members + d->from[d->count], d->member_count - d->from[d->count]);
    if (*slot > 0) {
        d->member_count = d->from[d->count];
    } else if (d->count == MAX_STATES) {
        return TOO_LARGE;
    } else {
        d->from[++d->count] = d->member_count;
        *slot = (uint16_t)d->count;
    }
    *set = *slot - 1u;
    return FOUND;
}

/* The set that a byte of a class leads to from another one. */
static outcome next_set(determining *d, size_t set, size_t class)
{
    const uint8_t byte = d->samples[class];
    size_t to;
    outcome o = schema_pay(d->work, 1 + d->from[set + 1] - d->from[set]) ? FOUND : NO_STEPS;
    d->round++;
    d->next[set][class] = SCHEMA_DFA_BAD;
    for (size_t i = d->from[set]; i < d->from[set + 1] && o == FOUND; i++) {
        const schema_nfa_state *s = &d->nfa->list[d->members[i]];
        if (byte >= s->low && byte <= s->high)
            o = put_state(d, s->to);
    }
    if (o != FOUND || d->member_count == d->from[d->count])
        return o;
    o = close_set(d, &to);
    if (o == FOUND)
        d->next[set][class] = (uint16_t)to;
    return o;
}

static outcome find_sets(determining *d, int32_t begin)
{
    size_t first;
    d->round = 1;
    outcome o = put_state(d, begin);
    o = o == FOUND ? close_set(d, &first) : o;
    for (size_t set = 0; set < d->count && o == FOUND; set++)
        for (size_t class = 0; class < d->result.class_count && o == FOUND; class++)
            o = next_set(d, set, class);
    return o;
}

static bool has_member(const determining *d, size_t set, int32_t state)
{
    for (size_t i = d->from[set]; i < d->from[set + 1]; i++)
        if (d->members[i] == state)
            return true;
    return false;
}

static const schema_dfa *take_result(determining *d, int32_t end, rapt_error *err)
{
    const size_t classes = d->result.class_count;
    schema_dfa *out = schema_alloc(d->work, 1, sizeof *out, err);
    d->result.states = d->count;
    d->result.next = out ? schema_alloc(d->work, d->count * classes, sizeof *d->result.next, err) : NULL;
    d->result.accepts = d->result.next ? schema_alloc(d->work, d->count, sizeof *d->result.accepts, err) : NULL;
    if (!d->result.accepts)
        return NULL;
    for (size_t i = 0; i < d->count; i++) {
        d->result.accepts[i] = has_member(d, i, end);
        memcpy(d->result.next + i * classes, d->next[i], classes * sizeof **d->next);
    }
    *out = d->result;
    return out;
}

static outcome determine(determining *d, int32_t begin)
{
    d->stack = malloc((2 * (size_t)d->nfa->count + 2) * sizeof *d->stack);
    d->marked = calloc((size_t)d->nfa->count, sizeof *d->marked);
    if (!d->stack || !d->marked)
        return NO_MEMORY;
    find_classes(d);
    return find_sets(d, begin);
}

const schema_dfa *schema_nfa_determine(const schema_nfa *n, int32_t begin, int32_t end, size_t max_states, schema_work *w,
                                       rapt_error *err)
{
    const schema_dfa *found = NULL;
    determining *d = calloc(1, sizeof *d);
    if (!d) {
        schema_no_memory(err);
        return NULL;
    }
    d->nfa = n;
    d->work = w;
    switch (determine(d, begin)) {
    case NO_MEMORY: schema_no_memory(err); break;
    case NO_STEPS: rapt_fail(err, RAPT_ERR_VALUE, "its automaton takes too many steps to make"); break;
    case TOO_LARGE: rapt_fail(err, RAPT_ERR_VALUE, "its automaton is too large"); break;
    case FOUND:
        if (d->count > max_states)
            rapt_fail(err, RAPT_ERR_VALUE, "its automaton is too large");
        else
            found = take_result(d, end, err);
    }
    free(d->members);
    free(d->stack);
    free(d->marked);
    free(d);
    return found;
}
