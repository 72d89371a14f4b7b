/* serve/module/target.c: see target.h. RFC 9112, section 3.2, and the "+" of HTML forms in queries. */
#include "serve/module/target.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int target_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decodes text[size] into a new string of *length bytes; NULL: out of memory, a wrong escape, or %00. */
static char *percent_decode(const char *text, size_t size, bool plus, size_t *length)
{
    char *out = malloc(size + 1), *to = out;
    for (size_t i = 0; out && i < size; i++) {
        char c = plus && text[i] == '+' ? ' ' : text[i];
        if (c == '%') {
            const int high = i + 1 < size ? target_digit(text[i + 1]) : -1, low = i + 2 < size ? target_digit(text[i + 2]) : -1;
            if (high < 0 || low < 0 || high + low == 0) {
                free(out);
                return NULL;
            }
            c = (char)(high << 4 | low);
            i += 2;
        }
        *to++ = c;
    }
    if (!out)
        return NULL;
    *to = '\0';
    *length = (size_t)(to - out);
    return out;
}

/* "a=b", or "a" for an empty value. */
static bool add_parameter(field_list *query, const char *text, size_t size)
{
    const char *equals = memchr(text, '=', size);
    const size_t name_size = equals ? (size_t)(equals - text) : size;
    size_t name_length, value_length;
    char *name = percent_decode(text, name_size, true, &name_length);
    char *value = equals ? percent_decode(equals + 1, size - name_size - 1, true, &value_length) : calloc(1, 1);
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
    *path = percent_decode(target, size, false, &length);
    if (*path && (target[size] != '?' || read_query(target + size + 1, query)))
        return true;
    free(*path);
    *path = NULL;
    return false;
}
