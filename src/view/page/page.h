/* view/page/page.h: one HTML file that shows a pass of the model: sentence, architecture, attention, matrices, predictions.
 * For `rapt explain --html`. Not what computes or describes the pass: that comes as JSON, as `rapt explain --json` has it. */
#ifndef VIEW_PAGE_PAGE_H
#define VIEW_PAGE_PAGE_H

#include "rapt/base.h"

#include <jansson.h>

/* Writes the page to `path`, whole or not at all. `explanation` is what `rapt explain --json` prints; in place of "values" a
 * step may have "values_base64", a string of page_numbers, which takes a tenth of the memory; one that has neither is shown
 * without its matrix. It is borrowed and left as it is. The page needs no other file and no network. Its numbers take 2.65 MB
 * at most: where they are too many to stand there exactly, those of some steps are rounded to 16 or 8 bits, or left out, and
 * the page says so.
 * Codes: those of file_writer_open (base/file.h); RAPT_ERR_VALUE for an empty path; RAPT_ERR_FORMAT for values that are no
 * numbers;
 * RAPT_ERR_SHAPE where they are more or fewer than the shape says; RAPT_ERR_MEMORY. */
rapt_code page_write(const char *path, json_t *explanation, rapt_error *err);

/* `n` numbers for "values_base64": base64 of floats of 32 bits, the lowest byte first. The caller frees it. NULL: no
 * memory. */
char *page_numbers(const rapt_real *x, size_t n);

#endif
