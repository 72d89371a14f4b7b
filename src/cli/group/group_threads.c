/* cli/group/group_threads.c: gives each CPU one thread. A launcher may bind each process to a core (Open MPI does for two
 * processes), or let all processes of a machine use all of its CPUs. Nothing is sent or printed here. */
#include "cli/group/group_threads.h"

#include "base/process.h"

#include <stdbool.h>
#include <string.h>

#define MOST_THREADS 256

rank_cpus group_threads_own(int threads, bool may_be_bound)
{
    rank_cpus own = {.asked = threads, .quota = process_quota(""), .group = process_group()};
    process_machine(own.machine, sizeof own.machine);
    process_affinity(false, own.own, sizeof own.own);
    if (may_be_bound)
        process_affinity(true, own.launcher, sizeof own.launcher);
    return own;
}

static bool may_use(const rank_cpus *r, int cpu)
{
    return r->own[cpu / 8] >> cpu % 8 & 1;
}

static bool share_machine(const rank_cpus *a, const rank_cpus *b)
{
    return memcmp(a->machine, b->machine, sizeof a->machine) == 0;
}

/* The ranks on a rank's machine, in order. Returns how many. */
static int list_neighbors(const rank_cpus *all, int size, int rank, int *list)
{
    int count = 0;
    for (int r = 0; r < size; r++)
        if (share_machine(&all[r], &all[rank]))
            list[count++] = r;
    return count;
}

/* The number of CPUs that this rank gets when the CPUs that several ranks may use are dealt out. Masks that overlap without being
 * equal may give one CPU to two ranks, but no launcher makes such masks. */
static int count_own_cpus(const rank_cpus *all, const int *neighbors, int count, int rank)
{
    int own = 0;
    for (int cpu = 0, turn = 0; cpu < GROUP_THREADS_CPUS; cpu++) {
        int before = 0, users = 0;
        if (!may_use(&all[rank], cpu))
            continue;
        for (int i = 0; i < count; i++)
            if (may_use(&all[neighbors[i]], cpu)) {
                before += neighbors[i] < rank;
                users++;
            }
        own += turn++ % users == before;
    }
    return own;
}

/* This rank's share of its control group's quota. The first ranks get the remainder. */
static int own_quota(const rank_cpus *all, const int *neighbors, int count, int rank)
{
    int before = 0, sharers = 0;
    for (int i = 0; i < count; i++)
        if (all[neighbors[i]].group == all[rank].group) {
            before += neighbors[i] < rank;
            sharers++;
        }
    return (all[rank].quota + sharers - 1 - before) / sharers;
}

static int threads_among(const rank_cpus *all, const int *neighbors, int count, int rank)
{
    if (all[rank].asked > 0)
        return all[rank].asked;
    int threads = count_own_cpus(all, neighbors, count, rank), quota = own_quota(all, neighbors, count, rank);
    if (all[rank].quota > 0 && quota < threads)
        threads = quota;
    return threads < 1 ? 1 : threads < MOST_THREADS ? threads : MOST_THREADS;
}

int group_threads_of(const rank_cpus *all, int size, int rank)
{
    int neighbors[GROUP_THREADS_RANKS], count = list_neighbors(all, size, rank, neighbors);
    return threads_among(all, neighbors, count, rank);
}

/* CPUs of a machine: those that its ranks may use, and those that their launcher may use. */
static void count_cpus(const rank_cpus *all, const int *neighbors, int count, int *usable, int *launchers)
{
    int quota = all[neighbors[0]].quota;
    *usable = *launchers = 0;
    for (int i = 0; i < GROUP_THREADS_CPUS / 8; i++) {
        uint8_t own = 0, launcher = 0;
        for (int k = 0; k < count; k++) {
            own |= all[neighbors[k]].own[i];
            launcher |= all[neighbors[k]].launcher[i];
        }
        *usable += __builtin_popcount(own);
        *launchers += __builtin_popcount(own | launcher);
    }
    if (quota > 0) {
        *usable = *usable < quota ? *usable : quota;
        *launchers = *launchers < quota ? *launchers : quota;
    }
}

/* The machine of a rank; `ranks` is 0 if it is not the machine's first rank. */
static group_machine look_at_machine(const rank_cpus *all, int size, int rank)
{
    int neighbors[GROUP_THREADS_RANKS], count = list_neighbors(all, size, rank, neighbors), usable, launchers;
    group_machine m = {.rank = rank};
    bool asked = false;
    if (count == 0 || neighbors[0] != rank)
        return m;
    m.ranks = count;
    for (int i = 0; i < count; i++) {
        m.threads += threads_among(all, neighbors, count, neighbors[i]);
        asked = asked || all[neighbors[i]].asked > 0;
    }
    count_cpus(all, neighbors, count, &usable, &launchers);
    m.crowded = usable > 0 && m.threads > usable;
    m.idle = !m.crowded && !asked && m.threads < launchers && m.threads < MOST_THREADS;
    m.cpus = m.crowded ? usable : launchers;
    return m;
}

group_layout group_threads_layout(const rank_cpus *all, int size)
{
    group_layout layout = {.fewest = MOST_THREADS};
    for (int r = 0; r < size; r++) {
        group_machine m = look_at_machine(all, size, r);
        int threads = group_threads_of(all, size, r);
        layout.threads += threads;
        layout.fewest = threads < layout.fewest ? threads : layout.fewest;
        layout.most = threads > layout.most ? threads : layout.most;
        layout.machines += m.ranks > 0;
        if (m.crowded || m.idle) {
            if (layout.odd_machines++ == 0)
                layout.odd = m;
        }
    }
    return layout;
}
