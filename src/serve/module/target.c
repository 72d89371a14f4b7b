/* serve/module/target.c: RFC 9112, section 3.2, and the "+" of HTML forms in queries. */
#include "serve/module/exchange_parts.h"

#include "serve/module/percent.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Decodes text[size] into a new string of *length bytes; NULL: out of memory, a wrong escape, or %00. */
static char *decode_part(const char *text, size_t size, bool plus, size_t *length)
{
    char *out = malloc(size + 1);
    if (!out || !percent_decode(text, size, plus, out, length))
        return out;
    free(out);
    return NULL;
}

/* "a=b", or "a" for an empty value. */
static bool add_parameter(field_list *query, const char *text, size_t size)
{
    const char *equals = memchr(text, '=', size);
    const size_t name_size = equals ? (size_t)(equals - text) : size;
    size_t name_length, value_length;
    char *name = decode_part(text, name_size, true, &name_length);
    char *value = equals ? decode_part(equals + 1, size - name_size - 1, true, &value_length) : calloc(1, 1);
    if (!equals)
        value_length = 0;
    const bool ok = name && value && field_list_add(query, name, name_length, value, value_length);
    free(name);
    free(value);
    return ok;
}

static bool read_query(const char *text, field_list *query)
{
    while (*text) {
        const size_t size = strcspn(text, "&");
        if (size && !add_parameter(query, text, size)) {
            field_list_free(query);
            return false;
        }
        text += size + (text[size] == '&');
    }
    return true;
}

bool target_read(const char *target, char **path, field_list *query)
{
    *path = NULL;
    *query = (field_list){0};
    if (strncasecmp(target, "http://", 7) == 0 || strncasecmp(target, "https://", 8) == 0) {
        target = strchr(target, ':') + 3;
        target += strcspn(target, "/?");
    }
    const size_t size = strcspn(target, "?#");
    size_t length;
    if (*target != '/' && strcmp(target, "*") != 0)
        return false;
    *path = decode_part(target, size, false, &length);
    if (*path && (target[size] != '?' || read_query(target + size + 1, query)))
        return true;
    free(*path);
    *path = NULL;
    return false;
}
