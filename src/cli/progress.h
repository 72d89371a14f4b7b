/* cli/progress.h: the progress that `rapt train` shows. A report is a line that stays. Between reports, a terminal has one live
 * line that is overwritten; without a terminal, as in a log, a line with the step is written from time to time.
 *
 * All functions do nothing if the progress is NULL, as with --quiet. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include "rapt/train.h"

#include <stdio.h>

#define PROGRESS_LINE 256

typedef struct progress progress;

typedef struct progress_options {
    FILE *out;
    bool terminal;
    double silence; /* without a terminal, seconds of silence after which a line is written; 0: 60 */
} progress_options;

/* NULL: out of memory; then nothing is shown. */
progress *progress_new(const progress_options *options);
/* `failed`: an error message follows, and the live line stays above it. */
void progress_free(progress *p, bool failed);

/* The run is at a step, or has made a report. */
void progress_step(progress *p, const rapt_progress *at);
/* A phase that is not training: "validating", 3 of 20 parts; `count` 0: not known. */
void progress_phase(progress *p, const char *what, size_t done, size_t count);
/* Removes the live line and writes nothing until the next step or phase, so that the caller may write lines. */
void progress_clear(progress *p);

/* A step or report in at most `columns` columns: if they are too few, parts are left out, the loss last. Returns `line`. */
const char *progress_line(const rapt_progress *at, size_t columns, char line[PROGRESS_LINE]);

#endif
