/* decode/schema/schema_mask.c: a walk through the trie of the tokens with the states after their bytes. Within a string nearly
 * all tokens may follow: those that stay in it are known beforehand (token_trie_span), and only what follows its end is
 * walked. A walk is bounded: when too much work is done, what is left is walked by single characters. */
#include "decode/schema/schema_mask.h"

#include "decode/schema/schema_rows.h"

#include <stdlib.h>
#include <string.h>

typedef struct mask_walk {
    schema_tables *tables;
    const token_trie *trie;
    arena *scratch;
    uint8_t *allowed;
    size_t left; /* work */
    bool brief;  /* there was none left: only tokens of one character, and those that are known beforehand */
    schema_state *levels[TRIE_LONGEST + 1]; /* after each byte of a token; made when they are needed */
    uint8_t spanned[2][JSON_CHAR_STATES];   /* characters up to which allow_span has been, plus 1 */
    uint64_t *stay;      /* bits of tokens that stay in a pattern; NULL: there is none yet */
    uint64_t *walked;    /* bits of quotation marks behind which walk_pattern has been, if the pattern's end leads to `closed` */
    schema_state *closed;
} mask_walk;

static schema_state *mask_level(mask_walk *w, size_t level)
{
    if (!w->levels[level])
        w->levels[level] = arena_array(w->scratch, 1, sizeof *w->levels[level]);
    return w->levels[level];
}

static void spend(mask_walk *w, size_t work)
{
    w->left -= work < w->left ? work : w->left;
}

/* Bytes of the character that begins with one. */
static size_t character_size(uint8_t first)
{
    return first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC0 ? 2 : 1;
}

static void allow_tokens(const mask_walk *w, const trie_node *n)
{
    for (int32_t id = n->token; id >= 0; id = w->trie->same[id])
        w->allowed[id] = 1;
}

/* Allows the tokens of nodes begin .. end - 1 that the state of level 0 takes; it comes after `base` bytes of them.
 * Ends when no work is left. */
static bool walk_nodes(mask_walk *w, uint32_t begin, uint32_t end, size_t base)
{
    size_t most = TRIE_LONGEST;
    for (uint32_t i = begin; i < end && (w->left > 0 || (w->brief && base == 0));) {
        const trie_node *n = &w->trie->nodes[i];
        const size_t level = n->depth - base;
        schema_state *out = mask_level(w, level);
        if (!out)
            return false;
        if (level == 1 && w->brief)
            most = character_size(n->byte);
        schema_step(w->levels[level - 1], n->byte, out);
        spend(w, out->work);
        if (out->count == 0) {
            i = n->end;
            continue;
        }
        allow_tokens(w, n);
        i = level < most ? i + 1 : n->end;
    }
    return true;
}

static bool begin_patterns(mask_walk *w)
{
    if (w->stay)
        return true;
    w->stay = arena_zeroed(w->scratch, schema_token_words(w->trie) + 1, sizeof *w->stay);
    w->walked = arena_zeroed(w->scratch, schema_quote_words(w->trie) + 1, sizeof *w->walked);
    w->closed = arena_array(w->scratch, 1, sizeof *w->closed);
    if (!w->stay || !w->walked || !w->closed)
        return false;
    w->closed->count = 0;
    return true;
}

/* Patterns that are read side by side mostly end alike: what follows is walked once. */
static void close_pattern(mask_walk *w, const schema_run *r, schema_state *after)
{
    after->count = 0;
    schema_run_close(r, after);
    if (w->closed->count == 1 && schema_runs_equal(&after->runs[0], &w->closed->runs[0]))
        return;
    memset(w->walked, 0, schema_quote_words(w->trie) * sizeof *w->walked);
    w->closed->count = 0;
    schema_run_close(r, w->closed);
}

static bool walk_quotes(mask_walk *w, const uint64_t *quotes)
{
    for (size_t i = 0; i < schema_quote_words(w->trie); i++) {
        const uint64_t fresh = quotes[i] & ~w->walked[i];
        w->walked[i] |= fresh;
        for (size_t bit = 0; bit < 64 && fresh >> bit; bit++) {
            if (!(fresh >> bit & 1))
                continue;
            const uint32_t node = w->trie->quotes[64 * i + bit];
            const trie_node *n = &w->trie->nodes[node];
            allow_tokens(w, n);
            if (!walk_nodes(w, node + 1, n->end, n->depth))
                return false;
        }
    }
    return true;
}

/* The bytes of a pattern, and what follows its end. */
static bool walk_pattern(mask_walk *w, const schema_run *r)
{
    const uint64_t *row = schema_row(w->tables, r->now->dfa, w->trie, r->low, w->scratch);
    schema_state *after = mask_level(w, 0);
    if (!row || !after || !begin_patterns(w))
        return false;
    for (size_t i = 0; i < schema_token_words(w->trie); i++)
        w->stay[i] |= row[i];
    close_pattern(w, r, after);
    return walk_quotes(w, row + schema_token_words(w->trie));
}

/* Four tokens at a time, because shifting out each bit takes five times as long. */
static void allow_bits(const mask_walk *w, const uint64_t *bits)
{
    static const uint8_t nibbles[16][4] = {{0, 0, 0, 0}, {1, 0, 0, 0}, {0, 1, 0, 0}, {1, 1, 0, 0}, {0, 0, 1, 0}, {1, 0, 1, 0},
                                           {0, 1, 1, 0}, {1, 1, 1, 0}, {0, 0, 0, 1}, {1, 0, 0, 1}, {0, 1, 0, 1}, {1, 1, 0, 1},
                                           {0, 0, 1, 1}, {1, 0, 1, 1}, {0, 1, 1, 1}, {1, 1, 1, 1}};
    const size_t vocab = w->trie->vocab, fours = vocab / 4 * 4;
    for (size_t i = 0; i < fours; i += 4) {
        uint32_t now, four;
        memcpy(&now, w->allowed + i, 4);
        memcpy(&four, nibbles[bits[i / 64] >> i % 64 & 15], 4);
        now |= four;
        memcpy(w->allowed + i, &now, 4);
    }
    for (size_t i = fours; i < vocab; i++)
        w->allowed[i] |= bits[i / 64] >> i % 64 & 1;
}

/* Allows the tokens that stay in the string of a run and begin at most `room` characters. */
static void allow_span(mask_walk *w, const schema_run *r, bool escapes, const trie_span *span, size_t room)
{
    const uint8_t most = (uint8_t)(room < TRIE_LEAVES ? room : TRIE_LEAVES - 1);
    uint8_t *const done = &w->spanned[escapes][r->letter];
    if (*done > most)
        return;
    *done = (uint8_t)(most + 1);
    const uint8_t *restrict chars = span->chars;
    uint8_t *restrict allowed = w->allowed;
    for (size_t id = 0, vocab = w->trie->vocab; id < vocab; id++)
        allowed[id] |= chars[id] <= most;
}

static bool walk_string(mask_walk *w, const schema_run *r)
{
    const schema_shape *s = r->now;
    const trie_span *span = token_trie_span(w->trie, r->letter, true);
    schema_state *after = mask_level(w, 0);
    if (!span || !after)
        return false;
    after->count = 0;
    schema_run_close(r, after);
    spend(w, span->exit_count / 4);
    allow_span(w, r, true, span, s->max - r->chars);
    for (size_t i = 0; i < span->exit_count; i++) {
        const struct trie_exit *e = &span->exits[i];
        const trie_node *n = &w->trie->nodes[e->node];
        if (r->chars + e->chars < s->min || e->chars > s->max - r->chars)
            continue;
        allow_tokens(w, n);
        if (!walk_nodes(w, e->node + 1, n->end, n->depth))
            return false;
    }
    return true;
}

/* The exit at a node, of which there is at most one; exit_count: none. They are in order of the nodes. */
static size_t exit_at(const trie_span *span, uint32_t node)
{
    size_t low = 0, high = span->exit_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (span->exits[middle].node < node)
            low = middle + 1;
        else
            high = middle;
    }
    return low < span->exit_count && span->exits[low].node == node ? low : span->exit_count;
}

/* Which of the span's exits would end a slot's key, of which `r` has the beginning. */
static bool *slot_keys(mask_walk *w, const schema_run *r, const trie_span *span)
{
    const schema_shape *s = r->frames[r->depth - 1].shape;
    bool *taken = arena_zeroed(w->scratch, span->exit_count + 1, sizeof *taken);
    spend(w, 8 * (r->high - r->low));
    for (size_t i = r->low; taken && i < r->high; i++) {
        const schema_text *t = &s->texts[i];
        if (t->size < r->chars + 2)
            continue;
        const int64_t node = token_trie_find(w->trie, t->bytes + r->chars, t->size - r->chars - 1); /* without the colon */
        if (node >= 0)
            taken[exit_at(span, (uint32_t)node)] = true;
    }
    return taken;
}

static bool walk_other_key(mask_walk *w, const schema_run *r)
{
    const trie_span *span = token_trie_span(w->trie, r->letter, false);
    const bool *taken = span ? slot_keys(w, r, span) : NULL;
    schema_state *after = mask_level(w, 0);
    if (!taken || !after)
        return false;
    after->count = 0;
    schema_run_colon(r, after);
    spend(w, span->exit_count / 4);
    allow_span(w, r, false, span, SIZE_MAX);
    for (size_t i = 0; i < span->exit_count; i++) {
        const uint32_t node = span->exits[i].node;
        const trie_node *n = &w->trie->nodes[node];
        if (taken[i])
            continue;
        allow_tokens(w, n);
        if (!walk_nodes(w, node + 1, n->end, n->depth))
            return false;
    }
    return true;
}

static bool run_is_in_pattern(const schema_run *r)
{
    return r->phase == RUN_SCALAR && r->now->kind == SCHEMA_PATTERN;
}

/* The patterns that differ among those in which the output is. */
static bool begin_rows(mask_walk *w, const schema_state *s)
{
    const schema_dfa *dfas[SCHEMA_PATTERN_RUNS];
    size_t count = 0;
    for (size_t i = 0; i < s->count && count < SCHEMA_PATTERN_RUNS; i++) {
        const schema_run *r = &s->runs[i];
        size_t k = 0;
        if (!run_is_in_pattern(r))
            continue;
        while (k < count && dfas[k] != r->now->dfa)
            k++;
        if (k == count)
            dfas[count++] = r->now->dfa;
    }
    return schema_rows_begin(w->tables, dfas, count, w->trie);
}

static bool walk_run(mask_walk *w, const schema_run *r)
{
    if (r->phase == RUN_SCALAR && r->now->kind == SCHEMA_STRING)
        return walk_string(w, r);
    if (run_is_in_pattern(r))
        return walk_pattern(w, r);
    if (r->phase == RUN_OTHER_KEY && !w->brief)
        return walk_other_key(w, r);
    schema_state *own = mask_level(w, 0);
    if (!own)
        return false;
    own->count = 1;
    own->runs[0] = *r;
    return walk_nodes(w, 0, w->trie->count, 0);
}

bool schema_mask(const schema_state *s, json_schema *of, const token_trie *t, arena *scratch, uint8_t *allowed)
{
    return schema_mask_within(s, of, t, SCHEMA_MASK_WORK, scratch, allowed);
}

bool schema_mask_within(const schema_state *s, json_schema *of, const token_trie *t, size_t work, arena *scratch,
                        uint8_t *allowed)
{
    const arena_mark mark = arena_save(scratch);
    mask_walk *w = arena_zeroed(scratch, 1, sizeof *w);
    bool ok = w != NULL;
    memset(allowed, 0, t->vocab);
    if (ok) {
        w->tables = &of->tables;
        w->trie = t;
        w->scratch = scratch;
        w->allowed = allowed;
        w->left = work;
        ok = begin_rows(w, s);
    }
    for (size_t i = 0; i < s->count && ok; i++) {
        ok = walk_run(w, &s->runs[i]);
        if (ok && w->left == 0 && !w->brief) {
            w->brief = true;
            ok = walk_run(w, &s->runs[i]);
        }
    }
    if (ok && w->stay)
        allow_bits(w, w->stay);
    arena_release(scratch, mark);
    return ok;
}
