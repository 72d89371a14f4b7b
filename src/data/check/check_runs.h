/* data/check/check_runs.h: copies the lines of a text that are kept, byte by byte, consecutive lines as one run. For
 * `rapt data check --out`, which writes them, and for training, which reads them. */
#ifndef DATA_CHECK_CHECK_RUNS_H
#define DATA_CHECK_CHECK_RUNS_H

#include "text/lines.h"

/* Takes the next run. It may write over the text up to the end of that run. */
typedef rapt_code check_put_fn(void *context, const char *at, size_t size, rapt_error *err);

typedef struct check_runs {
    const char *run; /* lines from here to where `rest` begins are still to be put */
    line_walk rest;
    check_put_fn *put;
    void *context;
} check_runs;

check_runs check_runs_of(const char *text, size_t size, check_put_fn *put, void *context);
/* The next line, and after the last one the end. */
rapt_code check_runs_line(check_runs *r, bool kept, rapt_error *err);
rapt_code check_runs_end(check_runs *r, rapt_error *err);

#endif
