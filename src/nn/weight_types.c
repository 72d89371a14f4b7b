/* nn/weight_types.c: see weight_types.h. */
#include "nn/weight_types.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

enum { ITEM = 256 };

static const char *const NAMES[] = {"fp32", "bf16", "q8_0", "q4_0"};
enum { NAME_COUNT = sizeof NAMES / sizeof *NAMES };

const char *weight_types_name(rapt_precision type)
{
    return NAMES[type];
}

static bool type_of_name(const char *name, rapt_precision *type)
{
    for (size_t i = 0; i < NAME_COUNT; i++)
        if (strcmp(name, NAMES[i]) == 0) {
            *type = (rapt_precision)i;
            return true;
        }
    return false;
}

/* Copies the item at *list, and goes to the next one; false at the end. Items that are too long are cut off: no type ends so. */
static bool next_item(const char **list, char item[ITEM])
{
    if (!*list)
        return false;
    const char *comma = strchr(*list, ',');
    const size_t size = comma ? (size_t)(comma - *list) : strlen(*list);
    snprintf(item, ITEM, "%.*s", (int)(size < ITEM ? size : ITEM), *list);
    *list = comma ? comma + 1 : NULL;
    return true;
}

/* Cuts PATTERN=T in two; returns T, with *pattern NULL where there is none. */
static const char *cut_item(char *item, const char **pattern)
{
    char *equal = strrchr(item, '=');
    *pattern = equal ? item : NULL;
    if (equal)
        *equal = '\0';
    return equal ? equal + 1 : item;
}

rapt_code weight_types_check(const char *list, rapt_precision *all, rapt_error *err)
{
    char item[ITEM];
    const char *pattern;
    bool first = true;
    *all = RAPT_PRECISION_FP32;
    for (const char *rest = list; next_item(&rest, item); first = false) {
        rapt_precision type;
        const char *name = cut_item(item, &pattern);
        if (!type_of_name(name, &type))
            return rapt_fail(err, RAPT_ERR_VALUE, "'%s' is no type of weights: fp32, bf16, q8_0 or q4_0", name);
        if (pattern ? !*pattern : !first)
            return rapt_fail(err, RAPT_ERR_VALUE, "'%s': only the first type is for all weights; others are PATTERN=TYPE", list);
        if (!pattern)
            *all = type;
    }
    return RAPT_OK;
}

bool weight_types_find(const char *list, const char *name, bool output, rapt_precision *type)
{
    char item[ITEM];
    const char *pattern;
    bool found = false;
    while (next_item(&list, item)) {
        const char *wanted = cut_item(item, &pattern);
        const bool fits = !pattern || (output && strcmp(pattern, "output") == 0) || fnmatch(pattern, name, 0) == 0;
        if (fits && type_of_name(wanted, type)) {
            const bool coarse = !pattern && *type == RAPT_PRECISION_Q4_0;
            *type = output && coarse ? RAPT_PRECISION_Q8_0 : *type; /* each of its rows decides on a token */
            found = true;
        }
    }
    return found;
}
