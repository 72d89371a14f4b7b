/* decode/schema/schema_rows.h: the tokens that may follow in a state of a pattern, as bits. They are kept by the schema, because
 * a text comes back to the same states, and many texts have the same schema. */
#ifndef DECODE_SCHEMA_SCHEMA_ROWS_H
#define DECODE_SCHEMA_SCHEMA_ROWS_H

#include "decode/schema/schema_shape.h"
#include "text/token_trie.h"

/* Words of 64 tokens, and of 64 quotation marks of the trie. */
size_t schema_token_words(const token_trie *t);
size_t schema_quote_words(const token_trie *t);
/* Finds what tokens do to some patterns, at most SCHEMA_PATTERN_RUNS that differ, before their rows are asked for: in one walk
 * through the trie, unless that has to wait for a later call. False: out of memory. */
bool schema_rows_begin(schema_tables *tables, const schema_dfa *const *dfas, size_t count, const token_trie *t);
/* Bits of tokens that stay in the string of a pattern, then of the trie's quotation marks that end it. As long as the schema, or
 * in `scratch` if its tables are full. Any thread. NULL: out of memory. */
const uint64_t *schema_row(schema_tables *tables, const schema_dfa *d, const token_trie *t, size_t state, arena *scratch);
void schema_rows_free(schema_tables *tables);

#endif
