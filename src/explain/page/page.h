/* explain/page/page.h: one HTML text that shows a pass of the model: sentence, architecture, attention, matrices, predictions. It
 * does not compute the pass, which comes as the JSON of rapt_explanation_json. */
#ifndef EXPLAIN_PAGE_PAGE_H
#define EXPLAIN_PAGE_PAGE_H

#include "rapt/base.h"

#include <jansson.h>
#include <stdbool.h>

/* Makes the page of an explanation: *html, NUL-terminated, which the caller frees, and its length (unless `size` is NULL).
 * `explanation` (borrowed, unchanged) is what `rapt explain --json` prints. Instead of "values" an intermediate may have
 * "values_base64", a string of page_numbers, which takes a tenth of the memory; an intermediate with neither is shown without its
 * matrix. The page needs no other file and no network. Its elements take at most 2.55 MB: if there are too many to store exactly,
 * some intermediates are rounded to 16 or 8 bits, or left out, and the page says so; for large vocabularies it has only the
 * tokens that it names. What room is left holds "parameters", a list of objects with "name", "shape" and values like steps, and
 * with "kept_rows" (of vectors "kept") where only these rows of the first dimension came; the "uses" of a step name the earlier
 * steps ("inputs") and parameters that it was computed from, and a "constant". With
 * "full": true in the explanation, all elements are stored exactly, however many. The explanation may
 * have "checkpoints", in the order of training: a list of objects with "step", a number, "steps", attention weights, and
 * "predictions". They take at most 4 MB; RAPT_ERR_VALUE if they would take more. "book" is the address of docs/book, which the
 * caller has checked. On failure *html is left alone: RAPT_ERR_FORMAT: values are not numbers; RAPT_ERR_SHAPE: there are more or
 * fewer values than the shape says; RAPT_ERR_MEMORY. */
rapt_code page_make(json_t *explanation, char **html, size_t *size, rapt_error *err);

/* The letters that a JSON object takes in a page. False: out of memory. */
bool page_letters(const json_t *o, size_t *letters);

/* `n` elements for "values_base64": base64 of floats of 32 bits, the lowest byte first. The caller frees it. NULL: out of
 * memory. */
char *page_numbers(const rapt_real *x, size_t n);

#endif
