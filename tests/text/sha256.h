/* sha256.h: SHA-256 (FIPS 180-4) of bytes in memory, as text. For test_tokenizer_golden.c; slow and short. */
#ifndef TESTS_SHA256_H
#define TESTS_SHA256_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { SHA256_TEXT = 65 };

static inline uint32_t sha256_turn(uint32_t x, int by)
{
    return x >> by | x << (32 - by);
}

/* The first 32 bits of the fractional parts of the cube roots of the first 64 primes; of square roots for the start. */
static inline void sha256_constants(uint32_t k[64], uint32_t start[8])
{
    int found = 0;
    for (uint32_t n = 2; found < 64; n++) {
        int prime = 1;
        for (uint32_t d = 2; d * d <= n; d++)
            prime &= n % d != 0;
        if (!prime)
            continue;
        unsigned __int128 low = 0, high = (unsigned __int128)n << 32; /* floor(cbrt(n) 2^32), by bisection */
        while (high - low > 1) {
            unsigned __int128 middle = (low + high) / 2;
            *(middle * middle * middle >> 96 < n ? &low : &high) = middle;
        }
        k[found] = (uint32_t)low;
        low = 0, high = (unsigned __int128)n << 32;
        while (found < 8 && high - low > 1) {
            unsigned __int128 middle = (low + high) / 2;
            *(middle * middle >> 64 < n ? &low : &high) = middle;
        }
        if (found < 8)
            start[found] = (uint32_t)low;
        found++;
    }
}

static inline void sha256_block(const uint8_t block[64], const uint32_t k[64], uint32_t h[8])
{
    uint32_t w[64], s[8];
    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 | (uint32_t)block[4 * i + 2] << 8 |
               block[4 * i + 3];
    for (int i = 16; i < 64; i++)
        w[i] = w[i - 16] + (sha256_turn(w[i - 15], 7) ^ sha256_turn(w[i - 15], 18) ^ w[i - 15] >> 3) + w[i - 7] +
               (sha256_turn(w[i - 2], 17) ^ sha256_turn(w[i - 2], 19) ^ w[i - 2] >> 10);
    memcpy(s, h, sizeof s);
    for (int i = 0; i < 64; i++) {
        uint32_t one = s[7] + (sha256_turn(s[4], 6) ^ sha256_turn(s[4], 11) ^ sha256_turn(s[4], 25)) +
                       ((s[4] & s[5]) ^ (~s[4] & s[6])) + k[i] + w[i];
        uint32_t two = (sha256_turn(s[0], 2) ^ sha256_turn(s[0], 13) ^ sha256_turn(s[0], 22)) +
                       ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
        memmove(s + 1, s, 7 * sizeof *s);
        s[4] += one;
        s[0] = one + two;
    }
    for (int i = 0; i < 8; i++)
        h[i] += s[i];
}

static inline void sha256_text(const void *data, size_t size, char text[SHA256_TEXT])
{
    uint32_t k[64], h[8];
    uint8_t last[128] = {0};
    const uint8_t *bytes = data;
    size_t rest = size % 64, padded = rest < 56 ? 64 : 128;
    sha256_constants(k, h);
    for (size_t at = 0; at + 64 <= size; at += 64)
        sha256_block(bytes + at, k, h);
    memcpy(last, bytes + size - rest, rest);
    last[rest] = 0x80;
    for (int i = 0; i < 8; i++)
        last[padded - 1 - i] = (uint8_t)((uint64_t)size * 8 >> 8 * i);
    for (size_t at = 0; at < padded; at += 64)
        sha256_block(last + at, k, h);
    for (int i = 0; i < 8; i++)
        snprintf(text + 8 * i, 9, "%08x", h[i]);
}

#endif
