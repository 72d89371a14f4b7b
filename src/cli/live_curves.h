/* cli/live_curves.h: the picture of `rapt train --plot`, drawn while the run trains. */
#ifndef CLI_LIVE_CURVES_H
#define CLI_LIVE_CURVES_H

#include "cli/plot/plot_training.h"

typedef struct live_curves {
    plot_training_request request; /* out NULL: no picture */
    double drawn_at, took;         /* seconds: the end of the last drawing, and its time; drawn_at 0: none yet */
    bool behind;                   /* a report came since */
    bool failed;                   /* which was said; nothing more is drawn */
} live_curves;

/* Whether the path's ending is that of a picture: .png or .svg, in any case. */
bool live_curves_is_picture(const char *path);

/* Before the run: says in a warning where the picture cannot be written, rather than at the first report. */
void live_curves_begin(live_curves *c);
/* A report was made: draws, unless a drawing ended so short a time ago that drawings would take more than a tenth of the run.
 * Where it cannot draw, says so in a warning, once; it does not end the run. */
void live_curves_report(live_curves *c);
/* The run has ended: draws what was left out. */
void live_curves_end(live_curves *c);

#endif
