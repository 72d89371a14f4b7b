/* tests/distance.h: prints how far from a reference a test is, for the table of docs/results/models.md. */
#ifndef TESTS_DISTANCE_H
#define TESTS_DISTANCE_H

#include <stdio.h>
#include <stdlib.h>

/* Where RAPT_SHOW_DISTANCES is set, a row for tools/model_distances.sh: `ours` and `theirs` are the largest distances from the
 * reference in float64, of rapt and of the reference in float32. */
static inline void distance_show(const char *name, const char *what, double ours, double theirs)
{
    if (getenv("RAPT_SHOW_DISTANCES"))
        printf("| `%s` | %s | %.1e | %.1e | %.2f |\n", name, what, ours, theirs, ours / theirs);
}

#endif
