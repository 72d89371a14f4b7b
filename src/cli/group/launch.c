/* cli/group/launch.c: reads the variables that launchers set: Open MPI's mpirun (OMPI_...), PMI (MPICH's mpirun and `srun
 * --mpi=pmi2`), PMIx (`srun --mpi=pmix`), and Slurm itself. An MPI ignores the launcher of another MPI: each process would then
 * be alone, and nothing would report an error. */
#include "cli/group/launch.h"

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/process.h"

#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Time for rank 0 to print a failure, and for its launcher to end the others, which takes Open MPI three seconds on other
 * machines. */
#define TURN_SECONDS 5.0
#define NEXT_SECONDS 1.0 /* and so on, up to rank 10 */
#define PASS_SECONDS 0.5 /* for a launcher to pass on what was printed */

enum { OPEN_MPI, MPICH };

const launch launch_mpis[LAUNCH_MPIS] = {
    {.mpi = "Open MPI", .module = "rapt_mpi_openmpi.so", .packages = "openmpi-bin and libopenmpi-dev"},
    {.mpi = "MPICH", .module = "rapt_mpi_mpich.so", .packages = "mpich and libmpich-dev"}};

/* -1: not said. */
static int launch_number(const char *variable)
{
    const char *text = getenv(variable);
    char *end;
    long value = text ? strtol(text, &end, 10) : -1;
    return !text || end == text || *end || value < 0 || value > INT_MAX ? -1 : (int)value;
}

static launch launch_of(launch of, const char *launcher, int size, const char *rank, const char *local_rank)
{
    const int own = launch_number(rank), local = launch_number(local_rank);
    of.launcher = launcher;
    of.ends_all = strcmp(launcher, "srun") != 0; /* unless it is asked to */
    of.size = size;
    of.rank = own > 0 ? own : 0;
    of.local_rank = local > 0 ? local : 0;
    return of;
}

/* mpirun comes before srun, because mpirun may start its own helpers by srun. SLURM_STEP_NUM_TASKS counts the tasks that srun has
 * started; SLURM_NTASKS counts the job's, and a single program of a job script sees it as well. */
launch launch_find(void)
{
    const launch none = {.size = 1};
    const int ompi = launch_number("OMPI_COMM_WORLD_SIZE"), pmi = launch_number("PMI_SIZE");
    const int step = launch_number("SLURM_STEP_NUM_TASKS");
    if (ompi > 0)
        return launch_of(launch_mpis[OPEN_MPI], "mpirun of Open MPI", ompi, "OMPI_COMM_WORLD_RANK",
                         "OMPI_COMM_WORLD_LOCAL_RANK");
    if (pmi > 0)
        return launch_of(launch_mpis[MPICH], step > 0 && !getenv("MPI_LOCALNRANKS") ? "srun" : "mpirun of MPICH", pmi, "PMI_RANK",
                         getenv("MPI_LOCALRANKID") ? "MPI_LOCALRANKID" : "SLURM_LOCALID");
    if (launch_number("PMIX_RANK") >= 0)
        return launch_of(launch_mpis[OPEN_MPI], step > 0 ? "srun" : "a launcher with PMIx", step > 0 ? step : 0, "PMIX_RANK",
                         "SLURM_LOCALID");
    if (step > 1)
        return launch_of(none, "srun", step, "SLURM_PROCID", "SLURM_LOCALID");
    return none;
}

/* ---- failures ----------------------------------------------------------------------------------------------------- */

void launch_wait_for_turn(int rank)
{
    interrupt_default(INTERRUPT_END);
    if (rank > 0)
        clock_sleep(TURN_SECONDS + NEXT_SECONDS * ((rank < 10 ? rank : 10) - 1));
}

bool launch_speaks(const launch *l, bool alike)
{
    launch_wait_for_turn(l->rank);
    return l->rank == 0 || (l->mpi && (l->ends_all || !alike));
}

const char *launch_speaker(const launch *l, bool alike, char text[LAUNCH_SPEAKER])
{
    char host[64] = "";
    process_host(host, sizeof host);
    text[0] = '\0';
    if (l->rank > 0 || (l->size != 1 && !alike))
        snprintf(text, LAUNCH_SPEAKER, "rank %d on %s: ", l->rank, host);
    return text;
}

void launch_let_pass(void)
{
    clock_sleep(PASS_SECONDS);
}

void launch_leave(const launch *l, int status)
{
    const char *text = l->mpi && l->ends_all ? getenv("PMI_FD") : NULL;
    launch_let_pass();
    char word[64];
    snprintf(word, sizeof word, "cmd=abort exitcode=%d\n", status);
    if (text)
        process_tell(atoi(text), word); /* PMI 1; a launcher that has gone needs no word */
}
