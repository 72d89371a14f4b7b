/* decode/source_segments.h: source lines as rows of tokens: one for each line, or for each of its sentences, and several for
 * sentences that are longer than the model takes. For translate.c. */
#ifndef DECODE_SOURCE_SEGMENTS_H
#define DECODE_SOURCE_SEGMENTS_H

#include "rapt/decode.h"

typedef struct source_segment {
    int32_t *ids; /* with <eos>, unless it was truncated */
    size_t count, index;
    size_t head;      /* tokens before the text's */
    size_t from, end; /* bytes of its text in the line; 0 and 0 if tokens were given */
} source_segment;

typedef struct source_segments {
    source_segment *segment; /* `index` is the place it had; they may be put into another order */
    size_t count, capacity;
} source_segments;

/* The limits of a row. */
typedef struct source_limits {
    size_t max_len;   /* tokens, <eos> included */
    bool by_sentence; /* no more than one sentence */
    bool specials;    /* texts of special tokens are those tokens */
    int32_t eos, skipped; /* skipped: a token that no text may have, because it takes no position; -1: there is none */
    int32_t padding;      /* a token that tokens in place of a text may not have */
    int32_t unknown;      /* <unk>; -1: there is none */
    const int32_t *begin; /* [begin_count] tokens at the beginning of each row, which count too; fewer than max_len */
    size_t begin_count;
    int32_t language;     /* the token for the first language_size bytes of the line; 0 bytes: there is none */
    size_t language_size;
} source_limits;

/* What happened to a line. */
typedef struct source_fit {
    bool split, cut; /* rapt_translation's */
    bool unknown;    /* it has the token of unknown words */
} source_fit;

/* Adds the segments of one line; an empty line, or one of spaces, has none. A line within the limits stays whole. Otherwise it is
 * split into sentences; a sentence that is still too long is split after the last clause that fits, or before the last space that
 * fits; if it has neither, it is truncated to `max_len` tokens. Sets the members of *fit that apply. If a line begins with a
 * language, so does each of its segments. */
rapt_code source_segments_add(source_segments *p, const rapt_tokenizer *k, source_limits limits, rapt_text line,
                              source_fit *fit, rapt_error *err);
/* Adds the one segment of a line whose `count` tokens the caller has: none if there are none. It is truncated to the limit. Ids
 * are below `vocab`. */
rapt_code source_segments_add_tokens(source_segments *p, source_limits limits, const rapt_source_tokens *tokens, size_t vocab,
                                     source_fit *fit, rapt_error *err);
void source_segments_free(source_segments *p);

/* Joins the translations of a line's segments, which are moved or freed, into one; no segments give an empty translation. The
 * n-th best hypothesis joins the n-th best of each segment (the last one if a segment has fewer); scores and log-probabilities
 * add up, alignments follow each other. */
rapt_code source_segments_join(rapt_translation *segments, size_t count, rapt_translation *out, rapt_error *err);

#endif
