/* text/pipeline/normal_forms.c: Unicode's normalization forms (UAX #15) as the package `tokenizers` has them: characters that are
 * younger than its tables stay as they are, and nothing is composed with them or reordered over them. For normal_steps.c. */
#include "text/pipeline/normal_steps.h"

#include "text/pipeline/char_classes.h"
#include "text/utf8.h"

#include <stdlib.h>
#include <utf8proc.h>

static utf8proc_option_t options_of(normal_kind form)
{
    unsigned composed = form == NORMAL_NFC || form == NORMAL_NFKC ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE;
    unsigned compatible = form == NORMAL_NFKC || form == NORMAL_NFKD ? UTF8PROC_COMPAT : 0;
    return (utf8proc_option_t)(UTF8PROC_STABLE | composed | compatible);
}

static bool append_form(buffer *out, const char *text, size_t size, normal_kind form)
{
    utf8proc_uint8_t *mapped = NULL;
    utf8proc_ssize_t length = size == 0 ? 0 : utf8proc_map((const utf8proc_uint8_t *)text, (utf8proc_ssize_t)size, &mapped,
                                                           options_of(form));
    bool ok = length >= 0 && buffer_append(out, mapped ? (char *)mapped : "", (size_t)length);
    free(mapped);
    return ok;
}

bool normal_form(buffer *out, const uint8_t *classes, const char *text, size_t size, normal_kind form)
{
    size_t from = 0, at = 0;
    bool ok = true;
    uint32_t code;
    for (size_t used; ok && (used = utf8_decode(text + at, size - at, &code)) > 0; at += used) {
        if (!(classes[code] & CHAR_OPAQUE))
            continue;
        ok = append_form(out, text + from, at - from, form) && buffer_append(out, text + at, used);
        from = at + used;
    }
    return ok && append_form(out, text + from, at - from, form);
}
