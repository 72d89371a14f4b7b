/* cli/options/usage.c: wrong use of a command: one line on stderr, and the end of the program. */
#include "cli/options/options.h"

#include "base/chars.h"
#include "base/quote.h"
#include "cli/group/launch.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PART 90 /* bytes that quote() takes without cutting them */

static const char *usage_command = "rapt";

void usage_of(const char *command)
{
    usage_command = command;
}

/* Quoted in parts that end between characters of UTF-8, because a message is longer than a quoted name may be. */
static void print_quoted(const char *text)
{
    size_t size;
    for (; *text; text += size) {
        char part[PART + 1];
        size = chars_length(text, PART);
        while (size > 1 && text[size] && ((unsigned char)text[size] & 0xC0) == 0x80)
            size--;
        memcpy(part, text, size);
        part[size] = '\0';
        fputs(quote(part).text, stderr);
    }
}

void usage_error(const char *format, ...)
{
    const launch l = launch_find();
    const bool several = l.mpi && l.size != 1; /* without an MPI they may be separate commands */
    char message[1024];
    va_list list;
    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    if (!several || launch_speaks(&l, true)) {
        static char line[BUFSIZ];
        char speaker[LAUNCH_SPEAKER];
        setvbuf(stderr, line, _IOLBF, sizeof line); /* one write: mpirun puts its own lines between writes */
        fprintf(stderr, "%s: %s", usage_command, several ? launch_speaker(&l, true, speaker) : "");
        print_quoted(message);
        fprintf(stderr, " (see `%s --help`)\n", usage_command);
        if (several)
            launch_leave(&l, USAGE_STATUS);
    }
    exit(USAGE_STATUS);
}
