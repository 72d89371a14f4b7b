/* base/sized.c: copies a program's options over the defaults, as far as the program's header knew them. */
#include "base/sized.h"

#include <string.h>

rapt_code sized_take(void *out, const void *given, const char *name, rapt_error *err)
{
    size_t own, size;
    if (!given)
        return RAPT_OK;
    memcpy(&own, out, sizeof own);
    memcpy(&size, given, sizeof size);
    if (size < sizeof size)
        return rapt_fail(err, RAPT_ERR_VALUE, "options without a size: make them with rapt_%s_default()", name);
    if (size > own)
        return rapt_fail(err, RAPT_ERR_VALUE, "options of %zu bytes, made with the header of a newer rapt: rapt_%s_default() of "
                         "this library makes %zu", size, name, own);
    memcpy(out, given, size);
    memcpy(out, &own, sizeof own);
    return RAPT_OK;
}
