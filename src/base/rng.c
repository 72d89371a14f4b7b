/* base/rng.c: Philox, and distributions drawn from it. For initialization, shuffles and the reference of the dropout kernel. Not
 * for cryptography. */
#include "base/rng.h"

#include "base/math.h"

#include <math.h>

#define PHILOX_ROUNDS 10

static rng_block philox_round(rng_block c, const uint32_t key[2])
{
    uint64_t a = (uint64_t)0xD2511F53u * c.word[0], b = (uint64_t)0xCD9E8D57u * c.word[2];
    return (rng_block){{(uint32_t)(b >> 32) ^ c.word[1] ^ key[0], (uint32_t)b,
                        (uint32_t)(a >> 32) ^ c.word[3] ^ key[1], (uint32_t)a}};
}

rng_block rng_philox(rng_block counter, const uint32_t key[2])
{
    uint32_t k[2] = {key[0], key[1]};
    for (int i = 0; i < PHILOX_ROUNDS; i++) {
        counter = philox_round(counter, k);
        k[0] += 0x9E3779B9u; /* Weyl sequences of the golden ratio and sqrt(3) - 1 */
        k[1] += 0xBB67AE85u;
    }
    return counter;
}

void rng_key(uint64_t mixed, uint32_t key[2])
{
    key[0] = (uint32_t)mixed;
    key[1] = (uint32_t)(mixed >> 32);
}

static rng_block rng_block_at(uint64_t key, uint64_t index)
{
    uint32_t k[2];
    rng_key(key, k);
    return rng_philox((rng_block){{(uint32_t)index, (uint32_t)(index >> 32), 0, 0}}, k);
}

uint64_t rng_mix(uint64_t a, uint64_t b)
{
    rng_block x = rng_block_at(a, b);
    return (uint64_t)x.word[1] << 32 | x.word[0];
}

/* FNV-1a, spread by one Philox block: names differ in few bits. */
uint64_t rng_hash_text(const char *text)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 0x100000001b3u;
    return rng_mix(h, 0);
}

static double to_unit(uint32_t high, uint32_t low)
{
    return (double)(((uint64_t)high << 32 | low) >> 11) * 0x1p-53;
}

double rng_uniform(uint64_t key, uint64_t index)
{
    rng_block x = rng_block_at(key, index);
    return to_unit(x.word[0], x.word[1]);
}

double rng_normal(uint64_t key, uint64_t index)
{
    rng_block x = rng_block_at(key, index);
    double u = 1 - to_unit(x.word[0], x.word[1]); /* in (0, 1] */
    return sqrt(-2 * math_log(u)) * math_cos(6.28318530717958647693 * to_unit(x.word[2], x.word[3]));
}

uint64_t rng_below(uint64_t key, uint64_t index, uint64_t bound)
{
    return (uint64_t)(rng_uniform(key, index) * (double)bound);
}

void rng_shuffle(uint64_t key, size_t *order, size_t count)
{
    for (size_t i = count; i > 1; i--) {
        size_t j = (size_t)rng_below(key, i, i), saved = order[i - 1];
        order[i - 1] = order[j];
        order[j] = saved;
    }
}
