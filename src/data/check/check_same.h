/* data/check/check_same.h: lines that were there before. For check.c. */
#ifndef DATA_CHECK_CHECK_SAME_H
#define DATA_CHECK_CHECK_SAME_H

#include "data/check/check_lines.h"

/* Marks CHECK_DUPLICATE if an earlier pair has both texts, or else CHECK_OTHER_TARGET if an earlier pair has the source. Texts
 * are compared byte by byte, without white space at their ends. RAPT_ERR_MEMORY. */
rapt_code check_same(check_lines *lines, rapt_error *err);

#endif
