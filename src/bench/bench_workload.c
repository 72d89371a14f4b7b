/* bench/bench_workload.c: random ids, the input of every workload. bench_sentences.c and bench_windows.c have the
 * workloads. */
#include "bench/bench_workload.h"

#include "base/rng.h"

#include <stdlib.h>

int32_t *workload_ids(size_t count, uint64_t key, size_t first, size_t vocab)
{
    int32_t *ids = malloc(count * sizeof *ids);
    for (size_t i = 0; ids && i < count; i++)
        ids[i] = (int32_t)(first + rng_below(key, i, vocab - first));
    return ids;
}
