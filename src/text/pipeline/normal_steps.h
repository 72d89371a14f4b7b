/* text/pipeline/normal_steps.h: the steps of a tokenizer.json's normalizer. For pipelines; byte-level BPE has its own,
 * text/normalizer.h, which takes any bytes. */
#ifndef TEXT_PIPELINE_NORMAL_STEPS_H
#define TEXT_PIPELINE_NORMAL_STEPS_H

#include "base/buffer.h"
#include "text/pipeline/text_pattern.h"
#include "text/sources.h"

typedef enum normal_kind {
    NORMAL_NFC,
    NORMAL_NFD,
    NORMAL_NFKC,
    NORMAL_NFKD,
    NORMAL_LOWERCASE,
    NORMAL_NMT,           /* removes control characters; separators of words become spaces */
    NORMAL_STRIP_ACCENTS, /* combining marks go */
    NORMAL_BYTE_LEVEL,    /* bytes as letters */
    NORMAL_BERT_CLEAN,    /* control characters go, white space becomes spaces */
    NORMAL_BERT_CHINESE,  /* spaces about Chinese characters */
    NORMAL_BERT_ACCENTS,  /* nonspacing marks go */
    NORMAL_PRECOMPILED,   /* SentencePiece's character map */
    NORMAL_REPLACE,
    NORMAL_PREPEND,
    NORMAL_STRIP /* removes white space at the ends */
} normal_kind;

typedef struct normal_step {
    normal_kind kind;
    text_pattern pattern; /* NORMAL_REPLACE, and its replacement: */
    char *text;           /* also for NORMAL_PREPEND, and the map of NORMAL_PRECOMPILED; owned */
    size_t length;        /* of the map */
    bool left, right;     /* NORMAL_STRIP */
} normal_step;

/* Starts as {0}. */
typedef struct normal_steps {
    normal_step *list;
    size_t count, capacity;
} normal_steps;

/* A text, and how many of its bytes, at its beginning, come from the first character of the text that is encoded. */
typedef struct normal_text {
    buffer text, from; /* from: the places of its bytes (text/sources.h), if they are asked for */
    size_t first_bytes;
} normal_text;

static inline void normal_text_free(normal_text *t)
{
    buffer_free(&t->text);
    buffer_free(&t->from);
}

void normal_steps_free(normal_steps *n);
/* normal_read.c: adds the steps of a "normalizer", which may be null. */
rapt_code normal_steps_read(normal_steps *n, const hf_reading *r, const json_t *part);
/* Runs all steps over a text of valid UTF-8, with the places of its bytes or NULL; the result replaces *out. `classes`: from
 * char_classes_fill. */
rapt_code normal_steps_run(const normal_steps *n, const uint8_t *classes, const char *text, const rapt_span *from, size_t size,
                           size_t first_bytes, normal_text *out, rapt_error *err);

/* normal_charsmap.c: whether a map is one, and a text through it. False on out-of-memory. */
bool normal_charsmap_is_sound(const char *map, size_t size);
bool normal_charsmap(normal_text *out, const uint8_t *classes, const normal_step *s, const normal_text *in);

#endif
