/* decode/schema/constraint.c: rapt_constraint, which any number of texts share, and texts that obey one. */
#include "decode/schema/constraint.h"

#include "decode/schema/schema_mask.h"
#include "decode/schema/schema_work.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct rapt_constraint {
    json_schema schema;
    char *marker; /* NULL: none */
    atomic_size_t references;
};

rapt_constraint *constraint_new(const char *text, size_t size, size_t max_memory, rapt_error *err)
{
    rapt_constraint *c = calloc(1, sizeof *c);
    if (!c) {
        schema_no_memory(err);
        return NULL;
    }
    atomic_init(&c->references, 1);
    if (schema_build(&c->schema, text, size, max_memory, err) == RAPT_OK)
        return c;
    rapt_constraint_free(c);
    return NULL;
}

rapt_constraint *constraint_new_after(const char *marker, const char *text, size_t size, size_t max_memory, rapt_error *err)
{
    const size_t bytes = strlen(marker) + 1;
    rapt_constraint *c = constraint_new(text, size, max_memory, err);
    if (!c)
        return NULL;
    c->marker = malloc(bytes);
    if (!c->marker) {
        schema_no_memory(err);
        rapt_constraint_free(c);
        return NULL;
    }
    memcpy(c->marker, marker, bytes);
    return c;
}

bool constraint_waits(const rapt_constraint *c)
{
    return c && c->marker;
}

rapt_constraint *rapt_constraint_json_schema(const char *text, size_t size, rapt_error *err)
{
    return constraint_new(text, size, SCHEMA_MEMORY, err);
}

void rapt_constraint_free(rapt_constraint *c)
{
    if (!c || atomic_fetch_sub(&c->references, 1) > 1)
        return;
    schema_free(&c->schema);
    free(c->marker);
    free(c);
}

const rapt_constraint *constraint_keep(const rapt_constraint *c)
{
    if (c)
        atomic_fetch_add(&((rapt_constraint *)c)->references, 1); /* its one member that changes */
    return c;
}

size_t constraint_bytes(const rapt_constraint *c)
{
    const size_t marker = constraint_waits(c) ? strlen(c->marker) + 1 : 0;
    return c ? c->schema.memory.reserved + c->schema.tables.most + marker : 0;
}

bool constraint_brackets(const rapt_constraint *c)
{
    const schema_node *root = c->schema.root;
    for (size_t i = 0; i < root->count; i++)
        if (root->shapes[i].kind != SCHEMA_ARRAY && root->shapes[i].kind != SCHEMA_OBJECT)
            return false;
    return true;
}

rapt_code constraint_check(const rapt_constraint *c, const rapt_tokenizer *k, rapt_error *err)
{
    rapt_error own = {0};
    const token_trie *t = token_trie_of(k, &own);
    if (t && constraint_waits(c) && rapt_tokenizer_special(k, c->marker) < 0)
        return rapt_fail(err, RAPT_ERR_VALUE, "%s is no token of the model", c->marker);
    return t ? schema_spells(&c->schema, t, err) : rapt_fail(err, own.code, "%s", own.message);
}

rapt_code constrained_init(constrained *c, const rapt_constraint *of, const rapt_tokenizer *k, arena *memory, rapt_error *err)
{
    rapt_error own = {0};
    *c = (constrained){.constraint = constraint_keep(of), .tokenizer = k, .marker = -1};
    if (!of)
        return RAPT_OK;
    if (constraint_waits(of))
        c->marker = rapt_tokenizer_special(k, of->marker);
    c->trie = token_trie_of(k, &own);
    if (!c->trie)
        return rapt_fail(err, own.code, "%s", own.message);
    c->state = arena_array(memory, CONSTRAINED_STATES, sizeof *c->state);
    if (!c->state)
        return schema_no_memory(err);
    c->next = c->state + 1;
    c->scratch = c->state + 2;
    constrained_begin(c);
    return RAPT_OK;
}

void constrained_free(constrained *c)
{
    rapt_constraint_free((rapt_constraint *)c->constraint);
    c->constraint = NULL;
}

void constrained_begin(constrained *c)
{
    c->begins = true;
    c->waits = constraint_waits(c->constraint);
    if (c->constraint)
        schema_state_begin(c->state, &c->constraint->schema);
}

/* Some decoders drop the spaces of a text's first token, which may stand within a string. */
static bool loses_spaces(const constrained *c, int32_t id)
{
    char bytes[TRIE_LONGEST];
    return c->begins && c->trie->bare_start && memchr(bytes, ' ', token_trie_bytes(c->tokenizer, id, bytes)) != NULL;
}

bool constrained_put(constrained *c, int32_t id)
{
    char bytes[TRIE_LONGEST];
    if (!c->constraint)
        return true;
    if (c->waits) {
        c->waits = id != c->marker;
        c->begins = false;
        return true;
    }
    const size_t size = loses_spaces(c, id) ? 0 : token_trie_bytes(c->tokenizer, id, bytes);
    schema_state *const next = c->next;
    next->count = 0;
    if (size > 0)
        schema_advance(c->state, bytes, size, c->scratch, next);
    c->next = c->state;
    c->state = next;
    c->begins = false;
    if (constraint_waits(c->constraint) && schema_state_done(next) && next->count > 0) {
        c->waits = true;
        schema_state_begin(c->state, &c->constraint->schema);
    }
    return next->count > 0;
}

bool constrained_may_end(const constrained *c)
{
    return !c->constraint || c->waits || schema_state_complete(c->state);
}

bool constrained_must_end(const constrained *c)
{
    return c->constraint && !constraint_waits(c->constraint) && schema_state_done(c->state);
}

static bool find_allowed(const constrained *c, const int32_t *ends, size_t end_count, arena *scratch, uint8_t *allowed,
                         size_t size)
{
    if (!schema_mask(c->state, (json_schema *)&c->constraint->schema, c->trie, scratch, allowed))
        return false;
    for (size_t id = 0; id < size && c->begins && c->trie->bare_start; id++)
        allowed[id] = allowed[id] && !loses_spaces(c, (int32_t)id);
    for (size_t i = 0; i < end_count; i++)
        if (ends[i] >= 0 && (size_t)ends[i] < size)
            allowed[ends[i]] = constrained_may_end(c);
    return true;
}

/* Whether a token is left. NaN and inf stay, which the sampler refuses by name. Without branches, so that compilers make vectors
 * of it: a vocabulary has 200,000 tokens. */
static bool exclude_others(const uint8_t *restrict allowed, rapt_real *restrict x, size_t vocab)
{
    unsigned some = 0;
    for (size_t i = 0; i < vocab; i++) {
        const rapt_real kept = allowed[i] ? x[i] : (rapt_real)-INFINITY;
        x[i] = x[i] < (rapt_real)INFINITY ? kept : x[i];
        some |= !(x[i] == (rapt_real)-INFINITY);
    }
    return some != 0;
}

rapt_code constrained_restrict(const constrained *c, const int32_t *ends, size_t end_count, arena *scratch, rapt_real *x,
                               size_t vocab, bool *some, rapt_error *err)
{
    const arena_mark mark = arena_save(scratch);
    *some = c->waits;
    if (c->waits)
        return RAPT_OK;
    const size_t size = vocab > c->trie->vocab ? vocab : c->trie->vocab;
    uint8_t *allowed = arena_zeroed(scratch, size, 1);
    const bool ok = allowed && find_allowed(c, ends, end_count, scratch, allowed, size);
    *some = ok && exclude_others(allowed, x, vocab);
    arena_release(scratch, mark);
    return ok ? RAPT_OK : schema_no_memory(err);
}
