/* rapt/profile.h: where the time of training steps goes: each operation's seconds, its arithmetic and its traffic. */
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
    double seconds; /* from its beginning to the next operation's, so what stands between them is in it */
    double flops;   /* of its matrix products, a multiplication and an addition each; 0: it has none */
    double bytes;   /* of its operands and results, each once: what it moves at least */
} rapt_profile_entry;

/* Begins to count from nothing, or ends counting. Costs two looks at a clock an operation; results don't change. */
RAPT_API void rapt_tape_profile(rapt_tape *t, bool on);
/* What was counted, in the order of first calls; *count of them. Valid until the next call of either function. */
RAPT_API const rapt_profile_entry *rapt_tape_profile_entries(rapt_tape *t, size_t *count);

#ifdef __cplusplus
}
#endif

#endif
