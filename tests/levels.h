/* tests/levels.h: one test for each level of kernels of this build, named after it, with the level's name as its state.
 * Where the machine lacks the level, it skips. To be included after cmocka.h. */
#ifndef TESTS_LEVELS_H
#define TESTS_LEVELS_H

#include <stdio.h>
#include <string.h>

#include "kernels/kernels.h"

#define LEVELS_MOST 8 /* room for them in an array of tests; what is not used stays empty, at its end */

/* The level to test. */
static inline const char *levels_wanted(void **state)
{
    rapt_error err = {0};
    if (!kernels_of_isa(*state, &err)) {
        print_message("%s, skipped\n", err.message);
        skip();
    }
    return *state;
}

/* Threads share work in the same way at every level: a build that looks for races between them tests one. */
#ifdef __SANITIZE_THREAD__
enum { LEVELS_TESTED = 1 };
#else
enum { LEVELS_TESTED = LEVELS_MOST };
#endif

/* Levels that differ from the one before in products of quantized weights alone: for the tests of these, which define
 * LEVELS_QUANTIZED. */
static inline bool levels_are_quantized(const char *name)
{
    return strcmp(name, "avx2_vnni") == 0 || strcmp(name, "avx512_vnni") == 0 || strcmp(name, "neon_dot") == 0;
}

#ifdef LEVELS_QUANTIZED
enum { LEVELS_OF_QUANTIZED = 1 };
#else
enum { LEVELS_OF_QUANTIZED = 0 };
#endif

/* From the level `first` on, kernels_names being all; returns how many. At most two calls a program. */
static inline size_t levels_tests(struct CMUnitTest *tests, const char *what, CMUnitTestFunction test, const char *const *first)
{
    static char names[2 * LEVELS_MOST][64], levels[2 * LEVELS_MOST][32];
    static size_t used;
    size_t count = 0;
    for (; count < LEVELS_TESTED && *first; first++) {
        if (levels_are_quantized(*first) && !LEVELS_OF_QUANTIZED)
            continue;
        snprintf(levels[used], sizeof levels[used], "%s", *first);
        snprintf(names[used], sizeof names[used], "%s_%s", what, *first);
        tests[count++] = (struct CMUnitTest){names[used], test, NULL, NULL, levels[used]};
        used++;
    }
    return count;
}

#endif
