/* data/corpus.h: a corpus of sentence pairs: a file of two columns, or two files. For pairs.c, which lists pairs of several. */
#ifndef DATA_CORPUS_H
#define DATA_CORPUS_H

#include "rapt/data.h"

#include "data/check/check_filter.h"
#include "text/lines.h"

typedef struct corpus {
    char *path;                  /* as it was named: FILE, or SOURCE:TARGET */
    struct lines lines, targets; /* targets: if there are two files */
    bool two;
    size_t first, count;         /* its pairs among all pairs */
    check_filtered kept;         /* of a corpus that was filtered: .numbers of its lines; else NULL */
    rapt_left_out left_out[CHECK_REASON_COUNT]; /* [rules] likewise */
    size_t rules;
} corpus;

/* Reads the lines of the corpus at path[0 .. size), without looking for pairs in them. `filter`, if it is not NULL, says which
 * faulty lines are left out. After a failure, too, corpus_free frees it. */
rapt_code corpus_read(const char *path, size_t size, const check_options *filter, corpus *out, rapt_error *err);
void corpus_free(corpus *c);
/* A path as messages name it: "standard input" for "-". */
const char *corpus_name(const char *path);
/* Whether a file of the corpus at path[0 .. size) is a pipe, or was one that is gone (/dev/fd/63), or is standard input: what has
 * been read of it cannot be read anew. */
bool corpus_is_piped(const char *path, size_t size);

/* Called with the sides of a pair, which are in the lines, and the number of its line, from 1. *enough: no more are wanted. */
typedef rapt_code corpus_pair_fn(void *context, char *source, char *target, size_t number, bool *enough, rapt_error *err);

/* Walks the pairs, and cuts the lines of a table in place at their tabs. Lines with both sides empty are none.
 * RAPT_ERR_FORMAT: two files of unlike many lines, or a line without a tab. */
rapt_code corpus_walk(corpus *c, corpus_pair_fn *take, void *context, rapt_error *err);

#endif
