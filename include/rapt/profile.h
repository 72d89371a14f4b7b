/* rapt/profile.h: a profile of training steps: seconds, floating-point operations and memory traffic of each operation. */
#ifndef RAPT_PROFILE_H
#define RAPT_PROFILE_H

#include "rapt/tape.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One kind of operation, its forward or its backward pass. */
typedef struct rapt_profile_entry {
    const char *op; /* "linear", "attention", "adam" */
    bool backward;
    uint64_t calls;
    double seconds; /* from its start to the start of the next operation */
    double flops;   /* in its matrix products, 2 for each multiply-add; 0: it has none */
    double bytes;   /* size of its operands and results as they are stored, each counted once; a KV cache counts with its whole
                       capacity */
} rapt_profile_entry;

/* Resets and starts the profile, or stops it. A profile costs two clock reads per operation and does not change results. */
RAPT_API void rapt_tape_profile(rapt_tape *t, bool on);
/* The *count entries of the profile, in the order in which operations were first called. Valid until the next call of either
 * function. */
RAPT_API const rapt_profile_entry *rapt_tape_profile_entries(rapt_tape *t, size_t *count);

#ifdef __cplusplus
}
#endif

#endif
