/* decode/schema/schema_work.c: charges, and refusals with the place of a part of the schema as a JSON pointer (RFC 6901). */
#include "decode/schema/schema_work.h"

#include "base/quote.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MAX_PATH = 256 };

bool schema_pay(schema_work *w, size_t steps)
{
    const bool enough = steps <= w->left;
    w->left -= enough ? steps : w->left;
    return enough;
}

rapt_code schema_charge(schema_work *w, const json_t *at, size_t steps, rapt_error *err)
{
    if (schema_pay(w, steps))
        return RAPT_OK;
    return schema_refuse(w, at, err, "the schema is too large: what its parts multiply to takes more than %d steps to read",
                         SCHEMA_STEPS);
}

rapt_code schema_no_memory(rapt_error *err)
{
    return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a schema");
}

void *schema_alloc(schema_work *w, size_t count, size_t size, rapt_error *err)
{
    void *made = NULL;
    if (w->memory->used > w->max_memory || (size > 0 && count > (w->max_memory - w->memory->used) / size))
        rapt_fail(err, RAPT_ERR_VALUE, "the schema is too large: its automaton takes more than %zu MB of memory",
                  w->max_memory >> 20);
    else if (!(made = arena_array(w->memory, count, size)))
        schema_no_memory(err);
    return made;
}

/* ---- the place of a part -------------------------------------------------------------------------------------- */

/* Appends "/name" with ~ and / as pointers have them; cut where the path ends. */
static size_t path_put(char *path, size_t at, const char *name)
{
    char text[64];
    size_t size = 0;
    text[size++] = '/';
    for (; *name && size + 3 < sizeof text; name++) {
        if (*name == '~' || *name == '/')
            text[size++] = '~';
        text[size++] = (char)(*name == '~' ? '0' : *name == '/' ? '1' : *name);
    }
    if (at + size >= MAX_PATH)
        return at;
    memcpy(path + at, text, size);
    path[at + size] = '\0';
    return at + size;
}

/* Writes the path of `at` behind path[0 .. size - 1]; false: it is not below. */
static bool path_find(const json_t *below, const json_t *at, char *path, size_t size)
{
    const char *key;
    json_t *value;
    size_t i;
    path[size] = '\0';
    if (below == at)
        return true;
    json_object_foreach((json_t *)below, key, value)
        if (path_find(value, at, path, path_put(path, size, key)))
            return true;
    json_array_foreach(below, i, value) {
        char number[24];
        snprintf(number, sizeof number, "%zu", i);
        if (path_find(value, at, path, path_put(path, size, number)))
            return true;
    }
    return false;
}

rapt_code schema_refuse(const schema_work *w, const json_t *at, rapt_error *err, const char *format, ...)
{
    char path[MAX_PATH] = "#", message[256];
    va_list list;
    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    if (!path_find(w->root, at, path, 1))
        strcpy(path, "#");
    return rapt_fail(err, RAPT_ERR_VALUE, "schema, %s: %s", quote(path).text, message);
}
