/* cli/group/launch.h: finds the launcher that has started this process together with others, by the environment that it leaves,
 * and decides which process prints a failure. For the program. Nothing is joined here: the launcher's numbers are compared with
 * MPI's later. */
#ifndef CLI_GROUP_LAUNCH_H
#define CLI_GROUP_LAUNCH_H

#include <stdbool.h>

typedef struct launch {
    int size;             /* processes, as announced; 1: this one is alone; 0: there may be others, in an unknown number */
    int rank, local_rank; /* this process's rank among all, and on its machine; 0 if unknown */
    const char *launcher; /* "mpirun of Open MPI"; NULL: none */
    const char *mpi;      /* "Open MPI", "MPICH"; NULL: the launcher does not tell the processes how to find each other */
    const char *module;   /* its module: "rapt_mpi_openmpi.so" */
    const char *packages; /* Debian's packages of it */
    bool ends_all;        /* when one process ends with a status that is not 0 */
} launch;

launch launch_find(void);

#define LAUNCH_SPEAKER 160
#define LAUNCH_MPIS 2
extern const launch launch_mpis[LAUNCH_MPIS]; /* those that there may be a module for */

/* Returns when it is this rank's turn to print a failure: immediately on rank 0, after some seconds on others. If an earlier rank
 * has printed and left, a launcher that ends all ends this one before its turn. SIGTERM ends the waiting. */
void launch_wait_for_turn(int rank);
/* Waits for this rank's turn and returns whether it prints a failure that it has before it knows the others. `alike`: as far as a
 * rank can know, all ranks have the failure, such as a wrong option: if nothing ends the others, only rank 0 prints it. */
bool launch_speaks(const launch *l, bool alike);
/* The beginning of such a message: "rank 2 on node7: "; "" on rank 0 if it is `alike`. */
const char *launch_speaker(const launch *l, bool alike, char text[LAUNCH_SPEAKER]);
/* Call it before the end of a rank that has printed something: when MPICH's launcher ends all, it drops output that it has not
 * passed on. */
void launch_let_pass(void);
/* Like launch_let_pass, and ends the other ranks. Call it before the end of a rank that has not joined them: with MPICH they
 * would wait for it for ever. */
void launch_leave(const launch *l, int status);

#endif
