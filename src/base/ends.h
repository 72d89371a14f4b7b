/* base/ends.h: the ends of names: the extension of a file, the last part of an intermediate's name. */
#ifndef BASE_ENDS_H
#define BASE_ENDS_H

#include <stdbool.h>

/* Whether `text` ends in `end`: every text ends in "", and in itself. */
bool ends_in(const char *text, const char *end);

#endif
