/* data/pairs.h: which lines of a file became pairs, maybe none, for output that stands beside the file, line by line; and which
 * pairs are of which corpus. */
#ifndef DATA_PAIRS_H
#define DATA_PAIRS_H

#include "rapt/data.h"

#include "data/corpus.h"

/* What separates corpora in the path of rapt_pairs_read: recipe lists become such texts. */
#define PAIRS_BETWEEN "\n"

/* rapt_pairs_read, but files of empty lines, or without lines, have no pairs: that is no error. */
rapt_pairs *pairs_read_lines(const char *path, size_t limit, rapt_error *err);
/* rapt_pairs_read, but lines with faults are left out; `filter` says which, and may be NULL: none. */
rapt_pairs *pairs_read_filtered(const char *path, size_t limit, const check_options *filter, rapt_error *err);
/* rapt_pairs_from_lines, but no pair is no error. */
rapt_pairs *pairs_of_lines(const char *const *sources, const char *const *targets, size_t count, rapt_error *err);

/* The lines that were read; those with both sides empty are no pair. With a limit that was reached: up to the last pair. For
 * pairs from memory: up to the last one. For one corpus. */
size_t pairs_lines(const rapt_pairs *p);

/* Whether a corpus of the path comes through a pipe: corpus_is_piped. */
bool pairs_are_piped(const char *path);

/* The corpora, in the order of the path, and of their pairs. Pairs from memory have none. */
size_t pairs_corpora(const rapt_pairs *p);
const corpus *pairs_corpus(const rapt_pairs *p, size_t i);
/* The path of the corpus that a pair is from, for messages with rapt_pairs_line. */
const char *pairs_path_of(const rapt_pairs *p, size_t pair);

#endif
