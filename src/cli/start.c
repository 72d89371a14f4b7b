/* cli/start.c: the beginning of a program, and what happens at its end, whatever its commands are. */
#include "cli/start.h"

#include "cli/cut_files.h"
#include "cli/group/launch.h"

#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Results may go to a pipe or a full disk: output that could not be written is a failure. This runs at exit, because --help
 * ends the program by itself. */
static void flush_output(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return;
    perror("rapt: cannot write results");
    _exit(1);
}

/* If descriptor 0, 1 or 2 is closed, the next file that is opened would get its number, and then printed text. So /dev/null takes
 * these numbers. It is opened in the wrong direction, so that reading and writing fail as on a closed descriptor. */
static void take_closed_streams(void)
{
    static const int WRONG_WAY[] = {O_WRONLY, O_RDONLY, O_RDONLY};
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", WRONG_WAY[fd]) != fd)
            _exit(1);
}

static void *allocate_json(size_t size)
{
    void *p = malloc(size);
    if (!p && size > 0) {
        fprintf(stderr, "rapt: out of memory for JSON\n");
        _exit(1);
    }
    return p;
}

/* If memory ends while jansson 2.14 reads a text, bytes of the text are silently lost; code that builds JSON would leave members
 * out. So a command ends; the files that it was writing have no names yet. */
void start_json(void)
{
    json_set_alloc_funcs(allocate_json, free);
}

void start_program(void)
{
    take_closed_streams();
    signal(SIGPIPE, SIG_DFL);
    cut_files_watch();
    atexit(flush_output);
}

/* Several processes would do the same work, and write to the same files. */
bool start_refuses_group(const char *title)
{
    const launch l = launch_find();
    if (!l.mpi || l.size <= 1)
        return false;
    char speaker[LAUNCH_SPEAKER];
    if (launch_speaks(&l, true)) {
        fprintf(stderr, "%s: %sruns in one process, and %s has started %d: start it without %s\n", title,
                launch_speaker(&l, true, speaker), l.launcher, l.size,
                strcmp(l.launcher, "srun") == 0 ? "srun, or by `srun --mpi=none`" : "mpirun");
        launch_leave(&l, 2);
    }
    return true;
}
