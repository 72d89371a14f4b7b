/* data/check/check_same.h: lines that were there before. For check.c. */
#ifndef DATA_CHECK_CHECK_SAME_H
#define DATA_CHECK_CHECK_SAME_H

#include "data/check/check_lines.h"

/* Marks CHECK_DUPLICATE where an earlier pair has both texts, else CHECK_OTHER_TARGET where one has the source. The
 * texts are compared as they are, but for white space at their ends. RAPT_ERR_MEMORY. */
rapt_code check_same(check_lines *lines, rapt_error *err);

#endif
