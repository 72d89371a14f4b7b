/* text/pipeline/decode_steps.h: what the decoder of a tokenizer.json makes of tokens. For pipelines. */
#ifndef TEXT_PIPELINE_DECODE_STEPS_H
#define TEXT_PIPELINE_DECODE_STEPS_H

#include "text/pipeline/piece_list.h"
#include "text/pipeline/text_pattern.h"

typedef enum decode_kind {
    DECODE_BYTE_LEVEL,    /* letters of bytes as bytes, all in one */
    DECODE_METASPACE,     /* marks as spaces, but none where the text begins */
    DECODE_WORD_PIECE,    /* a space before each token but the first and those with the prefix, which goes */
    DECODE_SUFFIX,        /* the suffix as a space, but none at the end */
    DECODE_REPLACE,       /* a text for each match */
    DECODE_BYTE_FALLBACK, /* <0x00> and so on as bytes */
    DECODE_FUSE,          /* all tokens become one */
    DECODE_STRIP          /* characters at the ends go */
} decode_kind;

typedef struct decode_step {
    decode_kind kind;
    text_pattern pattern; /* of DECODE_REPLACE */
    char *text;           /* its content; the prefix; the suffix; owned */
    bool cleanup;         /* of DECODE_WORD_PIECE: no space before punctuation */
    char mark[5];         /* of DECODE_METASPACE, DECODE_STRIP */
    bool keeps_first;     /* of DECODE_METASPACE: the mark where the text begins is a space as well */
    size_t start, stop;   /* of DECODE_STRIP: at most N at each end */
} decode_step;

/* Starts as {0}; `none` once there is no decoder: tokens have spaces between them. */
typedef struct decode_steps {
    decode_step *list;
    size_t count, capacity;
    bool none;
} decode_steps;

void decode_steps_free(decode_steps *d);
/* decode_read.c: adds the steps of a "decoder", which may be null. */
rapt_code decode_steps_read(decode_steps *d, const hf_reading *r, const json_t *part);
/* Runs the steps over tokens, which the result replaces. */
rapt_code decode_steps_run(const decode_steps *d, piece_list *tokens, rapt_error *err);

/* Appends bytes as UTF-8: what is none becomes U+FFFD, one for each stretch that a character could begin with, as Unicode
 * recommends (3.9, "substitution of maximal subparts"). False on out-of-memory. */
bool decode_lossy(buffer *out, const char *bytes, size_t size);

#endif
