/* rapt/markup.h: translating HTML and XML: the texts of a document without their tags, and the tags in the translations.
 *
 *     rapt_markup *page = rapt_markup_parse(document, NULL, &err);
 *     rapt_translate_options o = rapt_translate_options_default();
 *     o.alignment = o.tokens = o.spans = true;
 *     ... translate the rapt_markup_count(page) lines of rapt_markup_lines(page) with o into translations[] ...
 *     rapt_markup_write(page, translations, 0, &text, &size, &err);
 *
 * A line is the text between two tags that end a sentence: of HTML, elements that browsers show on lines of their own, and
 * <br>; of XML, elements whose parent has no text of its own. White space in it is one space, references such as &amp; are
 * characters; tags within a sentence are left out. Texts without a letter are no lines, and stay as they are.
 *
 * Afterwards each of these tags is put where the alignment says that its words are: an element surrounds the words of the
 * translation that attend to its own, as one piece; what stands alone (<img>, comments) keeps to the word beside it. Each tag
 * occurs once, with its own bytes; elements that were nested stay nested. The translation's text changes in one way only: & <
 * > are written as references, and so are no-break spaces of HTML.
 *
 * Not translated, and left as they are: comments, declarations, attributes; of HTML the elements code, kbd, samp, var, pre,
 * textarea, script, style, svg, math, iframe, xmp, listing, noembed, noframes and plaintext, and those with translate="no" or
 * the class "notranslate". The text of such an element within a sentence, up to RAPT_MARKUP_VERBATIM bytes, is in the line, so
 * that the model sees the whole sentence (not the text of script, style, svg, math and iframe); the element takes the place of
 * the words that the translation has for it. */
#ifndef RAPT_MARKUP_H
#define RAPT_MARKUP_H

#include "rapt/decode.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    RAPT_MARKUP_BYTES = 64 << 20, /* of a document */
    RAPT_MARKUP_TAGS = 1000000,   /* of tags and texts between them, and of references that stay */
    RAPT_MARKUP_DEPTH = 256,      /* of elements within a sentence */
    RAPT_MARKUP_NAMES = 1000,     /* of a list of names */
    RAPT_MARKUP_VERBATIM = 200
};

typedef enum rapt_markup_kind {
    RAPT_MARKUP_HTML,
    RAPT_MARKUP_XML   /* names by letter case, no element without an end tag or />, CDATA sections, and the entities amp, lt, gt,
                         quot and apos only: references to others stay where they are, as tags do */
} rapt_markup_kind;

/* Lists are names of elements with commas or spaces between; of HTML in any letter case. NULL: none. */
typedef struct rapt_markup_options {
    size_t size;              /* of this struct; set by rapt_markup_options_default */
    const char *ignore;       /* elements that are not translated, as code is not */
    const char *splitting;    /* tags at which sentences end */
    const char *non_splitting; /* tags at which they do not; `splitting` comes first */
    rapt_markup_kind kind;
    bool outline;             /* other tags end sentences as described above; false: no other tag does */
    uint8_t reserved[3];      /* zero, or else refused */
} rapt_markup_options;

/* Writes the defaults into options that have `size` bytes in the program (rapt/defaults.h). */
RAPT_API void rapt_markup_options_init(rapt_markup_options *o, size_t size);
/* HTML with `outline`, all else zero. */
static inline rapt_markup_options rapt_markup_options_default(void)
{
    rapt_markup_options o;
    rapt_markup_options_init(&o, sizeof o);
    return o;
}

/* A document. Not changed by any use, so that threads may share it. */
typedef struct rapt_markup rapt_markup;

/* Copies the document. No tags are refused: what does not fit together stays where it is. `options` may be NULL. NULL with `err`
 * set: RAPT_ERR_FORMAT: not UTF-8, with the byte; RAPT_ERR_VALUE: more bytes, tags, names or depth than the limits above, a name
 * with > or /, options without a size; RAPT_ERR_MEMORY. */
RAPT_API rapt_markup *rapt_markup_parse(rapt_text document, const rapt_markup_options *options, rapt_error *err);
RAPT_API void rapt_markup_free(rapt_markup *m); /* NULL is fine */
/* The texts to translate, in their order, a NUL behind each; they last as long as the document. */
RAPT_API size_t rapt_markup_count(const rapt_markup *m);
RAPT_API const rapt_text *rapt_markup_lines(const rapt_markup *m);
/* The byte of the document at which text `line` begins, or a tag just before it. */
RAPT_API size_t rapt_markup_begin(const rapt_markup *m, size_t line);

/* Writes the document with hypothesis `n` of each of its lines (the last one of a line with fewer) to *out, which the caller
 * frees; a NUL follows its *size bytes (`size` may be NULL). translations[] is of rapt_markup_lines, made with `alignment`,
 * `tokens` and `spans`, or else RAPT_ERR_VALUE; RAPT_ERR_MEMORY. */
RAPT_API rapt_code rapt_markup_write(const rapt_markup *m, const rapt_translation *translations, size_t n, char **out,
                                     size_t *size, rapt_error *err);

#ifdef __cplusplus
}
#endif

#endif
