/* cli/say.c: messages. Text that a model writes is a result, not a message: it is printed unchanged, not by these functions. */
#define _GNU_SOURCE /* vasprintf */
#include "cli/say.h"

#include "base/quote.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void cli_say(const char *format, ...)
{
    va_list args;
    char *text = NULL, *rest, *line;
    va_start(args, format);
    int size = vasprintf(&text, format, args);
    va_end(args);
    if (size < 0)
        return;
    for (rest = text; (line = strsep(&rest, "\n")) != NULL;) {
        quote_clean(line);
        fputs(line, stderr);
        if (rest)
            fputc('\n', stderr);
    }
    free(text);
}

void cli_print_clean(FILE *to, const char *text)
{
    char *copy = strdup(text);
    if (!copy) { /* then only its beginning */
        fputs(quote(text).text, to);
        return;
    }
    quote_clean(copy);
    fputs(copy, to);
    free(copy);
}
