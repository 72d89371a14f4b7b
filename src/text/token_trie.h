/* text/token_trie.h: the tokens of a tokenizer as a trie of their bytes, to find all tokens that a text may continue with, and
 * which of them stay within a JSON string. Made when it is first needed; then it lasts as long as the tokenizer. */
#ifndef TEXT_TOKEN_TRIE_H
#define TEXT_TOKEN_TRIE_H

#include "rapt/text.h"
#include "text/json_char.h"

#include <stdatomic.h>

/* Nodes in preorder: the nodes below nodes[i] are i + 1 .. nodes[i].end - 1. */
typedef struct trie_node {
    uint32_t end;
    int32_t token;  /* the first token that ends here; -1: none */
    uint8_t byte;
    uint8_t depth;  /* bytes from the root, 1 for the first */
    uint16_t more;  /* whether other tokens end here, too; 16 bits, so that there is no padding and nodes can be hashed */
} trie_node;

/* What tokens do within a string that is in some state of a character. */
typedef struct trie_span {
    uint8_t *chars; /* [vocab] characters that a token begins; TRIE_LEAVES: it does not stay in the string */
    struct trie_exit {
        uint32_t node;  /* that ends the string: its byte is the quotation mark */
        uint8_t chars;  /* characters that begin before it */
    } *exits;       /* [exit_count] */
    size_t exit_count;
} trie_span;

enum { TRIE_LEAVES = 255, TRIE_LONGEST = 250 }; /* longer tokens are left out */

typedef struct token_trie {
    trie_node *nodes;  /* [count] */
    uint32_t count;
    int32_t *same;     /* [vocab] the next token with the same bytes; -1: none */
    uint32_t *quotes;  /* [quote_count] nodes whose byte is the quotation mark */
    size_t quote_count;
    uint64_t hash;     /* of its tokens: tries with equal ones are equal */
    size_t vocab;
    bool single[256];  /* whether a byte is a token */
    bool bare_start;   /* the spaces of a text's first token are lost */
    _Atomic(trie_span *) spans[2][JSON_CHAR_STATES]; /* without and with escapes */
} token_trie;

/* Special tokens are left out, and parts of characters if some bytes of characters are no tokens. NULL with `err` set: out of
 * memory, or a tokenizer whose tokens have no bytes of their own, or whose decoder changes texts. */
const token_trie *token_trie_of(const rapt_tokenizer *k, rapt_error *err);
/* NULL: out of memory. */
const trie_span *token_trie_span(const token_trie *t, uint8_t state, bool escapes);
/* The node that some bytes, at least one, lead to; -1: none. */
int64_t token_trie_find(const token_trie *t, const char *bytes, size_t size);
/* The bytes of a token as the trie has them, at most TRIE_LONGEST; 0: it is left out. */
size_t token_trie_bytes(const rapt_tokenizer *k, int32_t id, char *out);
void token_trie_free(token_trie *t);

#endif
