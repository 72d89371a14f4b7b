/* text/chat/jinja_tree.h: a template as tokens and as a tree, and the parser that makes one of the other. */
#ifndef TEXT_CHAT_JINJA_TREE_H
#define TEXT_CHAT_JINJA_TREE_H

#include "text/chat/jinja_value.h"

/* ---- jinja_lex.c: a template as tokens: text, and the contents of {{ }} and {% %}. */

typedef enum jinja_token_kind {
    JINJA_TOKEN_DATA,
    JINJA_TOKEN_PRINT,     /* {{ */
    JINJA_TOKEN_PRINT_END, /* }} */
    JINJA_TOKEN_BLOCK,     /* {% */
    JINJA_TOKEN_BLOCK_END, /* %} */
    JINJA_TOKEN_NAME,
    JINJA_TOKEN_CONSTANT, /* a string or number */
    JINJA_TOKEN_SIGN,     /* "==" and so on */
    JINJA_TOKEN_END
} jinja_token_kind;

typedef struct jinja_token {
    jinja_token_kind kind;
    unsigned line;
    jinja_value value; /* the text of data, names and signs */
} jinja_token;

/* Tokens of a valid UTF-8 text, followed by JINJA_TOKEN_END. White space is as with Jinja's trim_blocks and lstrip_blocks, and a
 * line feed at the end is dropped. NULL after a failure. */
const jinja_token *jinja_lex(jinja_work *w, const char *text, size_t size);

/* ---- the tree */

/* The meaning of the members a, b, c, list, value is given for each kind. */
typedef enum jinja_node_kind {
    JINJA_NODE_DATA,       /* value: the text */
    JINJA_NODE_PRINT,      /* a: the value to print */
    JINJA_NODE_IF,         /* a: condition, list: body, b: the next JINJA_NODE_IF (elif) or JINJA_NODE_BODY (else) */
    JINJA_NODE_BODY,       /* list */
    JINJA_NODE_FOR,        /* a: the values that it iterates over, b: condition, c: JINJA_NODE_BODY of else, d: target, list:
                              body */
    JINJA_NODE_SET,        /* d: target, a: value */
    JINJA_NODE_SET_BLOCK,  /* d: target, list: body */
    JINJA_NODE_MACRO,      /* value: name, a: parameters (JINJA_NODE_KEYWORD, chained), list: body */
    JINJA_NODE_GENERATION, /* list: body, which has its own variables */
    JINJA_NODE_BREAK,
    JINJA_NODE_CONTINUE,
    JINJA_NODE_CONSTANT,  /* value */
    JINJA_NODE_NAME,      /* value: the name */
    JINJA_NODE_LIST,      /* list: items */
    JINJA_NODE_TUPLE,     /* list: items */
    JINJA_NODE_DICT,      /* list: keys and values in turn */
    JINJA_NODE_ATTRIBUTE, /* a.value */
    JINJA_NODE_ITEM,      /* a[b] */
    JINJA_NODE_SLICE,     /* a[b:c:d]; b, c, d are NULL if missing */
    JINJA_NODE_CALL,      /* a(list) */
    JINJA_NODE_FILTER,    /* a | value(list) */
    JINJA_NODE_TEST,      /* a is value(list) */
    JINJA_NODE_KEYWORD,   /* value=a, among arguments; a is NULL for a parameter without default */
    JINJA_NODE_NOT,       /* a */
    JINJA_NODE_NEGATIVE,  /* a */
    JINJA_NODE_POSITIVE,  /* a */
    JINJA_NODE_AND,       /* a, b */
    JINJA_NODE_OR,        /* a, b */
    JINJA_NODE_CONDITION, /* b if a else c; c may be NULL */
    JINJA_NODE_COMPARE,   /* a, then list: JINJA_NODE_OPERAND */
    JINJA_NODE_OPERAND,   /* value: the operator, a: its right side */
    JINJA_NODE_CONCAT,    /* list: texts */
    JINJA_NODE_BINARY     /* value: the operator, a, b */
} jinja_node_kind;

typedef struct jinja_node {
    jinja_node_kind kind;
    unsigned line;
    jinja_value value;
    struct jinja_node *a, *b, *c, *d;
    struct jinja_node *list; /* the first of a chain */
    struct jinja_node *next; /* in a chain */
} jinja_node;

typedef struct jinja_parser {
    jinja_work *w;
    const jinja_token *at;
    size_t depth; /* depth of parentheses and statements */
    size_t loops; /* loops around the statement, within its macro */
    jinja_node spare; /* written to after a failure */
} jinja_parser;

/* jinja_parse.c: a whole template: the chain of its statements. NULL if it is empty, and after a failure. */
jinja_node *jinja_parse(jinja_work *w, const char *text, size_t size);

/* ---- jinja_parse_expression.c, for jinja_parse.c ---------------------------------------------------------------- */

jinja_node *jinja_parse_expression(jinja_parser *p, bool with_condition);
/* a, b: a tuple without parentheses, or one expression. */
jinja_node *jinja_parse_tuple(jinja_parser *p, bool with_condition);
/* A target of an assignment: a name, an attribute, or several names. */
jinja_node *jinja_parse_target(jinja_parser *p, bool with_attribute);

/* ---- jinja_cursor.c, for both ----------------------------------------------------------------------------------- */

jinja_node *jinja_parse_node(jinja_parser *p, jinja_node_kind kind);
/* Moves to the next token. After a failure the parser is at the end, so that all loops end. */
void jinja_parse_step(jinja_parser *p);
/* Whether a sign is the present token; _takes also moves past it. */
bool jinja_parse_sees_sign(const jinja_parser *p, const char *sign);
bool jinja_parse_sees_name(const jinja_parser *p, const char *name);
bool jinja_parse_takes_sign(jinja_parser *p, const char *sign);
bool jinja_parse_takes_name(jinja_parser *p, const char *name);
/* Moves past a sign; fails if it is not the present token. */
void jinja_parse_expect(jinja_parser *p, const char *sign);
/* An identifier; not a value after a failure. */
jinja_value jinja_parse_identifier(jinja_parser *p);
void jinja_parse_fail(jinja_parser *p, const char *expected);
/* False if it nests too deeply. Call jinja_parse_leave in any case. */
bool jinja_parse_enter(jinja_parser *p);
void jinja_parse_leave(jinja_parser *p);
/* Appends to a chain, whose end moves on. */
void jinja_parse_put(jinja_node ***end, jinja_node *node);

#endif
