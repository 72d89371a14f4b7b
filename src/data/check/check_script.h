/* data/check/check_script.h: the script of a letter. For check.c; it does not guess the language. */
#ifndef DATA_CHECK_CHECK_SCRIPT_H
#define DATA_CHECK_CHECK_SCRIPT_H

#include "rapt/base.h"

enum { SCRIPT_NONE = 0, SCRIPT_COUNT = 36 };

/* 1 to SCRIPT_COUNT - 1; SCRIPT_NONE: no letter, or one that several scripts share. Chinese characters and kana count as
 * one script, because Japanese sentences mix them as they please. */
unsigned script_of(uint32_t code);
/* NULL for SCRIPT_NONE. */
const char *script_name(unsigned script);

/* The script with the highest count; SCRIPT_NONE if there is none, or if several share it. */
unsigned script_max(const size_t counts[SCRIPT_COUNT]);

#endif
