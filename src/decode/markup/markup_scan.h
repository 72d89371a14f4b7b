/* decode/markup/markup_scan.h: a document of HTML or XML as texts, tags and what else there is, by its bytes. For markup_match.c,
 * which pairs tags. */
#ifndef DECODE_MARKUP_MARKUP_SCAN_H
#define DECODE_MARKUP_MARKUP_SCAN_H

#include "rapt/base.h"

typedef enum markup_kind {
    MARKUP_TEXT,
    MARKUP_START,
    MARKUP_END,
    MARKUP_EMPTY, /* a start tag of an element without content */
    MARKUP_OPAQUE /* a comment, a declaration, a processing instruction, a tag that does not end */
} markup_kind;

typedef struct markup_token {
    size_t begin, end;      /* its bytes */
    size_t from, to;        /* the name of a tag; the bytes of a text without the marks of a CDATA section */
    size_t partner;         /* set by markup_match.c: for a start tag the token that ends its element, for an end tag its start
                               tag, or MARKUP_NONE */
    size_t parent;          /* set by markup_match.c: the start tag of the element that it is in, or MARKUP_NONE */
    int32_t name;           /* set by markup_match.c: a number for the name of a tag */
    markup_kind kind;
    bool literal;           /* a text without references */
    bool untranslated;      /* a start tag of HTML with translate="no" or the class notranslate */
    bool closed;            /* set by markup_match.c: a start tag that has an end tag */
    bool splits;            /* set by markup_match.c: sentences end here */
    bool mixed;             /* set by markup_match.c: a start tag whose element has text beside elements */
    bool verbatim, hidden;  /* set by markup_match.c: a start tag whose element is not translated, nor shown to the model */
} markup_token;

#define MARKUP_NONE SIZE_MAX

/* Zeroed but for the first three: at the beginning. */
typedef struct markup_scan {
    const char *text;       /* [size] */
    size_t size;
    bool xml;
    bool foreign;           /* set by the caller: the next token is in svg or math of HTML, which have CDATA sections */
    size_t at;
    size_t raw, raw_size;   /* the name of the element whose content is text, which comes next; size 0: none */
    unsigned raw_bits;      /* its properties (markup_names.h) */
} markup_scan;

/* The next token, as browsers find it (WHATWG HTML standard, section 13.2.5), or for XML as its grammar has it. Each byte of the
 * text is of one token. A < that begins no tag is text; a tag, comment or declaration that does not end goes to the end of the
 * text. False: there is none. */
bool markup_scan_next(markup_scan *s, markup_token *t);

/* Whether bytes are white space of HTML: space, tab, LF, FF, CR. */
bool markup_is_space(char c);

#endif
