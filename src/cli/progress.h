/* cli/progress.h: what `rapt train` shows while it works. A report is a line that stays. Between reports there is, on a
 * terminal, one live line that is written over, and elsewhere, as in a log, now and then a line with the step.
 *
 * All functions do nothing where the progress is NULL, which is how --quiet is quiet. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include "rapt/train.h"

#include <stdio.h>

#define PROGRESS_LINE 256

typedef struct progress progress;

typedef struct progress_options {
    FILE *out;
    bool terminal;
    double silence; /* seconds after which something is said where there is no terminal; 0: 60 */
} progress_options;

/* NULL: out of memory; then nothing is shown. */
progress *progress_new(const progress_options *options);
/* `failed`: an error message follows, and the live line stays above it. */
void progress_free(progress *p, bool failed);

/* The run is at a step, or has made a report. */
void progress_step(progress *p, const rapt_progress *at);
/* It does something else: "validating", 3 of 20 parts; of 0: not known. */
void progress_phase(progress *p, const char *what, size_t done, size_t count);
/* Takes the live line away and says nothing by itself until the next step or phase: the caller may write lines. */
void progress_clear(progress *p);

/* A step or report in at most `columns` columns: where there are too few, parts are left out, the loss last. Returns `line`. */
const char *progress_line(const rapt_progress *at, size_t columns, char line[PROGRESS_LINE]);

#endif
