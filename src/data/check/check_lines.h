/* data/check/check_lines.h: lines of any bytes as sides with measures. For check.c; not the reader of training (pairs.c), which
 * refuses a file with a faulty line. */
#ifndef DATA_CHECK_CHECK_LINES_H
#define DATA_CHECK_CHECK_LINES_H

#include "rapt/base.h"

#include "data/check/check.h"

/* ---- check_script.c: the script of a letter. For check.c; it does not guess the language. */

enum { SCRIPT_NONE = 0, SCRIPT_COUNT = 36 };

/* 1 to SCRIPT_COUNT - 1; SCRIPT_NONE: no letter, or one that several scripts share. Chinese characters and kana count as
 * one script, because Japanese sentences mix them as they please. */
unsigned script_of(uint32_t code);
/* NULL for SCRIPT_NONE. */
const char *script_name(unsigned script);

/* The script with the highest count; SCRIPT_NONE if there is none, or if several share it. */
unsigned script_max(const size_t counts[SCRIPT_COUNT]);

/* ---- check_lines.c: the lines */

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

/* ---- check_same.c: lines that were there before. For check.c. */

/* Marks CHECK_DUPLICATE if an earlier pair has both texts, or else CHECK_OTHER_TARGET if an earlier pair has the source. Texts
 * are compared byte by byte, without white space at their ends. RAPT_ERR_MEMORY. */
rapt_code check_same(check_lines *lines, rapt_error *err);

#endif
