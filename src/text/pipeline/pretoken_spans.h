/* text/pipeline/pretoken_spans.h: makes pieces of the matches of a pattern and the text between them. For pretoken_steps.c. */
#ifndef TEXT_PIPELINE_PRETOKEN_SPANS_H
#define TEXT_PIPELINE_PRETOKEN_SPANS_H

#include "text/pipeline/piece_list.h"

/* With "-" as the pattern, "the-final--countdown" becomes: */
typedef enum split_behavior {
    SPLIT_REMOVED,              /* the, final, countdown */
    SPLIT_ISOLATED,             /* the, -, final, -, -, countdown */
    SPLIT_MERGED_WITH_PREVIOUS, /* the-, final-, -, countdown */
    SPLIT_MERGED_WITH_NEXT,     /* the, -final, -, -countdown */
    SPLIT_CONTIGUOUS            /* the, -, final, --, countdown */
} split_behavior;

/* Takes spans that follow each other and cover a text, and puts pieces into a list. */
typedef struct span_joiner {
    piece_list *out;
    const char *text;
    size_t first_bytes;
    split_behavior behavior;
    bool invert;      /* matches are text, and text is matches */
    bool last, open;  /* the last span was a match; there is an open piece begin .. end */
    size_t begin, end;
} span_joiner;

/* False on out-of-memory. */
bool span_joiner_put(span_joiner *j, size_t begin, size_t end, bool match);
bool span_joiner_end(span_joiner *j);

#endif
