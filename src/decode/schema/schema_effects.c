/* decode/schema/schema_effects.c: walks the trie of the tokens once for all patterns. The combination of some bytes and one more
 * is found in a table by the combination of the bytes and the class of the one; only for what is new are the patterns asked, each
 * of which has such a table of its effects; and only what is new there is computed for every state. */
#include "decode/schema/schema_effects.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum {
    PATTERN_EFFECTS = 4096,  /* of one pattern */
    PATTERN_STATES = 1 << 18, /* of its effects together: 512 kB, so that the tables of a schema have room for eight patterns */
    EFFECT_STEPS = 1 << 23,  /* states of new pairs of an effect and a class: 4 ms */
    COMBINATION_STEPS = 4    /* of a pattern in a new combination */
};

#define UNKNOWN UINT16_MAX

/* Rows that differ, each with the row that every class of bytes leads to. */
typedef struct row_set {
    size_t width, classes;
    size_t count, most;
    uint16_t *rows;  /* [most, width] */
    uint16_t *pairs; /* [most, classes] the row of another byte; UNKNOWN */
    uint16_t *slots; /* [2 * most] rows by their hash, plus 1; 0: none */
} row_set;

typedef struct finding {
    const schema_dfa *const *dfas;
    row_set of_pattern[SCHEMA_PATTERN_RUNS]; /* the states after each state */
    row_set combined;                        /* the effects on each pattern */
    uint8_t classes[256], samples[256];      /* of bytes that no pattern tells apart; a byte of each class */
    size_t left;                             /* steps */
} finding;

/* ---- sets of rows --------------------------------------------------------------------------------------------- */

static row_set set_of(size_t width, size_t classes, size_t most)
{
    return (row_set){.width = width, .classes = classes, .most = most};
}

static row_set set_of_pattern(const schema_dfa *d)
{
    const size_t most = PATTERN_STATES / d->states;
    return set_of(d->states, d->class_count, most < PATTERN_EFFECTS ? most : PATTERN_EFFECTS);
}

static size_t row_set_bytes(const row_set *s)
{
    return s->most * (s->width + s->classes + 2) * sizeof(uint16_t);
}

/* False: out of memory. Free it in any case. */
static bool set_allocate(row_set *s)
{
    s->rows = malloc(s->most * s->width * sizeof *s->rows);
    s->pairs = malloc(s->most * s->classes * sizeof *s->pairs);
    s->slots = calloc(2 * s->most, sizeof *s->slots);
    if (!s->rows || !s->pairs || !s->slots)
        return false;
    memset(s->pairs, 0xFF, s->most * s->classes * sizeof *s->pairs);
    return true;
}

static void set_free(row_set *s)
{
    free(s->rows);
    free(s->pairs);
    free(s->slots);
}

/* The rows alone. */
static uint16_t *set_take_rows(row_set *s, size_t *bytes)
{
    const size_t size = s->count * s->width * sizeof *s->rows;
    uint16_t *shorter = realloc(s->rows, size), *rows = shorter ? shorter : s->rows;
    s->rows = NULL;
    *bytes += size;
    return rows;
}

/* Row `count`, or the equal one that is there. UNKNOWN: there are too many. */
static uint16_t set_keep(row_set *s)
{
    const uint16_t *own = s->rows + s->count * s->width;
    const size_t size = s->width * sizeof *own;
    size_t at = XXH3_64bits(own, size) % (2 * s->most);
    for (; s->slots[at] > 0; at = (at + 1) % (2 * s->most))
        if (memcmp(s->rows + (s->slots[at] - 1u) * s->width, own, size) == 0)
            return (uint16_t)(s->slots[at] - 1u);
    if (s->count + 1 == s->most) /* the last row is for new ones */
        return UNKNOWN;
    s->slots[at] = (uint16_t)++s->count;
    return (uint16_t)(s->count - 1);
}

/* ---- effects -------------------------------------------------------------------------------------------------- */

static bool pay_steps(finding *f, size_t steps)
{
    const bool can = steps <= f->left;
    f->left -= can ? steps : 0;
    return can;
}

static uint16_t next_effect(finding *f, size_t pattern, uint16_t effect, uint8_t byte)
{
    const schema_dfa *d = f->dfas[pattern];
    row_set *s = &f->of_pattern[pattern];
    const uint8_t class = d->classes[byte];
    const uint16_t *before = s->rows + effect * s->width;
    uint16_t *after = s->rows + s->count * s->width;
    uint16_t *pair = &s->pairs[effect * s->classes + class];
    if (*pair != UNKNOWN || !pay_steps(f, s->width))
        return *pair;
    for (size_t i = 0; i < s->width; i++)
        after[i] = before[i] == SCHEMA_DFA_BAD ? SCHEMA_DFA_BAD : d->next[before[i] * d->class_count + class];
    return *pair = set_keep(s);
}

static uint16_t new_combination(finding *f, uint16_t combination, uint8_t class)
{
    row_set *s = &f->combined;
    const uint16_t *before = s->rows + combination * s->width;
    uint16_t *after = s->rows + s->count * s->width;
    bool known = pay_steps(f, s->width * COMBINATION_STEPS);
    for (size_t i = 0; i < s->width && known; i++) {
        after[i] = next_effect(f, i, before[i], f->samples[class]);
        known = after[i] != UNKNOWN;
    }
    return known ? s->pairs[combination * s->classes + class] = set_keep(s) : UNKNOWN;
}

/* False: there are too many effects, or they take too many steps. */
static bool walk_effects(finding *f, schema_effects *e, const token_trie *t)
{
    uint16_t at[TRIE_LONGEST + 1] = {EFFECT_OF_NOTHING};
    size_t quotes = 0;
    for (uint32_t i = 0; i < t->count;) {
        const trie_node *n = &t->nodes[i];
        const uint16_t before = at[n->depth - 1];
        const uint8_t class = f->classes[n->byte];
        uint16_t effect = f->combined.pairs[before * f->combined.classes + class];
        if (effect == UNKNOWN && (effect = new_combination(f, before, class)) == UNKNOWN)
            return false;
        if (n->byte == '"') {
            while (t->quotes[quotes] < i)
                quotes++;
            e->of_quote[quotes] = before;
        }
        at[n->depth] = effect;
        e->of_token[n->token + 1] = effect; /* without asking whether there is one: processors would guess wrong half the time */
        for (int32_t id = n->more ? t->same[n->token] : -1; id >= 0; id = t->same[id])
            e->of_token[id + 1] = effect;
        i = effect == EFFECT_NONE ? n->end : i + 1;
    }
    return true;
}

/* EFFECT_NONE and EFFECT_OF_NOTHING of each pattern, and of all. */
static void first_effects(finding *f)
{
    for (size_t p = 0; p < f->combined.width; p++) {
        row_set *s = &f->of_pattern[p];
        for (size_t i = 0; i < s->width; i++) {
            s->rows[i] = SCHEMA_DFA_BAD;
            s->rows[s->width + i] = (uint16_t)i;
        }
        set_keep(s);
        set_keep(s);
        f->combined.rows[p] = EFFECT_NONE;
        f->combined.rows[f->combined.width + p] = EFFECT_OF_NOTHING;
    }
    set_keep(&f->combined);
    set_keep(&f->combined);
}

/* Bytes are of one class if they are neighbors and each pattern has them in one class. */
static size_t combine_classes(finding *f, const schema_dfa *const *dfas, size_t count)
{
    size_t class = 0;
    for (size_t byte = 0; byte < 256; byte++) {
        bool cut = false;
        for (size_t i = 0; i < count && byte > 0; i++)
            cut = cut || dfas[i]->classes[byte] != dfas[i]->classes[byte - 1];
        class += cut;
        f->classes[byte] = (uint8_t)class;
        f->samples[class] = (uint8_t)byte;
    }
    return class + 1;
}

/* All but the memory of the sets. */
static void finding_begin(finding *f, const schema_dfa *const *dfas, size_t count)
{
    const size_t classes = combine_classes(f, dfas, count);
    f->dfas = dfas;
    f->left = EFFECT_STEPS;
    for (size_t i = 0; i < count; i++)
        f->of_pattern[i] = set_of_pattern(dfas[i]);
    f->combined = set_of(count, classes, count > 1 ? EFFECTS_MAX : f->of_pattern[0].most);
}

size_t schema_effects_bytes(const schema_dfa *const *dfas, size_t count, const token_trie *t)
{
    finding f;
    finding_begin(&f, dfas, count);
    size_t bytes = sizeof f + row_set_bytes(&f.combined) + (t->vocab + t->quote_count + 2) * sizeof(uint16_t);
    for (size_t i = 0; i < count; i++)
        bytes += row_set_bytes(&f.of_pattern[i]);
    return bytes;
}

/* Whether each pattern has room for more than the first effects. */
static bool effects_fit(const finding *f)
{
    bool room = true;
    for (size_t i = 0; i < f->combined.width; i++)
        room = room && f->of_pattern[i].most > EFFECT_OF_NOTHING + 1;
    return room;
}

static void take_effects(schema_effects *e, finding *f, const token_trie *t)
{
    e->count = f->combined.count;
    e->bytes = (t->vocab + t->quote_count + 2) * sizeof(uint16_t);
    e->parts = set_take_rows(&f->combined, &e->bytes);
    for (size_t i = 0; i < e->patterns; i++)
        e->after[i] = set_take_rows(&f->of_pattern[i], &e->bytes);
}

bool schema_effects_find(schema_effects *e, const schema_dfa *const *dfas, size_t count, const token_trie *t)
{
    finding *f = malloc(sizeof *f);
    *e = (schema_effects){.patterns = count,
                          .of_token = calloc(t->vocab + 1, sizeof *e->of_token),
                          .of_quote = calloc(t->quote_count + 1, sizeof *e->of_quote)};
    bool ok = f && e->of_token && e->of_quote;
    if (f)
        finding_begin(f, dfas, count);
    ok = ok && set_allocate(&f->combined);
    for (size_t i = 0; i < count && ok; i++)
        ok = set_allocate(&f->of_pattern[i]);
    if (ok && effects_fit(f)) {
        first_effects(f);
        if (walk_effects(f, e, t))
            take_effects(e, f, t);
    }
    for (size_t i = 0; i < count && f; i++)
        set_free(&f->of_pattern[i]);
    if (f)
        set_free(&f->combined);
    free(f);
    if (e->count == 0)
        schema_effects_free(e);
    return ok;
}

void schema_effects_free(schema_effects *e)
{
    for (size_t i = 0; i < e->patterns; i++)
        free(e->after[i]);
    free(e->parts);
    free(e->of_token);
    free(e->of_quote);
    *e = (schema_effects){0};
}
