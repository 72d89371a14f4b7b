/* explain/page/page_steps.h: the steps of an explanation as numbers, and how they are to stand in a page: how finely, and
 * what need not stand there because it can be had from another step. For page.c; not the page's JSON. */
#ifndef EXPLAIN_PAGE_PAGE_STEPS_H
#define EXPLAIN_PAGE_PAGE_STEPS_H

#include "rapt/base.h"

#include <jansson.h>

/* How finely a number is kept, from coarse to exact:
 * PAGE_BYTE: 8 bits: m (q / n)^2, where m is the largest of its row and n is 127, or 255 where no number is negative; so
 *     small numbers keep digits, too, and the error is at most m (|q| + 1/4) / n^2.
 * PAGE_HALF: 16 bits of IEEE 754 times one power of two, 2^exponent, for the whole step: 11 significant bits, fewer below
 *     2^(exponent - 14); so the error is at most the larger of |x| 2^-11 and 2^(exponent - 25).
 * PAGE_EXACT: the float itself. */
typedef enum page_format { PAGE_LEFT_OUT, PAGE_BYTE, PAGE_HALF, PAGE_EXACT } page_format;

typedef struct page_step {
    json_t *json;         /* borrowed */
    const char *name;
    bool gradient, known; /* known: it came with numbers */
    float *x;             /* [groups, rows, columns]; NULL where it came without, or is had from another */
    size_t groups, rows, columns;
    size_t *kept;         /* [columns]: of a vocabulary's columns, those that are kept; NULL: all */
    bool lower;           /* above the diagonal stands nothing but `above`, zero or minus infinity */
    float above;
    bool negative, odd;   /* some number is below zero; some is NaN or plus infinity */
    const char *source;   /* the step that has the same numbers, NULL: none */
    bool split;           /* ... with its columns split into heads, or heads side by side */
    page_format format;
} page_step;

/* Steps of an explanation. Codes as page_write's. Whatever they say, page_steps_free() gives all back. */
typedef struct page_steps {
    page_step *steps;
    size_t count;
} page_steps;

rapt_code page_steps_read(const json_t *explanation, page_steps *all, rapt_error *err);
void page_steps_free(page_steps *all);

/* How many numbers of a step stand in the page. */
size_t page_step_stored(const page_step *s);

/* page_plan.c: the format of each step, so that all of them take `letters` letters of base64 at most. What tells most comes
 * first: weights of attention, then what goes from block to block, ..., gradients and scores last. */
void page_plan(page_steps *all, size_t letters);

/* page_numbers.c: writes into `o` how the numbers of a step are kept, and the letters. False: out of memory. */
bool page_numbers_put(const page_step *s, json_t *o);

#endif
