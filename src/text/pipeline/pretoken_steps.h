/* text/pipeline/pretoken_steps.h: the pre_tokenizer of a tokenizer.json: cuts a text into pieces; the model makes tokens within
 * each. For pipelines. */
#ifndef TEXT_PIPELINE_PRETOKEN_STEPS_H
#define TEXT_PIPELINE_PRETOKEN_STEPS_H

#include "text/pipeline/piece_list.h"
#include "text/pipeline/text_pattern.h"

/* ---- pretoken_spans.c: makes pieces of the matches of a pattern and the text between them. For pretoken_steps.c. */

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
    const rapt_span *from; /* the places of its bytes, or NULL */
    size_t first_bytes;
    split_behavior behavior;
    bool invert;      /* matches are text, and text is matches */
    bool last, open;  /* the last span was a match; there is an open piece begin .. end */
    size_t begin, end;
} span_joiner;

/* False on out-of-memory. */
bool span_joiner_put(span_joiner *j, size_t begin, size_t end, bool match);
bool span_joiner_end(span_joiner *j);

/* ---- pretoken_steps.c: the steps */

typedef enum pretoken_kind {
    PRETOKEN_SPLIT,       /* by a pattern */
    PRETOKEN_WHITE,       /* by white space */
    PRETOKEN_WORDS,       /* runs of \w, and runs of other characters except white space */
    PRETOKEN_DIGITS,      /* numbers apart */
    PRETOKEN_PUNCTUATION, /* punctuation apart */
    PRETOKEN_METASPACE,   /* a mark for spaces, at which pieces begin */
    PRETOKEN_SPACE_FIRST, /* a space before a piece that does not begin with one */
    PRETOKEN_BYTE_LEVEL   /* bytes as letters */
} pretoken_kind;

/* When PRETOKEN_METASPACE puts the mark before a piece that doesn't begin with one. */
typedef enum metaspace_prepend { METASPACE_ALWAYS, METASPACE_FIRST, METASPACE_NEVER } metaspace_prepend;

typedef struct pretoken_step {
    pretoken_kind kind;
    text_pattern pattern;    /* PRETOKEN_SPLIT */
    split_behavior behavior; /* PRETOKEN_SPLIT, PRETOKEN_DIGITS, PRETOKEN_PUNCTUATION */
    bool invert;             /* PRETOKEN_SPLIT */
    char mark[5];            /* PRETOKEN_METASPACE, and so are the following: */
    metaspace_prepend prepend;
    bool split; /* pieces begin at marks */
} pretoken_step;

/* Starts as {0}. */
typedef struct pretoken_steps {
    pretoken_step *list;
    size_t count, capacity;
} pretoken_steps;

void pretoken_steps_free(pretoken_steps *p);
/* pretoken_read.c: adds the steps of a "pre_tokenizer", which may be null; and reads a Metaspace, which can also be a decoder. */
rapt_code pretoken_steps_read(pretoken_steps *p, const hf_reading *r, const json_t *part);
rapt_code pretoken_read_metaspace(const hf_reading *r, const char *what, const json_t *part, pretoken_step *out);
/* Cuts the pieces of *list that are not added tokens; the result replaces it. `classes`: from char_classes_fill. */
rapt_code pretoken_steps_run(const pretoken_steps *p, const uint8_t *classes, piece_list *list, rapt_error *err);

#endif
