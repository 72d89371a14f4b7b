/* cli/say.c: messages. Text that a model writes is a result, not a message: it is printed unchanged, not by these functions. */
#include "cli/say.h"

#include "base/chars.h"
#include "base/disk.h"
#include "base/quote.h"
#include "base/terminal.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void cli_say(const char *format, ...)
{
    va_list args;
    char *rest, *line;
    va_start(args, format);
    char *text = chars_print_list(format, args);
    va_end(args);
    for (rest = text; (line = chars_cut(&rest, "\n")) != NULL;) {
        quote_clean(line);
        fputs(line, stderr);
        if (rest)
            fputc('\n', stderr);
    }
    free(text);
}

bool cli_says_anew(void)
{
    const char *kind = terminal_kind();
    return terminal_is(DISK_ERROR) && kind && strcmp(kind, "dumb") != 0;
}

void cli_print_clean(FILE *to, const char *text)
{
    char *copy = chars_copy(text);
    if (!copy) { /* then only its beginning */
        fputs(quote(text).text, to);
        return;
    }
    quote_clean(copy);
    fputs(copy, to);
    free(copy);
}
