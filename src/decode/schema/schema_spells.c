/* decode/schema/schema_spells.c: whether a vocabulary has the characters that every output of a schema may need, so that no text
 * gets stuck between two tokens. */
#include "decode/schema/schema_mask.h"

#include "base/quote.h"
#include "decode/schema/schema_work.h"

#include <stdlib.h>
#include <string.h>

static rapt_code spells_not(const char *what, size_t size, rapt_error *err)
{
    char text[64] = {0};
    memcpy(text, what, size < sizeof text - 1 ? size : sizeof text - 1);
    return rapt_fail(err, RAPT_ERR_VALUE, "the schema needs '%s', for which the model's vocabulary has no token",
                     quote(text).text);
}

/* A text, character by character: as one token, or as bytes. */
static rapt_code spells_text(const token_trie *t, const char *bytes, size_t size, rapt_error *err)
{
    for (size_t i = 0, end; i < size; i = end) {
        bool single = true;
        for (end = i + 1; end < size && ((uint8_t)bytes[end] & 0xC0) == 0x80; end++)
            ;
        for (size_t k = i; k < end; k++)
            single = single && t->single[(uint8_t)bytes[k]];
        const int64_t node = single ? -1 : token_trie_find(t, bytes + i, end - i);
        if (!single && (node < 0 || t->nodes[node].token < 0))
            return spells_not(bytes + i, end - i, err);
    }
    return RAPT_OK;
}

/* The automaton of a pattern from its end: for each state, what leads to it by bytes that are tokens. */
typedef struct reversed_dfa {
    uint32_t *first; /* [states] a way that leads to it, plus 1; 0: none */
    uint32_t *next;  /* [states * classes] by way, another one that leads to the same state */
    uint16_t *stack; /* [states] */
    bool *ends;      /* [states] whether an end can be reached */
} reversed_dfa;

static void reverse_ways(const token_trie *t, const schema_dfa *d, const reversed_dfa *r)
{
    bool has[256] = {false};
    for (size_t byte = 0; byte < 256; byte++)
        has[d->classes[byte]] = has[d->classes[byte]] || t->single[byte];
    for (uint32_t way = 0; way < d->states * d->class_count; way++)
        if (d->next[way] != SCHEMA_DFA_BAD && has[way % d->class_count]) {
            r->next[way] = r->first[d->next[way]];
            r->first[d->next[way]] = way + 1;
        }
}

static bool all_reach_ends(const schema_dfa *d, const reversed_dfa *r)
{
    size_t depth = 0, found = 0;
    for (size_t i = 0; i < d->states; i++)
        if ((r->ends[i] = d->accepts[i]))
            r->stack[depth++] = (uint16_t)i;
    for (; depth > 0; found++)
        for (uint32_t way = r->first[r->stack[--depth]]; way > 0; way = r->next[way - 1]) {
            const size_t from = (way - 1) / d->class_count;
            if (!r->ends[from]) {
                r->ends[from] = true;
                r->stack[depth++] = (uint16_t)from;
            }
        }
    return found == d->states;
}

/* Whether each state of a pattern leads to an end by bytes that are tokens. */
static rapt_code spells_pattern(const token_trie *t, const schema_dfa *d, rapt_error *err)
{
    const reversed_dfa r = {calloc(d->states, sizeof *r.first), malloc(d->states * d->class_count * sizeof *r.next),
                            malloc(d->states * sizeof *r.stack), malloc(d->states * sizeof *r.ends)};
    const bool made = r.first && r.next && r.stack && r.ends;
    bool ok = false;
    if (made) {
        reverse_ways(t, d, &r);
        ok = all_reach_ends(d, &r);
    }
    free(r.first);
    free(r.next);
    free(r.stack);
    free(r.ends);
    if (!made)
        return schema_no_memory(err);
    return ok ? RAPT_OK : rapt_fail(err, RAPT_ERR_VALUE, "the schema has a pattern or format for whose characters the model's "
                                                         "vocabulary has no tokens");
}

static rapt_code spells_shape(const token_trie *t, const schema_shape *s, rapt_error *err)
{
    static const char *const needed[] = {[SCHEMA_STRING] = "\"0123456789", [SCHEMA_PATTERN] = "\"",
                                         [SCHEMA_FIXED] = "-.0123456789", [SCHEMA_NUMBER] = "-.0123456789",
                                         [SCHEMA_ARRAY] = "[,]", [SCHEMA_OBJECT] = "{\":,}"};
    const char *const characters = s->kind == SCHEMA_CHOICE ? "" : needed[s->kind];
    rapt_code code = spells_text(t, characters, strlen(characters), err);
    for (size_t i = 0; i < s->count && !code && s->kind == SCHEMA_CHOICE; i++)
        code = spells_text(t, s->texts[i].bytes, s->texts[i].size, err);
    for (size_t i = 0; i < s->count && !code && s->kind == SCHEMA_OBJECT; i++)
        code = spells_text(t, s->slots[i].text.bytes, s->slots[i].text.size, err);
    if (!code && s->kind == SCHEMA_PATTERN)
        code = spells_pattern(t, s->dfa, err);
    return code;
}

/* Vocabularies of bytes have all that may stand in JSON. */
static bool has_all_bytes(const token_trie *t)
{
    bool all = t->single['\n'];
    for (size_t byte = ' '; byte <= 0xF4; byte++)
        all = all && (t->single[byte] || byte == 0xC0 || byte == 0xC1);
    return all;
}

rapt_code schema_spells(const json_schema *s, const token_trie *t, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    if (has_all_bytes(t))
        return RAPT_OK;
    for (size_t i = 0; i < s->node_count && !code; i++)
        for (size_t k = 0; k < s->nodes[i]->count && !code; k++)
            code = spells_shape(t, &s->nodes[i]->shapes[k], err);
    return code;
}
