/* data/pairs.h: which lines of a file became pairs, maybe none. For output that stands beside the file, line by line. */
#ifndef DATA_PAIRS_H
#define DATA_PAIRS_H

#include "rapt/data.h"

/* rapt_pairs_read, but files of empty lines, or without lines, have no pairs: that is no error. */
rapt_pairs *pairs_read_lines(const char *path, size_t limit, rapt_error *err);
/* rapt_pairs_from_lines, but no pair is no error. */
rapt_pairs *pairs_of_lines(const char *const *sources, const char *const *targets, size_t count, rapt_error *err);

/* The lines that were read; those with both sides empty are no pair. With a limit that was reached: up to the last pair. For
 * pairs from memory: up to the last one. */
size_t pairs_lines(const rapt_pairs *p);

#endif
