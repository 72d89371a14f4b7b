/* cli/lines_out.h: whole lines to standard output without delay, for commands that print while they read. */
#ifndef CLI_LINES_OUT_H
#define CLI_LINES_OUT_H

#include "rapt/base.h"

/* Writes `text`, which is whole lines. If that fails (RAPT_ERR_IO, with only the reason: "No space left on device"), the
 * beginning of a line that was already written to a regular file is removed, so that a program that appends to the file finds
 * whole lines. */
rapt_code lines_out(const char *text, size_t size, rapt_error *err);

#endif
