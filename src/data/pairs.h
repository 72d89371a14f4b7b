/* data/pairs.h: which lines of a file became pairs. For output that stands beside the file, line by line. */
#ifndef DATA_PAIRS_H
#define DATA_PAIRS_H

#include "rapt/data.h"

/* The lines that were read; those with both sides empty are no pair. With a limit: up to the last pair. For pairs from memory: up
 * to the last one. */
size_t pairs_lines(const rapt_pairs *p);

#endif
