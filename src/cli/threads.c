/* cli/threads.c: a word about more threads than CPUs. For the commands with --threads and --quiet. */
#include "base/pool.h"
#include "cli/cli.h"

#include <stdio.h>

void cli_warn_threads(int threads, bool quiet)
{
    int cpus = pool_cpus("");
    if (!quiet && threads > cpus)
        fprintf(stderr, "rapt: warning: --threads %d, but this process may use %d CPU%s: it takes longer, for the same result\n",
                threads, cpus, cli_plural((size_t)cpus));
}
