/* text/unicode/unicode.h: Unicode's properties of code points, from rapt's own tables, so that the same text has the same ids,
 * scores and lower case with any libraries on a machine. For all that read text; utf8.h has UTF-8. tools/make_unicode.py makes
 * the tables, and names the version of each. Not a locale, no collation. */
#ifndef TEXT_UNICODE_UNICODE_H
#define TEXT_UNICODE_UNICODE_H

#include "text/sources.h"

#include <stdbool.h>
#include <stdint.h>

#define UNICODE_END 0x110000 /* after the last code point */

/* General categories, in the order of category_table.h. */
typedef enum unicode_category {
    UNICODE_CN,
    UNICODE_LU, UNICODE_LL, UNICODE_LT, UNICODE_LM, UNICODE_LO,
    UNICODE_MN, UNICODE_MC, UNICODE_ME,
    UNICODE_ND, UNICODE_NL, UNICODE_NO,
    UNICODE_PC, UNICODE_PD, UNICODE_PS, UNICODE_PE, UNICODE_PI, UNICODE_PF, UNICODE_PO,
    UNICODE_SM, UNICODE_SC, UNICODE_SK, UNICODE_SO,
    UNICODE_ZS, UNICODE_ZL, UNICODE_ZP,
    UNICODE_CC, UNICODE_CF, UNICODE_CS, UNICODE_CO
} unicode_category;

/* Unicode 16.0. UNICODE_CN from UNICODE_END on. */
unicode_category unicode_category_of(uint32_t code);
/* Also sets *end to a place up to which this category is certain to continue. */
unicode_category unicode_category_run(uint32_t code, uint32_t *end);
/* Columns that a terminal needs: 0 for marks, controls, formats and unassigned codes, 2 for wide characters, 1 for others. */
unsigned unicode_width(uint32_t code);

/* unicode_case.c: the mappings to one code point (Unicode 17.0); a code point without one stays as it is. */
uint32_t unicode_lower(uint32_t code);
uint32_t unicode_upper(uint32_t code);
uint32_t unicode_title(uint32_t code);
/* Equal for code points that differ only by case. */
uint32_t unicode_fold(uint32_t code);
/* Calls each(context, code) for all code points that fold as another one does, once or more often. */
void unicode_each_cased(void (*each)(void *context, uint32_t code), void *context);

/* unicode_script.c: the number of a script by its name in Unicode ("Latin"); 0 if it is not in the table. */
unsigned unicode_script_named(const char *name, size_t length);
/* The script of a code point, Unicode 16.0; 0: not in the table. Sets *end to a place up to which the script is certain to
 * continue. */
unsigned unicode_script_run(uint32_t code, uint32_t *end);
/* The name of the script of a code point; NULL: one that is not in the table. */
const char *unicode_script_name(uint32_t code);

/* unicode_forms.c: Unicode's normalization forms (UAX #15), as tokenizers has them: Unicode 9.0. */
typedef enum unicode_form { UNICODE_NFC, UNICODE_NFD, UNICODE_NFKC, UNICODE_NFKD } unicode_form;

/* Appends the form of a text of valid UTF-8, in time that grows as its length does. False on out-of-memory. */
bool unicode_append_form(buffer *out, const char *text, size_t size, unicode_form form);
/* unicode_append_form, which also appends to `from` the place of each byte (text/sources.h); `spans`: the places of the text's
 * bytes. As in `tokenizers`, a character that is composed of several has the place of the first, and one that moves past a mark
 * changes places with it. If `spans` is NULL, nothing goes to `from`. */
bool unicode_append_form_from(buffer *out, buffer *from, const char *text, const rapt_span *spans, size_t size,
                              unicode_form form);

#endif
