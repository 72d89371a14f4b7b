/* cli/group/cli_group.h: a command that may run as several processes: how it joins the others, what is said of them, by which
 * of them, and how all of them end. Alone nothing of this happens. */
#ifndef CLI_GROUP_CLI_GROUP_H
#define CLI_GROUP_CLI_GROUP_H

#include "rapt/group.h"

typedef struct cli_group {
    rapt_group *ranks;     /* NULL: this process is alone */
    int rank, size;        /* 0 and 1 then */
    const char *transport; /* "Open MPI 4.1.4" */
    bool bound;            /* started by an mpirun, which may bind processes to CPUs */
} cli_group;

/* Joins the processes that were started together with this one; `wait` as in rapt_group_options. Returns 0, or the exit status
 * after one line was printed, by one of them. */
int cli_group_join(cli_group *g, double wait);
/* Threads for this rank, where `threads`, of --threads, may be 0; rank 0 prints how many there are, and warns of CPUs that are
 * used twice or not at all, unless `quiet`. Alone: `threads`. */
rapt_code cli_group_threads(const cli_group *g, int threads, bool quiet, int *own, rapt_error *err);
/* Leaves the group with the command's result, after one rank has said why it failed. Where only this one has failed, all
 * others are ended. Returns the exit status, which all but rank 0 have as 0 where they have ended together; `stopped` is that of
 * a command that was interrupted. Alone: prints as cli_fail. */
int cli_group_leave(cli_group *g, rapt_code code, int stopped, const rapt_error *err);

/* The MPIs that rapt can run under, "Open MPI 4.1.4" each; returns how many. They stay loaded. */
#define CLI_GROUP_MPIS 2
int cli_group_list(const char *names[CLI_GROUP_MPIS]);

#endif
