/* cli/group/launch.h: the launcher that has started this process together with others, by the environment that it leaves.
 * For the program. Nothing is joined here: what a launcher says is compared later with what MPI says. */
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
} launch;

launch launch_find(void);

#define LAUNCH_MPIS 2
extern const launch launch_mpis[LAUNCH_MPIS]; /* those that there may be a module for */

/* Whether rank 0 says what goes for all of them: wrong options, a command that runs in one process. */
bool launch_leaves_words_to_others(void);
/* Gives rank 0 the time to say it, before the exit of this rank makes mpirun end all of them. */
void launch_let_others_speak(void);

#endif
