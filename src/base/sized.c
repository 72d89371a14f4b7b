/* base/sized.c: copies a program's options over the defaults, as far as the program's header knew them. */
#include "base/sized.h"

#include <string.h>

void sized_fill(void *o, size_t size, const void *defaults, size_t own)
{
    const size_t known = size < own ? size : own;
    memcpy(o, defaults, known);
    memset((char *)o + known, 0, size - known);
}

void sized_init(void *o, size_t size, const void *defaults, size_t own)
{
    sized_fill(o, size, defaults, own);
    memcpy(o, &size, size < sizeof size ? size : sizeof size);
}

rapt_code sized_check_reserved(const void *reserved, size_t size, const char *name, rapt_error *err)
{
    const unsigned char *bytes = reserved;
    for (size_t i = 0; i < size; i++)
        if (bytes[i])
            return rapt_fail(err, RAPT_ERR_VALUE, "rapt_%s.reserved is not zero: this version of rapt has no members there",
                             name);
    return RAPT_OK;
}

rapt_code sized_refuse_as_model(const char *name, rapt_error *err)
{
    return rapt_fail(err, RAPT_ERR_VALUE, "%s is RAPT_AS_MODEL: a model's folder does not decide it", name);
}

rapt_code sized_take(void *out, const void *given, const void *reserved, size_t count, const char *name, rapt_error *err)
{
    size_t own, size;
    if (!given)
        return RAPT_OK;
    memcpy(&own, out, sizeof own);
    memcpy(&size, given, sizeof size);
    if (size < sizeof size)
        return rapt_fail(err, RAPT_ERR_VALUE, "options without a size: make them with rapt_%s_default()", name);
    if (size > own)
        return rapt_fail(err, RAPT_ERR_VALUE, "options of %zu bytes, made with the headers of a newer rapt: this library's "
                         "rapt_%s have %zu", size, name, own);
    memcpy(out, given, size);
    memcpy(out, &own, sizeof own);
    return sized_check_reserved(reserved, count, name, err);
}
