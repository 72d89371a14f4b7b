/* text/compose.c: utf8proc's normalisation for texts that may hold anything. For tokenizers that ask for NFC. */
#include "text/compose.h"

#include "text/utf8.h"

#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

enum { FIRST_LEAD = 0xCC }; /* of U+0300; all characters before it are composed, and stay apart from each other */

typedef struct composed {
    char *text;
    size_t size, room;
} composed;

static bool append(composed *out, const char *text, size_t size)
{
    if (size > out->room - out->size) {
        size_t room = out->room + out->room / 2 + size;
        char *moved = realloc(out->text, room);
        if (!moved)
            return false;
        out->text = moved;
        out->room = room;
    }
    memcpy(out->text + out->size, text, size);
    out->size += size;
    return true;
}

static bool append_composed(composed *out, const char *text, size_t size)
{
    utf8proc_uint8_t *mapped = NULL;
    utf8proc_ssize_t length = utf8proc_map((const utf8proc_uint8_t *)text, (utf8proc_ssize_t)size, &mapped,
                                           UTF8PROC_STABLE | UTF8PROC_COMPOSE);
    bool ok = length >= 0 && append(out, (char *)mapped, (size_t)length);
    free(mapped);
    return ok;
}

static bool is_composed(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if ((unsigned char)text[i] >= FIRST_LEAD)
            return false;
    return true;
}

rapt_code compose(const char *text, size_t size, rapt_code (*take)(void *context, const char *text, size_t size),
                  void *context, rapt_error *err)
{
    if (is_composed(text, size))
        return take(context, text, size);
    composed out = {.room = size + size / 4 + 16};
    out.text = malloc(out.room);
    bool ok = out.text != NULL;
    for (size_t at = 0; at < size && ok;) {
        size_t valid = utf8_valid_prefix(text + at, size - at), rest = at + valid < size;
        ok = (valid == 0 || append_composed(&out, text + at, valid)) && append(&out, text + at + valid, rest);
        at += valid + rest;
    }
    rapt_code code = ok ? take(context, out.text, out.size) : rapt_fail(err, RAPT_NO_MEMORY, "no memory to compose a text");
    free(out.text);
    return code;
}
