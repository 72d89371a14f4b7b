/* serve/module/form.c: a parser of forms. It is stricter than browsers: a wrong escape, a NUL or bytes that are not UTF-8 are an
 * error, instead of becoming a text that nobody sent. */
#include "serve/module/body_kinds.h"

#include "serve/module/percent.h"

#include "base/buffer.h"
#include "text/utf8.h"

/* Decodes `size` bytes of a name or a value into b->data and adds a NUL; returns what is wrong with them, or NULL. */
static const char *form_decode(const char *text, size_t size, buffer *b)
{
    const char *reason = percent_decode(text, size, true, b->data, &b->size);
    return reason ? reason : utf8_valid_prefix(b->data, b->size) == b->size ? NULL : "it is not UTF-8";
}

/* Adds a value, which it takes over, to the values of a name. False: out of memory. */
static bool form_put(json_t *form, const char *name, json_t *value)
{
    json_t *before = json_object_get(form, name);
    if (!before || !value)
        return value && json_object_set_new(form, name, value) == 0;
    if (json_is_array(before))
        return json_array_append_new(before, value) == 0;
    json_t *list = json_pack("[O, o]", before, value);
    return list && json_object_set_new(form, name, list) == 0;
}

/* Takes one part of the form, between two '&'. `b` has room for it. False with *reason NULL: out of memory. */
static bool form_take(json_t *form, const char *part, size_t size, buffer *b, const char **reason)
{
    const char *equals = memchr(part, '=', size);
    size_t name_size = equals ? (size_t)(equals - part) : size, value_at = equals ? name_size + 1 : size;
    if (size == 0)
        return true;
    *reason = form_decode(part + value_at, size - value_at, b);
    json_t *value = *reason ? NULL : json_stringn(b->data, b->size);
    if (value)
        *reason = form_decode(part, name_size, b);
    if (value && !*reason)
        return form_put(form, b->data, value);
    json_decref(value);
    return false;
}

json_t *form_read(const char *text, size_t size, const char **reason)
{
    buffer b = {0};
    json_t *form = json_object();
    *reason = NULL;
    bool fine = form && buffer_reserve(&b, size);
    for (size_t at = 0; fine && at < size;) {
        const char *end = memchr(text + at, '&', size - at);
        size_t length = end ? (size_t)(end - text) - at : size - at;
        fine = form_take(form, text + at, length, &b, reason);
        at += length + 1;
    }
    buffer_free(&b);
    if (!fine)
        json_decref(form);
    return fine ? form : NULL;
}
