/* decode/schema/schema_pointer.c: the part of a schema that a reference names: JSON pointers (RFC 6901) within it. */
#include "decode/schema/schema_facts.h"

#include "base/quote.h"

#include <stdlib.h>
#include <string.h>

static int hex_value(char c)
{
    const char *digits = "0123456789abcdef", *place = c ? strchr(digits, c >= 'A' && c <= 'F' ? c | 0x20 : c) : NULL;
    return place ? (int)(place - digits) : -1;
}

/* One name of a pointer in a URI, up to the next /. */
static const char *pointer_name(const char *at, char *name, size_t capacity)
{
    size_t size = 0;
    while (*at && *at != '/' && size + 1 < capacity) {
        char c = *at++;
        if (c == '%' && hex_value(at[0]) >= 0 && hex_value(at[1]) >= 0) {
            c = (char)(hex_value(at[0]) * 16 + hex_value(at[1]));
            at += 2;
        }
        if (c == '~' && (*at == '0' || *at == '1'))
            c = *at++ == '0' ? '~' : '/';
        name[size++] = c;
    }
    name[size] = '\0';
    return at;
}

static const json_t *schema_child(const json_t *of, const char *name)
{
    char *end;
    if (json_is_object(of))
        return json_object_get(of, name);
    if (name[0] == '0' && name[1])
        return NULL;
    const unsigned long index = strtoul(name, &end, 10);
    return json_is_array(of) && *name >= '0' && *name <= '9' && !*end ? json_array_get(of, index) : NULL;
}

const json_t *schema_pointer(schema_work *w, const json_t *at, const char *ref, rapt_error *err)
{
    char name[256];
    const json_t *found = w->root;
    const char *from = ref + 1;
    if (schema_charge(w, at, strlen(ref), err))
        return NULL;
    if (*ref != '#' || (*from && *from != '/')) {
        schema_refuse(w, at, err, "\"$ref\": \"%s\": only references within the schema, \"#\" or \"#/...\", are supported",
                      quote(ref).text);
        return NULL;
    }
    while (*from == '/' && found) {
        from = pointer_name(from + 1, name, sizeof name);
        found = *from && *from != '/' ? NULL : schema_child(found, name);
        /* In a resource of its own, the same pointer would name something else. A property may have that name. */
        if (json_is_string(json_object_get(found, "$id")))
            found = NULL;
    }
    if (!found)
        schema_refuse(w, at, err, "\"$ref\": \"%s\" names no part of the schema", quote(ref).text);
    return found;
}
