/* data/check/check_rules.c: names of reasons. */
#include "data/check/check_rules.h"

#include <stdio.h>
#include <string.h>

#define KEY(name, key, text) key,
const char *const CHECK_KEYS[CHECK_COUNT] = {CHECK_REASONS(KEY) CHECK_NOTES(KEY)};
#undef KEY

/* The bits of a name, or 0. */
static uint32_t rule_bits(const char *name, size_t size)
{
    for (unsigned k = 0; k < CHECK_REASON_COUNT; k++)
        if (strlen(CHECK_KEYS[k]) == size && memcmp(CHECK_KEYS[k], name, size) == 0)
            return 1u << k;
    return size == 3 && memcmp(name, "all", 3) == 0 ? CHECK_ANY_REASON : 0;
}

bool check_rules_read(const char *list, uint32_t *rules, const char **unknown, size_t *size)
{
    *rules = 0;
    for (size_t part; *list; list += part + (list[part] == ',')) {
        list += strspn(list, " ");
        part = strcspn(list, ",");
        *size = part;
        while (*size > 0 && list[*size - 1] == ' ')
            --*size;
        const uint32_t bits = rule_bits(list, *size);
        *unknown = list;
        *rules |= bits;
        if (!bits)
            return false;
    }
    return true;
}

void check_rules_list(char out[CHECK_RULES_TEXT])
{
    size_t used = 0;
    for (unsigned k = 0; k < CHECK_REASON_COUNT && used < CHECK_RULES_TEXT; k++)
        used += (size_t)snprintf(out + used, CHECK_RULES_TEXT - used, "%s%s", k ? ", " : "", CHECK_KEYS[k]);
}
