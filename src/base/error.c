/* base/error.c: recording the first cause of a failure, and the version.
 * For every function that takes a `rapt_error *`.
 * Not a logger: nothing here prints, allocates or ends the program. */
#include "rapt/base.h"

#include "base/quote.h"

#include <stdarg.h>
#include <stdio.h>

rapt_code rapt_fail(rapt_error *err, rapt_code code, const char *format, ...)
{
    if (!err || err->code != RAPT_OK)
        return code;
    va_list args;
    va_start(args, format);
    vsnprintf(err->message, sizeof err->message, format, args);
    va_end(args);
    quote_clean(err->message); /* keeps the message on one line, whatever a quoted path or text contains */
    err->code = code;
    return code;
}

const char *rapt_code_name(rapt_code code)
{
    switch (code) {
#define NAME_CASE(name, text)                                                                                \
    case name:                                                                                               \
        return text;
        RAPT_CODES(NAME_CASE)
#undef NAME_CASE
    }
    return "unknown code";
}

const char *rapt_version(void)
{
    return RAPT_VERSION;
}
