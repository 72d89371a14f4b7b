/* data/check/check_lines.h: lines of any bytes as sides with measures. For check.c; not the reader of training (pairs.c), which
 * refuses a file with a faulty line. */
#ifndef DATA_CHECK_CHECK_LINES_H
#define DATA_CHECK_CHECK_LINES_H

#include "data/check/check.h"
#include "data/check/check_script.h"

typedef struct check_text {
    const char *at; /* without white space at the ends */
    size_t size;
    uint32_t words, characters;
    unsigned script; /* script of most of its letters */
} check_text;

typedef struct check_line {
    check_text side[2];
    uint32_t found; /* a bit for each check_reason and check_note */
    uint64_t hash[2]; /* hash of the source, hash of both texts */
} check_line;

typedef struct check_lines {
    check_line *line;
    size_t count;
    size_t letters[2][SCRIPT_COUNT]; /* letters of the pairs, by script */
} check_lines;

/* All lines with the findings of each alone: no tab, not UTF-8, empty, copied. Errors: as check_pairs. */
rapt_code check_lines_read(const check_input *in, check_lines *out, rapt_error *err);
void check_lines_free(check_lines *lines);

/* Whether it has two sides of text. */
bool check_line_is_pair(const check_line *line);

#endif
