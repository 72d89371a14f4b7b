/* base/posix/posix_terminal.c: terminals and standard streams of POSIX. */
#define _GNU_SOURCE
#include "base/terminal.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* If descriptor 0, 1 or 2 is closed, the next file that is opened would get its number, and then printed text. So /dev/null takes
 * these numbers. It is opened in the wrong direction, so that reading and writing fail as on a closed descriptor. */
static void take_closed_streams(void)
{
    static const int WRONG_WAY[] = {O_WRONLY, O_RDONLY, O_RDONLY};
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", WRONG_WAY[fd]) != fd)
            _exit(1);
}

void terminal_start(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    take_closed_streams();
    signal(SIGPIPE, SIG_DFL);
}

void terminal_exit(int status)
{
    _exit(status);
}

bool terminal_is(int descriptor)
{
    return isatty(descriptor);
}

size_t terminal_columns(FILE *stream)
{
    struct winsize size;
    return ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

const char *terminal_kind(void)
{
    return getenv("TERM");
}

ptrdiff_t terminal_read(int descriptor, void *to, size_t size)
{
    return read(descriptor, to, size);
}
