/* rapt/glossary.h: terms of a subject and how they are translated, for rapt_translate_options.glossary.
 *
 * As a text, a glossary has a line for each term: the source, a tab, the target (the format of DeepL's glossaries):
 *
 *     power supply<tab>Netzteil
 *     Kernel<tab>Kern
 *
 * A term is found where its source stands in a line between word boundaries: where a letter, digit or mark of Unicode has none of
 * them beside it. Characters of scripts without spaces between words (Han, Hiragana, Katakana, Thai, Lao, Khmer, Myanmar) have
 * boundaries on both sides. Where several terms begin, the longest counts, and the next one is looked for behind it. Letter case
 * counts, except that a term that begins in lower case is also found with its first letter in upper case, as at the beginning of
 * a sentence; its target may then begin in upper case, too. Characters are compared as they are, without normal forms.
 */
#ifndef RAPT_GLOSSARY_H
#define RAPT_GLOSSARY_H

#include "rapt/base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { RAPT_GLOSSARY_TERMS = 100000, RAPT_GLOSSARY_BYTES = 10 << 20, RAPT_GLOSSARY_TERM_BYTES = 1024 };

/* Not changed by any use, so that threads may share it. */
typedef struct rapt_glossary rapt_glossary;

typedef struct rapt_glossary_term {
    rapt_text source, target;
} rapt_glossary_term;

/* Reads a glossary from a text, or from the file at `path`. Lines end in LF or CRLF; ones without a character but spaces are
 * skipped. NULL with `err` set: RAPT_ERR_FORMAT, with "NAME:LINE: " and the reason: a line without exactly one tab; an empty
 * source or target, one with white space at an end, with a control character, or of more than RAPT_GLOSSARY_TERM_BYTES; a source
 * that an earlier line has; a text that is not UTF-8 or has a zero byte. RAPT_ERR_VALUE: no term, more than RAPT_GLOSSARY_TERMS
 * of them, or more than RAPT_GLOSSARY_BYTES. RAPT_ERR_IO; RAPT_ERR_MEMORY. */
RAPT_API rapt_glossary *rapt_glossary_parse(const char *name, rapt_text text, rapt_error *err);
RAPT_API rapt_glossary *rapt_glossary_load(const char *path, rapt_error *err);
/* Makes a glossary of terms[count] by these rules; messages number them as lines. */
RAPT_API rapt_glossary *rapt_glossary_new(const char *name, const rapt_glossary_term *terms, size_t count, rapt_error *err);
RAPT_API void rapt_glossary_free(rapt_glossary *g); /* NULL is fine */
RAPT_API size_t rapt_glossary_count(const rapt_glossary *g);
/* Term i, in the order of the lines; i < count. It lasts as long as the glossary. */
RAPT_API rapt_glossary_term rapt_glossary_get(const rapt_glossary *g, size_t i);

#ifdef __cplusplus
}
#endif

#endif
