/* decode/schema/constraint.h: the inside of rapt_constraint, and a text that obeys one: for continuation.c. */
#ifndef DECODE_SCHEMA_CONSTRAINT_H
#define DECODE_SCHEMA_CONSTRAINT_H

#include "base/arena.h"
#include "decode/schema/schema_step.h"
#include "rapt/generate.h"
#include "text/token_trie.h"

/* rapt_constraint_json_schema with a bound of its own for the memory of the automaton, in bytes: at most SCHEMA_MEMORY. */
rapt_constraint *constraint_new(const char *schema, size_t size, size_t max_memory, rapt_error *err);
/* Likewise, but a text is free until the token `marker` comes: then a value follows, after which the text is free again, until
 * the next marker, a text of any length. Within a value the text does not end. */
rapt_constraint *constraint_new_after(const char *marker, const char *schema, size_t size, size_t max_memory, rapt_error *err);
const rapt_constraint *constraint_keep(const rapt_constraint *c);
/* Whether it has a marker. */
bool constraint_waits(const rapt_constraint *c);
/* Bytes that it takes at most, with what it may keep of tokens later. */
size_t constraint_bytes(const rapt_constraint *c);
/* Whether each of its values ends with a bracket, so that no token of the end ever follows one. */
bool constraint_brackets(const rapt_constraint *c);
/* RAPT_ERR_VALUE: the tokens of a tokenizer cannot spell what it needs, or have no bytes of their own; or its marker is none. */
rapt_code constraint_check(const rapt_constraint *c, const rapt_tokenizer *k, rapt_error *err);

/* A schema of all objects. */
#define CONSTRAINT_OBJECT "{\"type\": \"object\"}"

typedef struct constrained {
    const rapt_constraint *constraint; /* NULL: a text without one */
    const rapt_tokenizer *tokenizer;
    const token_trie *trie;
    schema_state *state, *next; /* of the text so far, and of the next token's; swapped with each token */
    schema_state *scratch;      /* [2] */
    int32_t marker;             /* -1: none */
    bool waits;                 /* for the marker */
    bool begins;                /* there is no token yet */
} constrained;

enum { CONSTRAINED_STATES = 4 }; /* that a text holds */

/* Takes a reference; free it in any case. Errors as in constraint_check, RAPT_ERR_MEMORY. */
rapt_code constrained_init(constrained *c, const rapt_constraint *of, const rapt_tokenizer *k, arena *memory, rapt_error *err);
void constrained_free(constrained *c);
/* Back to a text without tokens. */
void constrained_begin(constrained *c);
/* Takes a token. False: it does not obey. */
bool constrained_put(constrained *c, int32_t id);
/* Whether the text may end, and whether it must. Without a constraint it may at any time. */
bool constrained_may_end(const constrained *c);
bool constrained_must_end(const constrained *c);
/* Sets x[vocab] to -inf for tokens that may not follow; ends[end_count], which end a text, may if the text may end.
 * *some: a token is left. RAPT_ERR_MEMORY. */
rapt_code constrained_restrict(const constrained *c, const int32_t *ends, size_t end_count, arena *scratch, rapt_real *x,
                               size_t vocab, bool *some, rapt_error *err);

#endif
