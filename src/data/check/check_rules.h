/* data/check/check_rules.h: the reasons to leave a line out by their names, as recipes, options and JSON have them. */
#ifndef DATA_CHECK_CHECK_RULES_H
#define DATA_CHECK_CHECK_RULES_H

#include "data/check/check.h"

/* The names of reasons, and behind them of notes. */
extern const char *const CHECK_KEYS[CHECK_COUNT];

/* Reads "all", or names of reasons, comma-separated, as bits; an empty list has none. False: `size` bytes at *unknown are none of
 * them. */
bool check_rules_read(const char *list, uint32_t *rules, const char **unknown, size_t *size);
/* "empty_line, no_tab, ...", for messages; `out` has room for CHECK_RULES_TEXT bytes. */
enum { CHECK_RULES_TEXT = 200 };
void check_rules_list(char out[CHECK_RULES_TEXT]);

#endif
