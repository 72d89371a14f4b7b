/* data/check/check_filter.h: leaves faulty lines out of texts in memory, as `rapt data check --out` does with files. For the
 * reader of pairs. */
#ifndef DATA_CHECK_CHECK_FILTER_H
#define DATA_CHECK_CHECK_FILTER_H

#include "data/check/check.h"

/* What is left, and what was found. */
typedef struct check_filtered {
    size_t *numbers, count; /* [count] the numbers of the lines that are left, from 1; check_filter_free frees them */
    check_report report;
} check_filtered;

/* Moves the lines of `in` without a fault to the beginnings of its texts, which are the caller's to write to, with a NUL behind
 * them, and puts their new sizes into `in`. Does not use `each` and `context` of `o`. On failure the texts are as they were.
 * RAPT_ERR_FORMAT: a text has another encoding, which is one fault and not one of each line; RAPT_ERR_VALUE: two texts of unlike
 * many lines; RAPT_ERR_MEMORY. */
rapt_code check_filter(check_input *in, char *const text[2], const check_options *o, check_filtered *out, rapt_error *err);
void check_filter_free(check_filtered *f);

/* RAPT_ERR_FORMAT if a text of `in` seems to have another encoding, with advice. */
rapt_code check_encoding(const check_input *in, rapt_error *err);

#endif
