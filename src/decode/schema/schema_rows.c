/* decode/schema/schema_rows.c: makes rows by the effects of tokens, if the pattern has few, or else by a walk through the trie.
 * Either way a row is the same; what is kept only saves time. */
#include "decode/schema/schema_rows.h"

#include "decode/schema/schema_effects.h"

#include <stdlib.h>

enum { SINGLE_FINDS = 2 }; /* patterns whose effects are found in one mask, if all at once have too many: 2 ms each */

/* For one pattern and one vocabulary. */
typedef struct schema_rows {
    struct schema_rows *next, *after; /* for the same pattern, for the same schema */
    uint64_t hash;                    /* of the trie */
    const schema_effects *effects;    /* NULL: there are too many */
    size_t part;                      /* the pattern's place there */
    schema_effects *owned;            /* the same; NULL: they are freed with another pattern's rows */
    size_t states;
    _Atomic(uint64_t *) rows[];       /* [states] */
} schema_rows;

size_t schema_token_words(const token_trie *t)
{
    return (t->vocab + 63) / 64;
}

size_t schema_quote_words(const token_trie *t)
{
    return (t->quote_count + 63) / 64;
}

static bool tables_take(schema_tables *tables, size_t bytes)
{
    size_t left = atomic_load(&tables->left);
    while (left >= bytes)
        if (atomic_compare_exchange_weak(&tables->left, &left, left - bytes))
            return true;
    return false;
}

static void tables_give(schema_tables *tables, size_t bytes)
{
    atomic_fetch_add(&tables->left, bytes);
}

/* ---- one row -------------------------------------------------------------------------------------------------- */

static void set_bit(uint64_t *bits, size_t at)
{
    bits[at / 64] |= (uint64_t)1 << at % 64;
}

static bool quote_ends(const schema_dfa *d, uint16_t state)
{
    return state != SCHEMA_DFA_BAD && d->accepts[state] &&
           d->next[state * d->class_count + d->classes['"']] == SCHEMA_DFA_BAD;
}

static void row_by_walk(const schema_dfa *d, const token_trie *t, uint16_t state, uint64_t *row)
{
    uint16_t at[TRIE_LONGEST + 1] = {state};
    uint64_t *const quotes = row + schema_token_words(t);
    size_t quote = 0;
    for (uint32_t i = 0; i < t->count;) {
        const trie_node *n = &t->nodes[i];
        const uint16_t from = at[n->depth - 1], to = d->next[from * d->class_count + d->classes[n->byte]];
        at[n->depth] = to;
        if (n->byte == '"' && quote_ends(d, from)) {
            while (t->quotes[quote] < i)
                quote++;
            set_bit(quotes, quote);
        }
        for (int32_t id = n->token; id >= 0 && to != SCHEMA_DFA_BAD; id = t->same[id])
            set_bit(row, (size_t)id);
        i = to == SCHEMA_DFA_BAD ? n->end : i + 1;
    }
}

/* Bit i: has[of[i]]. */
static void gather_bits(const uint16_t *of, size_t count, const uint8_t *has, uint64_t *bits)
{
    for (size_t i = 0; i < count; i += 64) {
        const size_t most = count - i < 64 ? count - i : 64;
        uint64_t word = 0;
        for (size_t k = 0; k < most; k++)
            word |= (uint64_t)has[of[i + k]] << k;
        bits[i / 64] = word;
    }
}

static void row_by_effects(const schema_rows *r, const schema_dfa *d, const token_trie *t, uint16_t state, uint64_t *row)
{
    const schema_effects *e = r->effects;
    uint8_t stays[EFFECTS_MAX], ends[EFFECTS_MAX];
    for (size_t i = 0; i < e->count; i++) {
        const uint16_t after = e->after[r->part][e->parts[i * e->patterns + r->part] * d->states + state];
        stays[i] = after != SCHEMA_DFA_BAD;
        ends[i] = quote_ends(d, after);
    }
    gather_bits(e->of_token + 1, t->vocab, stays, row);
    gather_bits(e->of_quote, t->quote_count, ends, row + schema_token_words(t));
}

/* ---- all rows of a pattern ------------------------------------------------------------------------------------ */

static schema_rows *rows_known(const schema_dfa *d, const token_trie *t)
{
    schema_rows *r = atomic_load(&d->rows);
    while (r && r->hash != t->hash)
        r = r->next;
    return r;
}

static void rows_keep(schema_tables *tables, schema_dfa *d, schema_rows *r)
{
    r->next = atomic_load(&d->rows);
    while (!atomic_compare_exchange_weak(&d->rows, &r->next, r))
        ;
    r->after = atomic_load(&tables->all);
    while (!atomic_compare_exchange_weak(&tables->all, &r->after, r))
        ;
}

static size_t rows_bytes(const schema_dfa *d)
{
    return sizeof(schema_rows) + d->states * sizeof(uint64_t *);
}

/* Rows of patterns that have none, if their effects can be found or there is one pattern. False: out of memory. */
static bool rows_new(const schema_dfa *const *dfas, size_t count, const token_trie *t, schema_rows **list)
{
    schema_effects *e = malloc(sizeof *e);
    bool ok = e && schema_effects_find(e, dfas, count, t);
    const bool found = ok && e->count > 0;
    for (size_t i = 0; i < count && ok && (found || count == 1); i++) {
        ok = (list[i] = calloc(1, rows_bytes(dfas[i]))) != NULL;
        if (ok) {
            list[i]->hash = t->hash;
            list[i]->states = dfas[i]->states;
            list[i]->effects = found ? e : NULL;
            list[i]->part = i;
        }
    }
    if (ok && found) {
        list[0]->owned = e;
        return true;
    }
    if (e)
        schema_effects_free(e);
    free(e);
    return ok;
}

/* *made: the patterns have rows now; else the tables are full, or several patterns have too many effects. Two threads may make
 * the same rows at once: both are kept. False: out of memory. */
static bool rows_make(schema_tables *tables, const schema_dfa *const *dfas, size_t count, const token_trie *t, bool *made)
{
    schema_rows *list[SCHEMA_PATTERN_RUNS] = {NULL};
    size_t own = 0, most = schema_effects_bytes(dfas, count, t);
    for (size_t i = 0; i < count; i++)
        own += rows_bytes(dfas[i]);
    *made = false;
    if (!tables_take(tables, own + most))
        return true;
    const bool ok = rows_new(dfas, count, t, list);
    *made = ok && list[0];
    tables_give(tables, *made ? most - (list[0]->owned ? list[0]->owned->bytes : 0) : own + most);
    for (size_t i = 0; i < count && *made; i++)
        rows_keep(tables, (schema_dfa *)dfas[i], list[i]);
    for (size_t i = 0; i < count && !*made; i++)
        free(list[i]);
    return ok;
}

bool schema_rows_begin(schema_tables *tables, const schema_dfa *const *dfas, size_t count, const token_trie *t)
{
    const schema_dfa *fresh[SCHEMA_PATTERN_RUNS];
    size_t some = 0, finds = 0;
    bool made = true, ok = true;
    for (size_t i = 0; i < count; i++)
        if (!rows_known(dfas[i], t))
            fresh[some++] = dfas[i];
    if (some > 0)
        ok = rows_make(tables, fresh, some, t, &made);
    for (size_t i = 0; i < some && some > 1 && ok && !made && finds < SINGLE_FINDS; i++) {
        bool single;
        ok = rows_make(tables, &fresh[i], 1, t, &single);
        finds += single;
    }
    return ok;
}

const uint64_t *schema_row(schema_tables *tables, const schema_dfa *d, const token_trie *t, size_t state, arena *scratch)
{
    schema_rows *r = rows_known(d, t);
    const size_t words = schema_token_words(t) + schema_quote_words(t);
    uint64_t *found = r ? atomic_load(&r->rows[state]) : NULL;
    if (found)
        return found;
    const bool keeps = r && tables_take(tables, words * sizeof *found);
    uint64_t *row = keeps ? calloc(words + 1, sizeof *row) : arena_zeroed(scratch, words + 1, sizeof *row);
    if (row && r && r->effects)
        row_by_effects(r, d, t, (uint16_t)state, row);
    else if (row)
        row_by_walk(d, t, (uint16_t)state, row);
    if (!keeps || (row && atomic_compare_exchange_strong(&r->rows[state], &found, row)))
        return row;
    tables_give(tables, words * sizeof *row);
    free(row);
    return found; /* of a thread that was faster; NULL: out of memory */
}

void schema_rows_free(schema_tables *tables)
{
    for (schema_rows *r = atomic_load(&tables->all), *after; r; r = after) {
        after = r->after;
        for (size_t i = 0; i < r->states; i++)
            free(atomic_load(&r->rows[i]));
        if (r->owned)
            schema_effects_free(r->owned);
        free(r->owned);
        free(r);
    }
    atomic_store(&tables->all, NULL);
}
