/* cli/live_curves.h: the picture of `rapt train --plot`, drawn while the run trains. */
#ifndef CLI_LIVE_CURVES_H
#define CLI_LIVE_CURVES_H

#include "cli/plot/cmd_plot.h"

typedef struct live_curves {
    plot_training_request request; /* out NULL: no picture */
    double drawn_at, took;         /* seconds: when the last drawing ended, and how long it took; drawn_at 0: no drawing yet */
    bool behind;                   /* a report came since */
    bool failed;                   /* a warning has said so; nothing more is drawn */
} live_curves;

/* Whether the path ends in .png or .svg, in lower or upper case. */
bool live_curves_is_picture(const char *path);

/* Call it before the run: warns if the picture cannot be written, which otherwise only the first report would show. */
void live_curves_begin(live_curves *c);
/* Call it after a report: draws, unless the last drawing is so recent that drawings would take more than a tenth of the run. If
 * it cannot draw, it warns once and does not end the run. */
void live_curves_report(live_curves *c);
/* Call it after the run: draws the reports that were left out. */
void live_curves_end(live_curves *c);

#endif
