/* cli/data_sieve.h: the output of `rapt data check`: the numbers of lines with defects, or copies of the lines without. For
 * cmd_data.c. */
#ifndef CLI_DATA_SIEVE_H
#define CLI_DATA_SIEVE_H

#include "base/file.h"
#include "data/check/check.h"
#include "data/check/check_runs.h"

/* The lines of a text that are copied. */
typedef struct sieve_text {
    check_runs runs;
    file_writer out;
} sieve_text;

typedef struct sieve {
    bool names;    /* the numbers of lines with defects are printed, each with its reasons */
    size_t opened; /* texts that are written */
    sieve_text text[2];
    rapt_code code; /* of writing */
    rapt_error *err;
} sieve;

/* Prepares to copy the lines of `in` to the files `out`. Call sieve_close afterwards in any case, also after a failure. */
rapt_code sieve_open(sieve *s, const check_input *in, const char *const out[2], rapt_error *err);
/* check_options.each, with a sieve as context. */
void sieve_take(void *context, size_t number, uint32_t found);
/* `code` is the result of the check; files appear only if it is RAPT_OK and nothing fails here. */
rapt_code sieve_close(sieve *s, rapt_code code, rapt_error *err);

#endif
