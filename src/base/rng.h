/* base/rng.h: counter-based random numbers. A number is a pure function of its key and counter, so it depends on
 * neither threads nor order. Philox4x32-10: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011. */
#ifndef BASE_RNG_H
#define BASE_RNG_H

#include <stddef.h>
#include <stdint.h>

typedef struct rng_block {
    uint32_t word[4];
} rng_block;

rng_block rng_philox(rng_block counter, const uint32_t key[2]);

/* Mixes two numbers into one whose bits all depend on all bits of both, to make keys from seed, step and names. */
uint64_t rng_mix(uint64_t a, uint64_t b);
uint64_t rng_hash_text(const char *text);
void rng_key(uint64_t mixed, uint32_t key[2]);

/* The index-th number of a key's stream. */
double rng_uniform(uint64_t key, uint64_t index); /* in [0, 1), 53 bits */
double rng_normal(uint64_t key, uint64_t index);  /* N(0, 1): Box & Muller 1958 */
uint64_t rng_below(uint64_t key, uint64_t index, uint64_t bound); /* in [0, bound), bound > 0 */

/* Permutes order[0 .. count-1] (Fisher & Yates) as the key says. */
void rng_shuffle(uint64_t key, size_t *order, size_t count);

#endif
