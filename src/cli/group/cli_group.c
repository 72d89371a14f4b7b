/* cli/group/cli_group.c: prints a failure once. If all ranks know it (group_agree), the rank named at the beginning of its text
 * prints it. Any other failure each rank would print, so they take turns: the first one that prints ends all before the next
 * one's turn. */
#include "cli/group/cli_group.h"

#include "base/interrupt.h"
#include "base/module.h"
#include "cli/cli.h"
#include "cli/group/group_threads.h"
#include "cli/group/launch.h"
#include "cli/say.h"
#include "group/group_ops.h"
#include "kernels/kernels.h"

#include <stdlib.h>
#include <string.h>

/* ---- joining ------------------------------------------------------------------------------------------------------ */

static const rapt_transport *load_module(const launch *l, const char *lack, rapt_error *err)
{
    const rapt_transport *(*transport)(void);
    *(void **)&transport = module_function(l->module, "mpi_transport", lack, err);
    return transport ? transport() : NULL;
}

int cli_group_list(const char *names[CLI_GROUP_MPIS])
{
    int count = 0;
    for (int i = 0; i < LAUNCH_MPIS; i++) {
        const rapt_transport *transport = load_module(&launch_mpis[i], "", NULL);
        if (transport)
            names[count++] = transport->name;
    }
    return count;
}

static const rapt_transport *load_transport(const launch *l, rapt_error *err)
{
    char lack[400];
    if (!l->mpi) {
        rapt_fail(err, RAPT_ERR_VALUE, "srun has started %d processes that cannot find each other: start rapt by mpirun inside "
                  "the job, or by `srun --mpi=pmix` (Open MPI) or `srun --mpi=pmi2` (MPICH)", l->size);
        return NULL;
    }
    snprintf(lack, sizeof lack, "%s has started this, but rapt's module for %s is missing: install %s (Debian's names), build "
             "rapt again, or start it by the mpirun of the MPI that `rapt info` lists", l->launcher, l->mpi, l->packages);
    return load_module(l, lack, err);
}

/* `alike`: all ranks have the same failure; otherwise this rank or its machine may be at fault. */
static int not_joined(const launch *l, bool alike, const rapt_error *err)
{
    char speaker[LAUNCH_SPEAKER];
    if (launch_speaks(l, alike)) {
        cli_say("rapt: %s%s\n", launch_speaker(l, alike, speaker), err->message);
        launch_leave(l, 1);
    }
    return 1;
}

int cli_group_join(cli_group *g, double wait)
{
    launch l = launch_find();
    rapt_error err = {0};
    *g = (cli_group){.size = 1};
    if (l.size == 1)
        return 0;
    if (!kernels_active(&err)) /* an RAPT_ISA that this processor does not have */
        return not_joined(&l, false, &err);
    const rapt_transport *transport = load_transport(&l, &err);
    if (!transport)
        return not_joined(&l, !l.mpi || l.local_rank > 0, &err); /* a machine lacks the module */
    rapt_group_options o = rapt_group_options_default();
    o.wait = wait > 0 ? wait : o.wait;
    o.launched = l.size;
    g->ranks = rapt_group_new(transport, &o, &err);
    if (!g->ranks)
        return not_joined(&l, err.code == RAPT_ERR_VALUE, &err); /* the MPI says so: not all launched processes have joined */
    g->rank = rapt_group_rank(g->ranks);
    g->size = rapt_group_size(g->ranks);
    g->transport = transport->name;
    g->bound = strncmp(l.launcher, "mpirun", 6) == 0;
    if (g->size > 1)
        return 0;
    rapt_group_free(g->ranks);
    g->ranks = NULL;
    return 0;
}

/* ---- threads ------------------------------------------------------------------------------------------------------ */

static void show_layout(const cli_group *g, const group_layout *l)
{
    fprintf(stderr, "group: %d processes", g->size);
    if (l->fewest == l->most)
        fprintf(stderr, " x %d thread%s", l->most, cli_plural((size_t)l->most));
    else
        fprintf(stderr, " with %d to %d threads", l->fewest, l->most);
    fprintf(stderr, " on %d machine%s (%s)\n", l->machines, cli_plural((size_t)l->machines), g->transport);
}

static void warn_of_cpus(const cli_group *g, const group_layout *l)
{
    const group_machine *m = &l->odd;
    char more[48] = "";
    if (l->odd_machines > 1)
        snprintf(more, sizeof more, " (and %d more machines)", l->odd_machines - 1);
    if (m->crowded)
        cli_say("rapt: warning: %s%s: %d processes with %d threads share %d CPU%s: start fewer processes, or fewer threads "
                "in each (--threads)\n", group_host(g->ranks, m->rank), more, m->ranks, m->threads, m->cpus,
                cli_plural((size_t)m->cpus));
    else if (m->idle)
        cli_say("rapt: warning: %s%s: %d of %d CPUs are unused, because mpirun binds each process to some: start it with "
                "--bind-to none, or with --threads\n", group_host(g->ranks, m->rank), more, m->cpus - m->threads, m->cpus);
}

static int asked_threads(int threads)
{
    const char *value = getenv("RAPT_THREADS");
    return threads > 0 || !value ? threads : atoi(value); /* a wrong value is reported when threads are started */
}

rapt_code cli_group_threads(const cli_group *g, int threads, bool quiet, int *own, rapt_error *err)
{
    *own = threads;
    if (!g->ranks || g->size > GROUP_THREADS_RANKS)
        return RAPT_OK;
    rank_cpus mine = group_threads_own(asked_threads(threads), g->bound), *all = calloc((size_t)g->size, sizeof *all);
    rapt_code code = all ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory");
    code = group_agree(g->ranks, code, err);
    if (!code)
        code = group_share(g->ranks, &mine, sizeof mine, all, err);
    if (!code && mine.asked == 0)
        *own = group_threads_of(all, g->size, g->rank);
    if (!code && g->rank == 0 && !quiet) {
        group_layout layout = group_threads_layout(all, g->size);
        show_layout(g, &layout);
        warn_of_cpus(g, &layout);
    }
    free(all);
    return code;
}

/* ---- leaving ------------------------------------------------------------------------------------------------------ */

/* The rank that "rank 2 on node7: ..." begins with; -1: it begins otherwise. */
static int speaker_of(const char *message)
{
    int rank;
    return sscanf(message, "rank %d on ", &rank) == 1 ? rank : -1;
}

/* Only this rank has failed, as far as it knows, or the group has. */
static int end_all(cli_group *g, const rapt_error *err)
{
    launch_wait_for_turn(g->rank);
    if (speaker_of(err->message) >= 0)
        cli_say("rapt: %s\n", err->message);
    else
        cli_say("rapt: rank %d on %s: %s\n", g->rank, group_host(g->ranks, g->rank),
                err->message[0] ? err->message : rapt_code_name(err->code));
    launch_let_pass();
    rapt_group_abort(g->ranks, 1);
    return 1;
}

/* The highest status of all ranks: not all may have got the signal that has stopped them. False: the group has failed. All
 * wait for each other here, because launchers end those that are left when one leaves with a status that is not 0. */
static bool agree_on_status(cli_group *g, int *status)
{
    int *all = calloc((size_t)g->size, sizeof *all);
    bool agreed = all && !group_share(g->ranks, status, sizeof *status, all, NULL);
    for (int r = 0; r < g->size && agreed; r++)
        *status = all[r] > *status ? all[r] : *status;
    free(all);
    return agreed;
}

static int leave_alone(rapt_code code, int status, const rapt_error *err)
{
    if (code)
        cli_fail(err);
    return status;
}

/* Open MPI's mpirun ends all processes when the first leaves with a failure, and hangs in one of three runs if others leave at
 * the same time. So only rank 0, as the last one, returns the status of the run. */
static int status_of_rank(int rank, int status)
{
    if (rank > 0)
        return 0;
    if (status)
        launch_let_pass();
    return status;
}

int cli_group_leave(cli_group *g, rapt_code code, int stopped, const rapt_error *err)
{
    const bool interrupted = code == RAPT_ERR_INTERRUPTED;
    int status = interrupted ? stopped : code ? 1 : 0;
    if (!g->ranks)
        return leave_alone(code, status, err);
    const int speaker = interrupted ? 0 : speaker_of(err->message);
    if (code && (speaker < 0 || !agree_on_status(g, &status)))
        return end_all(g, err);
    if (code && speaker == g->rank)
        cli_say("rapt: %s\n", err->message);
    agree_on_status(g, &status);
    interrupt_default(INTERRUPT_END); /* nothing is left to save */
    rapt_group_free(g->ranks);
    g->ranks = NULL;
    return status_of_rank(g->rank, status);
}
