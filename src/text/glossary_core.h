/* text/glossary_core.h: the inside of rapt_glossary, and its terms in texts. For decode/terms.c. */
#ifndef TEXT_GLOSSARY_CORE_H
#define TEXT_GLOSSARY_CORE_H

#include "rapt/glossary.h"
#include "text/lines.h"

struct rapt_glossary {
    struct lines lines;                 /* the terms point into them */
    rapt_glossary_term *terms;          /* [count] in the order of the lines */
    const rapt_glossary_term **sorted;  /* [count] by the bytes of their sources */
    size_t *line_of;                    /* [count] the number of the line of each of `terms` */
    size_t count;
};

/* A term in a text: bytes from .. end - 1. */
typedef struct glossary_match {
    const rapt_glossary_term *term;
    size_t from, end;
    bool capitalized; /* the term begins in lower case, the text in upper case */
} glossary_match;

/* The first match at or behind byte `from`, which is between characters. False: there is none. The text may have any bytes. */
bool glossary_find(const rapt_glossary *g, rapt_text text, size_t from, glossary_match *m);

#endif
