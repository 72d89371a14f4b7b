/* cli/group/group_threads.h: how many threads each rank takes: ranks on one machine share its CPUs. For the commands that make a
 * group. Results do not depend on it. */
#ifndef CLI_GROUP_GROUP_THREADS_H
#define CLI_GROUP_GROUP_THREADS_H

#include "rapt/group.h"

#include <stdbool.h>
#include <stdint.h>

#define GROUP_THREADS_RANKS 4096 /* in a larger group each rank uses the CPUs that it finds */
#define GROUP_THREADS_CPUS 1024  /* CPUs with a higher number are counted by machine, not by name */

/* The facts about its machine that a rank sends to the others. */
typedef struct rank_cpus {
    char machine[48];   /* equal for all ranks that share CPUs, whatever their hosts are called */
    uint64_t group;     /* the id of their control group, whose quota they share */
    int32_t asked;      /* threads; 0: not said */
    int32_t quota;      /* CPUs; 0: no quota */
    uint8_t own[GROUP_THREADS_CPUS / 8];      /* CPUs that it may use: a bit each */
    uint8_t launcher[GROUP_THREADS_CPUS / 8]; /* CPUs that its parent may use: more if mpirun has bound this process to some */
} rank_cpus;

/* The CPUs of this process. `threads`: as --threads or RAPT_THREADS says, or 0. `may_be_bound`: its parent is a launcher that
 * leaves it fewer than it has itself. */
rank_cpus group_threads_own(int threads, bool may_be_bound);
/* Threads of one rank of `size` (at most GROUP_THREADS_RANKS): a CPU that several ranks may use is one rank's. 1 to 256. */
int group_threads_of(const rank_cpus *all, int size, int rank);

/* The ranks of one machine. */
typedef struct group_machine {
    int rank, ranks, threads; /* the first of them, how many, their threads together */
    int cpus;                 /* CPUs that they may use; with `idle`, CPUs that their launcher may use */
    bool crowded;             /* more threads than CPUs */
    bool idle;                /* fewer threads than CPUs, because mpirun has bound the ranks to some without being asked */
} group_machine;

typedef struct group_layout {
    int machines, threads; /* in all */
    int fewest, most;      /* threads of a rank */
    int odd_machines;      /* those that are crowded or idle */
    group_machine odd;     /* the first of them */
} group_layout;
group_layout group_threads_layout(const rank_cpus *all, int size);

#endif
