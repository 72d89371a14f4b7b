/* text/normalizer.h: steps that a text goes through before it is cut into pieces, with the same names and meaning as in Hugging
 * Face's tokenizer.json. For byte-level BPE and its files. */
#ifndef TEXT_NORMALIZER_H
#define TEXT_NORMALIZER_H

#include "rapt/text.h"

#include <jansson.h>

struct buffer; /* base/buffer.h */

typedef enum normalizer_kind {
    NORMALIZER_NFC = 1,   /* Unicode's composed form */
    NORMALIZER_NFKC,      /* NFC, with compatibility characters replaced: wide letters, ligatures, no-break spaces */
    NORMALIZER_NMT,       /* removes control characters; separators of words become spaces */
    NORMALIZER_LOWERCASE, /* letter by letter */
    NORMALIZER_REPLACE,   /* `to` for each `from` */
    NORMALIZER_SQUEEZE,   /* one space for several */
    NORMALIZER_STRIP      /* no white space at the ends */
} normalizer_kind;

typedef struct normalizer_step {
    normalizer_kind kind;
    char *from, *to; /* only for NORMALIZER_REPLACE; owned */
} normalizer_step;

typedef struct normalizer {
    normalizer_step *steps;
    size_t count, capacity;
} normalizer;

/* `from` (not empty) and `to` are copied. RAPT_ERR_MEMORY. */
rapt_code normalizer_add(normalizer *n, normalizer_kind kind, const char *from, const char *to, rapt_error *err);
/* Adds the steps of one of rapt's own normalizations. */
rapt_code normalizer_add_all(normalizer *n, rapt_normalization which, rapt_error *err);
void normalizer_free(normalizer *n);
/* Equal for equal steps; 0 for no steps, 1 for only NFC, a number of many bits for others. */
uint64_t normalizer_hash(const normalizer *n);

bool normalizer_lowercases(const normalizer *n);

/* Calls take(context, normal, size) once, with the whole text after all steps. Bytes that are not UTF-8 stay as they are. A
 * text that no step can change is handed on as it is; another one is copied. */
rapt_code normalizer_apply(const normalizer *n, const char *text, size_t size,
                           rapt_code (*take)(void *context, const char *text, size_t size), void *context, rapt_error *err);
/* The places of the bytes that normalizer_apply makes of a text (text/sources.h), which begins at `begin` of the original text;
 * they replace *from. */
rapt_code normalizer_places(const normalizer *n, const char *text, size_t size, size_t begin, struct buffer *from,
                            rapt_error *err);
/* Whether normalizer_apply has to copy a text. If no part of a text needs it, neither does the text. */
bool normalizer_changes(const normalizer *n, const char *text, size_t size);
/* normalizer_cut.c: the first place from `from` > 0 on where a text can be cut, or its end: the parts before and after it give
 * the same result alone as together. */
size_t normalizer_cut(const normalizer *n, const char *text, size_t size, size_t from);
/* The lines of a text, each by itself, with their ends. malloc'd. */
rapt_code normalizer_apply_lines(const normalizer *n, const char *text, size_t size, char **out, size_t *out_size,
                                 rapt_error *err);

/* hf_normalizer.c: RAPT_ERR_FORMAT, without a message, for a part that is none of the steps, or has options that change it. */
rapt_code normalizer_read(normalizer *n, const json_t *part, rapt_error *err);
json_t *normalizer_to_json(const normalizer *n); /* NULL: out of memory */

#endif
