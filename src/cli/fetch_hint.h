/* cli/fetch_hint.h: the command that downloads a missing file. For commands that read the data of a recipe. */
#ifndef CLI_FETCH_HINT_H
#define CLI_FETCH_HINT_H

#include "rapt/base.h"

/* If `err` says that a file is missing, and its path is in the folder data/NAME of a set that `rapt fetch` knows, adds that
 * command to the message. */
void fetch_hint(rapt_error *err);

#endif
