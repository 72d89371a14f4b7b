/* nn/weight_types.c: parses a list of weight types, and looks up the type of a matrix. */
#include "nn/weight_types.h"

#include "base/pattern.h"

#include <stdio.h>
#include <string.h>

enum { ITEM = 256 };

/* Copies the item at *list and moves to the next one; false at the end. An item that is too long is truncated and then ends in no
 * valid type. */
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

/* Splits PATTERN=T; returns T, and sets *pattern to NULL if there is no pattern. */
static const char *cut_item(char *item, const char **pattern)
{
    char *equal = strrchr(item, '=');
    *pattern = equal ? item : NULL;
    if (equal)
        *equal = '\0';
    return equal ? equal + 1 : item;
}

rapt_code weight_types_check(const char *list, rapt_type *all, rapt_error *err)
{
    char item[ITEM];
    const char *pattern;
    size_t count = 0;
    *all = RAPT_TYPE_FP32;
    for (const char *rest = list; next_item(&rest, item); count++) {
        rapt_type type;
        const char *name = cut_item(item, &pattern);
        if (rapt_type_parse(name, &type, NULL) != RAPT_OK || type > RAPT_TYPE_Q4_0)
            return rapt_fail(err, RAPT_ERR_VALUE, "'%s' is no type of weights: fp32, bf16, q8_0 or q4_0", name);
        if (count == WEIGHT_TYPES_MAX)
            return rapt_fail(err, RAPT_ERR_VALUE, "more than %d types of weights", WEIGHT_TYPES_MAX);
        if (pattern ? !*pattern : count > 0)
            return rapt_fail(err, RAPT_ERR_VALUE, "'%s': only the first type is for all weights; others are PATTERN=TYPE", list);
        if (!pattern)
            *all = type;
    }
    return RAPT_OK;
}

/* `pattern` NULL: all. */
static bool item_fits(const char *pattern, const rapt_param *p, bool output)
{
    return !pattern || (output && strcmp(pattern, "output") == 0) || pattern_fits(pattern, p->value.name) ||
           (p->origin && pattern_fits(pattern, p->origin));
}

bool weight_types_find(const char *list, const rapt_param *p, bool output, uint64_t *used, rapt_type *type)
{
    char item[ITEM];
    const char *pattern;
    bool found = false;
    for (int i = 0; next_item(&list, item); i++) {
        const char *wanted = cut_item(item, &pattern);
        if (item_fits(pattern, p, output) && rapt_type_parse(wanted, type, NULL) == RAPT_OK) {
            *used |= (uint64_t)1 << i;
            const bool coarse = !pattern && *type == RAPT_TYPE_Q4_0;
            *type = output && coarse ? RAPT_TYPE_Q8_0 : *type; /* each of its rows decides on a token */
            found = true;
        }
    }
    return found;
}

rapt_code weight_types_check_used(const char *list, uint64_t used, rapt_error *err)
{
    char item[ITEM];
    const char *pattern;
    for (int i = 0; next_item(&list, item); i++) {
        cut_item(item, &pattern);
        if (pattern && !(used >> i & 1))
            return rapt_fail(err, RAPT_ERR_VALUE, "types of weights: '%s' fits no matrix of a linear layer; `rapt info MODEL "
                             "--tensors` lists the names", pattern);
    }
    return RAPT_OK;
}
