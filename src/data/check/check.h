/* data/check/check.h: finds faults in a file of sentence pairs, counted and line by line. For `rapt data check`, and for
 * training, which may leave such lines out (check_filter.h). Changes nothing, and needs no vocabulary. */
#ifndef DATA_CHECK_CHECK_H
#define DATA_CHECK_CHECK_H

#include "rapt/base.h"

/* Reasons why a line is better left out, in the order in which they are checked: identifier, key in JSON, text. */
#define CHECK_REASONS(X)                                         \
    X(CHECK_EMPTY_LINE, "empty_line", "empty line")              \
    X(CHECK_NO_TAB, "no_tab", "no tab")                          \
    X(CHECK_NOT_UTF8, "not_utf8", "not UTF-8, or a NUL")         \
    X(CHECK_EMPTY_SIDE, "empty_side", "empty side")              \
    X(CHECK_COPIED, "copied", "target is the source")            \
    X(CHECK_DUPLICATE, "duplicate", "pair was there before")     \
    X(CHECK_WRONG_SCRIPT, "wrong_script", "unusual script")      \
    X(CHECK_LENGTH_RATIO, "length_ratio", "lengths too unlike")

/* Notes about the other lines. */
#define CHECK_NOTES(X)                                                        \
    X(CHECK_OTHER_TARGET, "other_target", "source was there, other target")   \
    X(CHECK_TAB_WITHIN, "tab_within", "tab within a side")                    \
    X(CHECK_MORE_COLUMNS, "more_columns", "further columns, not read")

#define CHECK_NAME(name, key, text) name,
enum check_reason { CHECK_REASONS(CHECK_NAME) CHECK_REASON_COUNT };
enum check_note { CHECK_FIRST_NOTE = CHECK_REASON_COUNT - 1, CHECK_NOTES(CHECK_NAME) CHECK_COUNT };
enum { CHECK_ANY_REASON = (1 << CHECK_REASON_COUNT) - 1 }; /* bits of a line */
#undef CHECK_NAME

/* One text with `source<TAB>target` lines, or two whose lines belong together. */
typedef struct check_input {
    const char *name[2];
    const char *text[2]; /* borrowed, any bytes; a NUL ends neither */
    size_t size[2];
    size_t count; /* number of texts: 1 or 2 */
} check_input;

/* A pair is an outlier if one side is more than `ratio` times its expected length, and differs from it by more than `margin`, in
 * characters. The expected length follows from the other side and the median ratio of all pairs: twice as many characters on one
 * side are not a fault if that is usual, and a few lines that are far too long do not affect the others. */
typedef struct check_options {
    double ratio, margin;
    uint32_t rules; /* reasons that count, a bit for each; 0: all. Other faults do not count */
    void (*each)(void *context, size_t number, uint32_t found); /* NULL, or called for each line in order; `found` has a bit for
                                                                 * each check_reason or, if there is none, for each check_note */
    void *context;
} check_options;

typedef struct check_lengths {
    double mean;
    size_t median, max; /* the lower of the two in the middle */
} check_lengths;

typedef struct check_side {
    check_lengths words, characters; /* between white space; code points, without white space at the ends */
    const char *script;              /* script of most letters; NULL: there are no letters */
    double share;                    /* its share of all letters */
} check_side;

typedef struct check_finding {
    size_t lines; /* lines for which it holds; notes count only lines without a reason */
    size_t newly; /* lines of these without an earlier reason; 0 for notes */
    size_t first; /* number of the first such line, from 1; 0: none */
} check_finding;

typedef struct check_report {
    size_t lines, pairs; /* pairs: lines with two sides of text; lengths and scripts are theirs */
    size_t dropped;      /* lines with any reason to leave them out, each once */
    check_side side[2];
    check_finding found[CHECK_COUNT]; /* by check_reason and check_note */
} check_report;

/* RAPT_ERR_VALUE: two texts of unlike many lines; RAPT_ERR_MEMORY. */
rapt_code check_pairs(const check_input *in, const check_options *options, check_report *out, rapt_error *err);

#endif
