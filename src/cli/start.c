/* cli/start.c: the beginning of a program, and what happens at its end, whatever its commands are. */
#include "cli/start.h"

#include "base/cut_files.h"
#include "base/terminal.h"
#include "cli/group/launch.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Results may go to a pipe or a full disk: output that could not be written is a failure. This runs at exit, because --help
 * ends the program by itself. */
static void flush_output(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return;
    perror("rapt: cannot write results");
    terminal_exit(1);
}

static void *allocate_json(size_t size)
{
    void *p = malloc(size);
    if (!p && size > 0) {
        fprintf(stderr, "rapt: out of memory for JSON\n");
        terminal_exit(1);
    }
    return p;
}

/* If memory ends while jansson 2.14 reads a text, bytes of the text are silently lost; code that builds JSON would leave members
 * out. So a command ends; the files that it was writing have no names yet. */
void start_json(void)
{
    json_set_alloc_funcs(allocate_json, free);
}

void start_program(int *argc, char ***argv)
{
    terminal_start(argc, argv);
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
