/* cli/group/cli_group.h: a command that may run as several processes: how they join, which of them prints messages, and how all
 * of them end. A process that is alone does nothing of this. */
#ifndef CLI_GROUP_CLI_GROUP_H
#define CLI_GROUP_CLI_GROUP_H

#include "rapt/group.h"

typedef struct cli_group {
    rapt_group *ranks;     /* NULL: this process is alone */
    int rank, size;        /* 0 and 1 then */
    const char *transport; /* "Open MPI 4.1.4" */
    bool bound;            /* an mpirun has started it, which may bind processes to CPUs */
} cli_group;

/* Joins the processes that were started together with this one; `wait` as in rapt_group_options. Returns 0, or the exit status
 * after one line was printed, by one of them. */
int cli_group_join(cli_group *g, double wait);
/* Sets *own to the threads for this rank; `threads` is the value of --threads, or 0. Unless `quiet`, rank 0 prints how many there
 * are and warns of CPUs that are used twice or not at all. Alone, *own is `threads`. */
rapt_code cli_group_threads(const cli_group *g, int threads, bool quiet, int *own, rapt_error *err);
/* Leaves the group with the command's result, after one rank has printed why it failed. If only this rank has failed, all others
 * are ended. Returns the exit status; if all ranks have ended together, it is 0 on every rank except rank 0. `stopped` is the
 * status of an interrupted command. Alone it prints as cli_fail does. */
int cli_group_leave(cli_group *g, rapt_code code, int stopped, const rapt_error *err);

/* The MPIs that rapt can run under, "Open MPI 4.1.4" each; returns how many. They stay loaded. */
#define CLI_GROUP_MPIS 2
int cli_group_list(const char *names[CLI_GROUP_MPIS]);

#endif
