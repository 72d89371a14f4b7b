/* explain/page/page.h: one HTML text that shows a pass of the model: sentence, architecture, attention, matrices, predictions.
 * It neither computes nor describes the pass, which comes as the JSON of rapt_explanation_json. */
#ifndef EXPLAIN_PAGE_PAGE_H
#define EXPLAIN_PAGE_PAGE_H

#include "rapt/base.h"

#include <jansson.h>

/* Makes the page of an explanation: *html, NUL-terminated, which the caller frees, and its length (unless `size` is NULL).
 * `explanation` is what `rapt explain --json` prints; in place of "values" an intermediate may have "values_base64", a string of
 * page_numbers, which takes a tenth of the memory; one that has neither is shown without its matrix. It is borrowed and left
 * as it is. The page needs no other file and no network. Its elements take 2.65 MB at most: where they are too many to be
 * stored exactly, those of some intermediates are rounded to 16 or 8 bits, or left out, and the page says so; of large
 * vocabularies it has the tokens that it names. With "full": true in the explanation all elements are stored exactly, whatever
 * their number.
 * It may have "checkpoints", in the order of training: a list of objects with "step", a number, "steps", attention weights, and
 * "predictions"; they take 4 MB at most. RAPT_ERR_VALUE where they would take more.
 * On failure *html is left alone: RAPT_ERR_FORMAT for values that are not numbers; RAPT_ERR_SHAPE where they are more or fewer
 * than the shape says; RAPT_ERR_MEMORY. */
rapt_code page_make(json_t *explanation, char **html, size_t *size, rapt_error *err);

/* `n` elements for "values_base64": base64 of floats of 32 bits, the lowest byte first. The caller frees it. NULL: out of
 * memory. */
char *page_numbers(const rapt_real *x, size_t n);

#endif
