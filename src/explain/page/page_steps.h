/* explain/page/page_steps.h: the elements of an explanation's intermediates ("steps"), and how a page stores them: with which
 * precision, and which are left out because they can be computed from another step. For page.c. */
#ifndef EXPLAIN_PAGE_PAGE_STEPS_H
#define EXPLAIN_PAGE_PAGE_STEPS_H

#include "rapt/base.h"

#include <jansson.h>

/* The precision of a stored element, from coarse to exact:
 * PAGE_BYTE: 8 bits: m (q / n)^2, where m is the largest of its row and n is 127, or 255 where no element is negative; so
 *     small elements keep digits, too, and the error is at most m (|q| + 1/4) / n^2.
 * PAGE_HALF: 16 bits of IEEE 754 times one power of two, 2^exponent, for the whole step: 11 significant bits, fewer below
 *     2^(exponent - 14); so the error is at most the larger of |x| 2^-11 and 2^(exponent - 25).
 * PAGE_EXACT: the float itself. */
typedef enum page_format { PAGE_LEFT_OUT, PAGE_BYTE, PAGE_HALF, PAGE_EXACT } page_format;

typedef struct page_step {
    json_t *json;         /* borrowed */
    const char *name, *axis; /* axis: the name of the last axis, "key"; "": it has none */
    bool gradient, known; /* known: it came with values */
    float *x;             /* [groups, rows, columns]; NULL if it came without elements, or is computed from another step */
    size_t groups, rows, columns;
    size_t *kept;         /* [columns]: the columns of a vocabulary that are stored; NULL: all */
    size_t *kept_rows;    /* [rows]: the rows that are stored, in a matrix with a row for each token of the vocabulary; NULL:
                             all */
    bool lower;           /* all elements above the diagonal are `above`, zero or minus infinity */
    float above;
    bool negative, odd;   /* an element is below zero; one is NaN or plus infinity */
    const char *source;   /* the step with equal elements, NULL: none */
    bool split;           /* ... with its columns split into heads, or heads side by side */
    page_format format;
} page_step;

/* The steps of an explanation, or its parameters, which have the same form. Codes as in page_make. page_steps_free frees them,
 * after a failure too. */
typedef struct page_steps {
    page_step *steps;
    size_t count;
} page_steps;

/* `key`: "steps" or "parameters" of the explanation. */
rapt_code page_steps_read(const json_t *explanation, const char *key, page_steps *all, rapt_error *err);
void page_steps_free(page_steps *all);

/* The number of elements of a step that are stored in the page. */
size_t page_step_stored(const page_step *s);

/* page_vocab.c: if a step has a row or a column for each token of a large vocabulary, keeps only the tokens that the page names.
 * RAPT_ERR_MEMORY. */
rapt_code page_vocab_cut(const json_t *explanation, page_step *s, rapt_error *err);

/* page_plan.c: chooses the format of each step, so that all of them take at most `letters` letters of base64. The most
 * informative ones are exact first: attention weights, then the residual stream between blocks, ..., gradients and scores
 * last. Returns how many letters they take. */
size_t page_plan(page_steps *all, size_t letters);
/* Chooses the format of each parameter: as many as fit are kept, the first ones first, and then as finely as fits. */
void page_plan_parameters(page_steps *all, size_t letters);

/* page_numbers.c: writes the elements of a step, and their format, into `o`. False: out of memory. */
bool page_numbers_put(const page_step *s, json_t *o);

#endif
