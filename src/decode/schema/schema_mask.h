/* decode/schema/schema_mask.h: which tokens may follow an output of a schema. */
#ifndef DECODE_SCHEMA_SCHEMA_MASK_H
#define DECODE_SCHEMA_SCHEMA_MASK_H

#include "base/arena.h"
#include "decode/schema/schema_step.h"
#include "text/token_trie.h"

/* Sets allowed[id] to 1 for tokens of the trie whose bytes may follow, to 0 for others. False: out of memory. `scratch` is
 * left as it was. */
bool schema_mask(const schema_state *s, const token_trie *t, arena *scratch, uint8_t *allowed);
/* RAPT_ERR_VALUE: the tokens cannot spell what the schema needs. */
rapt_code schema_spells(const json_schema *s, const token_trie *t, rapt_error *err);

#endif
