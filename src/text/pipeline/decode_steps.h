/* text/pipeline/decode_steps.h: the decoder of a tokenizer.json: turns tokens into text. For pipelines. */
#ifndef TEXT_PIPELINE_DECODE_STEPS_H
#define TEXT_PIPELINE_DECODE_STEPS_H

#include "text/pipeline/piece_list.h"
#include "text/pipeline/text_pattern.h"

typedef enum decode_kind {
    DECODE_BYTE_LEVEL,    /* letters of bytes as bytes, all in one */
    DECODE_METASPACE,     /* marks become spaces, except at the text's beginning */
    DECODE_WORD_PIECE,    /* a space before each token, except the first and tokens with the prefix, which is removed */
    DECODE_SUFFIX,        /* the suffix becomes a space, except at the end */
    DECODE_REPLACE,       /* a text for each match */
    DECODE_BYTE_FALLBACK, /* <0x00> and so on as bytes */
    DECODE_FUSE,          /* all tokens become one */
    DECODE_STRIP          /* characters at the ends go */
} decode_kind;

typedef struct decode_step {
    decode_kind kind;
    text_pattern pattern; /* DECODE_REPLACE */
    char *text;           /* its content; the prefix; the suffix; owned */
    bool cleanup;         /* DECODE_WORD_PIECE: no space before punctuation */
    char mark[5];         /* DECODE_METASPACE, DECODE_STRIP */
    bool keeps_first;     /* DECODE_METASPACE: the mark at the text's beginning also becomes a space */
    size_t start, stop;   /* DECODE_STRIP: at most this number at each end */
} decode_step;

/* Starts as {0}; `none`: the file has no decoder, so that tokens get spaces between them. */
typedef struct decode_steps {
    decode_step *list;
    size_t count, capacity;
    bool none;
} decode_steps;

void decode_steps_free(decode_steps *d);
/* decode_read.c: adds the steps of a "decoder", which may be null. */
rapt_code decode_steps_read(decode_steps *d, const hf_reading *r, const json_t *part);
/* Runs the steps over tokens; the result replaces them. */
rapt_code decode_steps_run(const decode_steps *d, piece_list *tokens, rapt_error *err);

/* The byte of a token "<0x41>"; -1: another token. */
int decode_byte_of(const char *token, size_t size);

/* Appends bytes as UTF-8: invalid bytes become U+FFFD, one for each stretch that could begin a character, as Unicode recommends
 * (3.9, "substitution of maximal subparts"). False on out-of-memory. */
bool decode_lossy(buffer *out, const char *bytes, size_t size);

#endif
