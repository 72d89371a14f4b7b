/* tests/cli/test_launch.c: which launcher has started a process, by the environment that each leaves: seen under mpirun of Open
 * MPI 4.1.4 and MPICH 4.0.2, and srun of Slurm 22.05. */
#define _GNU_SOURCE /* setenv */
#include "base/clock.h"
#include "cli/group/launch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const VARIABLES[] = {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "PMI_SIZE",
                                        "PMI_RANK", "PMI_FD", "MPI_LOCALRANKID", "MPI_LOCALNRANKS", "PMIX_RANK",
                                        "SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "SLURM_LOCALID", "SLURM_NTASKS"};

/* With these variables, "NAME=VALUE", and no others of a launcher. */
static launch with(const char *const *given)
{
    for (size_t i = 0; i < sizeof VARIABLES / sizeof *VARIABLES; i++)
        unsetenv(VARIABLES[i]);
    for (; *given; given++) {
        char name[64];
        const char *equals = strchr(*given, '=');
        memcpy(name, *given, (size_t)(equals - *given));
        name[equals - *given] = '\0';
        setenv(name, equals + 1, 1);
    }
    return launch_find();
}
#define WITH(...) with((const char *const[]){__VA_ARGS__, NULL})

static void test_alone(void **state)
{
    (void)state;
    assert_int_equal(WITH("HOME=/").size, 1);
    assert_null(WITH("HOME=/").launcher);
    assert_int_equal(WITH("SLURM_NTASKS=8").size, 1); /* in a job script */
    assert_int_equal(WITH("SLURM_STEP_NUM_TASKS=1", "SLURM_PROCID=0").size, 1);
    assert_int_equal(WITH("OMPI_COMM_WORLD_SIZE=1", "OMPI_COMM_WORLD_RANK=0", "PMIX_RANK=0").size, 1);
    assert_int_equal(WITH("PMI_SIZE=1", "PMI_RANK=0", "PMI_FD=6").size, 1);
    assert_int_equal(WITH("PMI_SIZE=many").size, 1);
    assert_int_equal(WITH("OMPI_COMM_WORLD_SIZE=99999999999").size, 1);
}

static void expect(launch l, int size, int rank, int local_rank, const char *launcher, const char *module)
{
    assert_int_equal(l.size, size);
    assert_int_equal(l.rank, rank);
    assert_int_equal(l.local_rank, local_rank);
    assert_string_equal(l.launcher, launcher);
    assert_string_equal(l.module, module);
}

static void test_mpirun(void **state)
{
    (void)state;
    expect(WITH("OMPI_COMM_WORLD_SIZE=4", "OMPI_COMM_WORLD_RANK=3", "OMPI_COMM_WORLD_LOCAL_RANK=1", "PMIX_RANK=3"), 4, 3, 1,
           "mpirun of Open MPI", "rapt_mpi_openmpi.so");
    expect(WITH("PMI_SIZE=3", "PMI_RANK=2", "PMI_FD=8", "MPI_LOCALNRANKS=3", "MPI_LOCALRANKID=2"), 3, 2, 2, "mpirun of MPICH",
           "rapt_mpi_mpich.so");
}

/* In a job both start their helpers by srun, one a machine. */
static void test_mpirun_in_job(void **state)
{
    (void)state;
    expect(WITH("OMPI_COMM_WORLD_SIZE=4", "OMPI_COMM_WORLD_RANK=3", "PMIX_RANK=3", "SLURM_STEP_NUM_TASKS=2", "SLURM_PROCID=1"), 4,
           3, 0, "mpirun of Open MPI", "rapt_mpi_openmpi.so");
    expect(WITH("PMI_SIZE=4", "PMI_RANK=3", "MPI_LOCALNRANKS=2", "MPI_LOCALRANKID=1", "SLURM_STEP_NUM_TASKS=2", "SLURM_PROCID=1"),
           4, 3, 1, "mpirun of MPICH", "rapt_mpi_mpich.so");
}

static void test_srun(void **state)
{
    (void)state;
    expect(WITH("PMIX_RANK=1", "SLURM_STEP_NUM_TASKS=2", "SLURM_PROCID=1", "SLURM_LOCALID=1"), 2, 1, 1, "srun",
           "rapt_mpi_openmpi.so");
    expect(WITH("PMI_SIZE=2", "PMI_RANK=1", "PMI_FD=5", "SLURM_STEP_NUM_TASKS=2", "SLURM_LOCALID=0"), 2, 1, 0, "srun",
           "rapt_mpi_mpich.so");
    launch plain = WITH("SLURM_STEP_NUM_TASKS=2", "SLURM_PROCID=1", "SLURM_NTASKS=2");
    assert_int_equal(plain.size, 2);
    assert_int_equal(plain.rank, 1);
    assert_null(plain.mpi);
    assert_false(launch_speaks(&plain, true)); /* nothing ends the others */
    assert_false(launch_speaks(&plain, false));
}

/* Rank 0 prints a failure at once; another rank, which its launcher would have ended if rank 0 had failed, too, after a while. */
static void test_words(void **state)
{
    char text[LAUNCH_SPEAKER];
    (void)state;
    launch second = WITH("PMI_SIZE=2", "PMI_RANK=1");
    const double begun = clock_seconds();
    assert_true(launch_speaks(&second, true));
    assert_true(clock_seconds() - begun > 4); /* Open MPI takes 3 s for other machines */
    assert_memory_equal(launch_speaker(&second, true, text), "rank 1 on ", 10);
    launch first = WITH("PMI_SIZE=2", "PMI_RANK=0");
    assert_true(launch_speaks(&first, true) && launch_speaks(&first, false));
    assert_string_equal(launch_speaker(&first, true, text), "");
    assert_memory_equal(launch_speaker(&first, false, text), "rank 0 on ", 10);
    launch srun = WITH("PMIX_RANK=1", "SLURM_STEP_NUM_TASKS=2", "SLURM_PROCID=1", "SLURM_LOCALID=1");
    assert_false(launch_speaks(&srun, true));
    assert_true(launch_speaks(&srun, false));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_alone), cmocka_unit_test(test_mpirun),
                                       cmocka_unit_test(test_mpirun_in_job), cmocka_unit_test(test_srun),
                                       cmocka_unit_test(test_words)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
