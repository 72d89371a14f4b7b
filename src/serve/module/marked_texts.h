/* serve/module/marked_texts.h: texts of a request that are documents of HTML or XML (rapt/markup.h). For translating.c, and for
 * dialects, which read what their fields say of it. */
#ifndef SERVE_MODULE_MARKED_TEXTS_H
#define SERVE_MODULE_MARKED_TEXTS_H

#include "rapt/markup.h"
#include "serve/module/fields.h"
#include "serve/module/replay.h"

/* Zeroed: texts without markup. */
typedef struct marked_texts {
    bool is_on;
    rapt_markup_options options;
    char *ignore, *splitting, *non_splitting; /* the options' */
    rapt_markup **documents; /* [count]; some may be NULL until all are read */
    size_t count;
    size_t bytes;            /* estimate of their memory, while they are read and written */
} marked_texts;

void marked_texts_free(marked_texts *m);

/* The format that a field names: 0 for text, 1 and 2 for the first two of "html" and "xml". */
void marked_texts_format(marked_texts *m, size_t format);
/* Reads the fields that say where sentences end and what is not translated: "ignore_tags", "splitting_tags",
 * "non_splitting_tags", each a text with commas or a list of texts, and "outline_detection". Texts without markup take none of
 * them, nor outline_detection true; `name` is the field that asks for markup. */
void marked_texts_fields(marked_texts *m, fields *f, const char *name);

/* Reads documents; nothing if texts have no markup. *lines and *bytes: how many lines to translate they have together, and their
 * bytes. */
void marked_texts_read(marked_texts *m, exchange *x, const char *const *texts, size_t count, size_t *lines, size_t *bytes,
                       request_error *error);
/* Document `i` with hypothesis n of its lines. NULL: out of memory. */
json_t *marked_texts_write(const marked_texts *m, size_t i, const rapt_translation *lines, size_t n);

/* Adds the options of the command. */
void marked_texts_replay(replay *r, const marked_texts *m);

#endif
