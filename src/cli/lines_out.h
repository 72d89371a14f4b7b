/* cli/lines_out.h: lines to standard output, at once and as a whole, for commands that print while they read. */
#ifndef CLI_LINES_OUT_H
#define CLI_LINES_OUT_H

#include "rapt/base.h"

/* Writes `text`, whole lines. Where it fails (RAPT_ERR_IO, the reason alone: "No space left on device"), a part of a line that
 * had got into a regular file is truncated away: who appends to the file finds whole lines. */
rapt_code lines_out(const char *text, size_t size, rapt_error *err);

#endif
