/* base/system_random.h: random numbers from the system, for seeds and names that nobody should foresee. What has to be repeatable
 * takes base/rng.h. */
#ifndef BASE_SYSTEM_RANDOM_H
#define BASE_SYSTEM_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

/* Sets *number. False, with *number as it was: the system has none, or not yet; nothing is waited for. */
bool system_random(uint64_t *number);

#endif
