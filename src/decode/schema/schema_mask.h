/* decode/schema/schema_mask.h: which tokens may follow an output of a schema. */
#ifndef DECODE_SCHEMA_SCHEMA_MASK_H
#define DECODE_SCHEMA_SCHEMA_MASK_H

#include "base/arena.h"
#include "decode/schema/schema_step.h"
#include "text/token_trie.h"

enum { SCHEMA_MASK_WORK = 1 << 16 }; /* 4 to 8 ms */

/* Sets allowed[id] to 1 for tokens of the trie whose bytes may follow an output of `of`, in state `s`, to 0 for others. After
 * SCHEMA_MASK_WORK, in the units of schema_state.work, only some tokens of more than one character are found: a text is never
 * stuck for it. False: out of memory. `scratch` is left as it was. Any threads may do so with one schema, whose tables change. */
bool schema_mask(const schema_state *s, json_schema *of, const token_trie *t, arena *scratch, uint8_t *allowed);
/* With `work` in place of SCHEMA_MASK_WORK. */
bool schema_mask_within(const schema_state *s, json_schema *of, const token_trie *t, size_t work, arena *scratch,
                        uint8_t *allowed);
/* RAPT_ERR_VALUE: the tokens cannot spell what the schema needs. */
rapt_code schema_spells(const json_schema *s, const token_trie *t, rapt_error *err);

#endif
