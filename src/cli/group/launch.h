/* cli/group/launch.h: the launcher that has started this process together with others, by the environment that it leaves, and
 * which of them prints a failure. For the program. Nothing is joined here: what a launcher says is compared later with what MPI
 * says. */
#ifndef CLI_GROUP_LAUNCH_H
#define CLI_GROUP_LAUNCH_H

#include <stdbool.h>

typedef struct launch {
    int size;             /* processes, as announced; 1: this one is alone; 0: there may be others, their number is not said */
    int rank, local_rank; /* of this process among all, and on its machine; 0 where that is not said */
    const char *launcher; /* "mpirun of Open MPI"; NULL: none */
    const char *mpi;      /* "Open MPI", "MPICH"; NULL: the launcher does not tell the processes how to find each other */
    const char *module;   /* its module: "rapt_mpi_openmpi.so" */
    const char *packages; /* where Debian has it */
    bool ends_all;        /* when one process ends with a status that is not 0 */
} launch;

launch launch_find(void);

#define LAUNCH_SPEAKER 160
#define LAUNCH_MPIS 2
extern const launch launch_mpis[LAUNCH_MPIS]; /* those that there may be a module for */

/* Returns when it is this rank's turn to print a failure: at once on rank 0, after some seconds on others, which a launcher that
 * ends all ends before where an earlier one has printed and left. SIGTERM ends the waiting. */
void launch_wait_for_turn(int rank);
/* Whether this rank is to print a failure that it has before it knows the others, after its turn has come. `alike`: all ranks
 * have it, as far as one of them can know, such as a wrong option: where nothing ends the others, rank 0 alone prints it. */
bool launch_speaks(const launch *l, bool alike);
/* What comes before such a failure: "rank 2 on node7: ", nothing on rank 0 where it is `alike`. */
const char *launch_speaker(const launch *l, bool alike, char text[LAUNCH_SPEAKER]);
/* Before the end of a rank that has printed something: MPICH's launcher drops what it has not passed on when it ends all. */
void launch_let_pass(void);
/* The same, and ends the others: before the end of a rank that has not met them, which MPICH lets wait for it for ever. */
void launch_leave(const launch *l, int status);

#endif
