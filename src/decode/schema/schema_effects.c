/* decode/schema/schema_effects.c: walks the trie of the tokens once. The effect of some bytes and one more is found in a table by
 * the effect of the bytes and the class of the one; so only what is new is computed for every state. */
#include "decode/schema/schema_effects.h"

#include "base/rng.h"

#include <stdlib.h>
#include <string.h>

enum {
    EFFECT_SLOTS = 2 * EFFECTS_MAX,
    EFFECT_STATES = 1 << 18, /* of all effects together: 512 kB, so that the tables of a schema have room for eight patterns */
    EFFECT_STEPS = 1 << 21   /* states of new pairs of an effect and a class: 2 ms */
};

#define UNKNOWN UINT16_MAX

typedef struct finding {
    const schema_dfa *dfa;
    schema_effects *found;
    size_t most;                  /* effects */
    size_t left;                  /* steps */
    uint16_t *pairs;              /* [most, class_count] the effect of another byte; UNKNOWN */
    uint16_t slots[EFFECT_SLOTS]; /* effects by their hash, plus 1; 0: none */
} finding;

static size_t most_effects(const schema_dfa *d)
{
    const size_t most = EFFECT_STATES / d->states;
    return most < EFFECTS_MAX ? most : EFFECTS_MAX;
}

size_t schema_effects_bytes(const schema_dfa *d, const token_trie *t)
{
    return sizeof(finding) + (most_effects(d) * (d->states + d->class_count) + t->vocab + t->quote_count + 2) * sizeof(uint16_t);
}

static uint64_t hash_states(const uint16_t *states, size_t count)
{
    uint64_t hash = count;
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ states[i]) * 0x9E3779B97F4A7C15u;
    return rng_mix(hash, count);
}

/* The effect in row found->count of `after`, or the equal one that is there. UNKNOWN: there are too many. */
static uint16_t keep_effect(finding *f)
{
    schema_effects *e = f->found;
    const size_t states = f->dfa->states;
    const uint16_t *own = e->after + e->count * states;
    size_t at = hash_states(own, states) % EFFECT_SLOTS;
    for (; f->slots[at] > 0; at = (at + 1) % EFFECT_SLOTS)
        if (memcmp(e->after + (f->slots[at] - 1u) * states, own, states * sizeof *own) == 0)
            return (uint16_t)(f->slots[at] - 1u);
    if (e->count + 1 == f->most) /* the last row is for new ones */
        return UNKNOWN;
    f->slots[at] = (uint16_t)++e->count;
    return (uint16_t)(e->count - 1);
}

static uint16_t next_effect(finding *f, uint16_t effect, uint8_t class)
{
    const schema_dfa *d = f->dfa;
    const uint16_t *before = f->found->after + effect * d->states;
    uint16_t *after = f->found->after + f->found->count * d->states;
    uint16_t *pair = &f->pairs[effect * d->class_count + class];
    if (*pair != UNKNOWN || f->left < d->states)
        return *pair;
    f->left -= d->states;
    for (size_t i = 0; i < d->states; i++)
        after[i] = before[i] == SCHEMA_DFA_BAD ? SCHEMA_DFA_BAD : d->next[before[i] * d->class_count + class];
    return *pair = keep_effect(f);
}

/* False: there are too many effects, or they take too many steps. */
static bool walk_effects(finding *f, const token_trie *t)
{
    schema_effects *e = f->found;
    uint16_t at[TRIE_LONGEST + 1] = {EFFECT_OF_NOTHING};
    size_t quotes = 0;
    for (uint32_t i = 0; i < t->count;) {
        const trie_node *n = &t->nodes[i];
        const uint16_t effect = next_effect(f, at[n->depth - 1], f->dfa->classes[n->byte]);
        if (effect == UNKNOWN)
            return false;
        if (n->byte == '"') {
            while (t->quotes[quotes] < i)
                quotes++;
            e->of_quote[quotes] = at[n->depth - 1];
        }
        at[n->depth] = effect;
        e->of_token[n->token + 1] = effect; /* without asking whether there is one: processors would guess wrong half the time */
        for (int32_t id = n->more ? t->same[n->token] : -1; id >= 0; id = t->same[id])
            e->of_token[id + 1] = effect;
        i = effect == EFFECT_NONE ? n->end : i + 1;
    }
    return true;
}

static void first_effects(finding *f)
{
    uint16_t *after = f->found->after;
    for (size_t i = 0; i < f->dfa->states; i++) {
        after[i] = SCHEMA_DFA_BAD;
        after[f->dfa->states + i] = (uint16_t)i;
    }
    keep_effect(f);
    keep_effect(f);
}

bool schema_effects_find(schema_effects *e, const schema_dfa *d, const token_trie *t)
{
    const size_t most = most_effects(d), pairs = most * d->class_count;
    finding *f = calloc(1, sizeof *f);
    *e = (schema_effects){.after = malloc(most * d->states * sizeof *e->after),
                          .of_token = calloc(t->vocab + 1, sizeof *e->of_token),
                          .of_quote = calloc(t->quote_count + 1, sizeof *e->of_quote)};
    uint16_t *table = malloc(pairs * sizeof *table);
    const bool ok = f && e->after && e->of_token && e->of_quote && table;
    if (ok && most > EFFECT_OF_NOTHING + 1) {
        memset(table, 0xFF, pairs * sizeof *table);
        f->dfa = d;
        f->found = e;
        f->most = most;
        f->left = EFFECT_STEPS;
        f->pairs = table;
        first_effects(f);
        e->count = walk_effects(f, t) ? e->count : 0;
    }
    free(table);
    free(f);
    const size_t kept = e->count * d->states * sizeof *e->after;
    uint16_t *after = ok && e->count > 0 ? realloc(e->after, kept) : NULL;
    e->after = after ? after : e->after;
    e->bytes = kept + (t->vocab + t->quote_count + 2) * sizeof(uint16_t);
    if (!ok || e->count == 0)
        schema_effects_free(e);
    return ok;
}

void schema_effects_free(schema_effects *e)
{
    free(e->after);
    free(e->of_token);
    free(e->of_quote);
    *e = (schema_effects){0};
}
