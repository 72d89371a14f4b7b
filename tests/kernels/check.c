/* tests/kernels/check.c: guarded memory, random numbers, comparisons and timing. For check_*.c.
 * Not a kernel's check itself: those are in check_gemm.c, check_rows.c and check_elements.c. */
#define _GNU_SOURCE
#include "check.h"

#include "base/clock.h"
#include "base/pages.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#ifdef _WIN32
#include <windows.h>
#else
#include <sys/mman.h>
#endif

#define CANARY 0x7fc0dead
#define CANARIES 128 /* floats before the numbers of a slot that must not change */
#define SHOWN 10     /* failures of a kernel that are described */

const size_t check_sizes[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16,  17,  18,   19,
                              20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 63, 100, 511, 1027, 0};
const size_t check_bench_sizes[] = {10, 32, 64, 512, 10000, 0};

bool check_that(check *c, bool ok, const char *format, ...)
{
    c->cases++;
    if (ok)
        return true;
    if (c->failures++ < SHOWN) {
        va_list args;
        va_start(args, format);
        printf("%s %s: ", c->k->name, c->kernel);
        vprintf(format, args);
        printf("\n");
        va_end(args);
    }
    return false;
}

/* A kernel that touches the page afterwards ends the program. */
static bool forbid(void *page, size_t size)
{
#ifdef _WIN32
    DWORD before;
    return VirtualProtect(page, size, PAGE_NOACCESS, &before);
#else
    return mprotect(page, size, PROT_NONE) == 0;
#endif
}

/* Where the numbers of a slot end. */
static char *slot_end(int slot)
{
    static char *end[CHECK_SLOTS];
    if (end[slot])
        return end[slot];
    size_t page = pages_size(), size = (CHECK_SLOT_FLOATS + CANARIES) * sizeof(float);
    size = (size + page - 1) / page * page;
    char *map = pages_map(size + page);
    if (!map || !forbid(map + size, page)) {
        perror("check_kernels: a page that nobody may touch");
        exit(EXIT_FAILURE);
    }
    return end[slot] = map + size;
}

static bool is_canary(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits == CANARY;
}

float *check_slot(int slot, size_t n)
{
    const uint32_t canary = CANARY;
    float *end = (float *)(void *)slot_end(slot), *first = end - n;
    for (float *p = first - CANARIES; p < end; p++)
        memcpy(p, &canary, sizeof canary);
    return first;
}

float *check_room(int slot, size_t n) { return check_slot(slot, (n + 31) / 16 * 16); }

uint8_t *check_slot_bytes(int slot, size_t n) { return (uint8_t *)slot_end(slot) - n; }

void check_canary(check *c, const float *first, const char *what)
{
    bool ok = true;
    for (int i = 1; i <= CANARIES; i++)
        ok = ok && is_canary(first[-i]);
    check_that(c, ok, "%s: memory before it was written", what);
}

void check_gaps(check *c, const float *x, size_t rows, size_t columns, size_t ld, const char *what)
{
    bool ok = true;
    for (size_t i = 0; i + 1 < rows; i++)
        for (size_t j = columns; j < ld; j++)
            ok = ok && is_canary(x[i * ld + j]);
    check_that(c, ok, "%s: a gap between rows was written", what);
}

/* splitmix64 (Steele, Lea, Flood 2014) */
static uint64_t random_bits(void)
{
    static uint64_t state = 1;
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

uint32_t check_random_int(uint32_t below) { return (uint32_t)((random_bits() >> 32) * below >> 32); }

static float random_normal(void)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += (double)(random_bits() >> 11) * 0x1p-53;
    return (float)sum;
}

void check_random(float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] = random_normal();
}

void check_random_wild(float *x, size_t n)
{
    const float odd[] = {NAN,     INFINITY, -INFINITY, 0.0f,   -0.0f, 1e-42f,
                         -1e-40f, 3e38f,    -3e38f,    1e-38f, 88.5f, -87.5f};
    check_random(x, n);
    for (size_t i = 0; i < n; i++)
        if (check_random_int(4) == 0)
            x[i] = odd[check_random_int(sizeof odd / sizeof *odd)];
}

void check_same(check *c, size_t n, const float *got, const float *want, const char *what)
{
    for (size_t i = 0; i < n; i++) {
        bool same = memcmp(got + i, want + i, sizeof *got) == 0 || (isnan(got[i]) && isnan(want[i]));
        if (!check_that(c, same, "%s, n = %zu: [%zu] is %a, not %a", what, n, i, (double)got[i],
                        (double)want[i]))
            return;
    }
}

void check_within(check *c, size_t index, double got, double want, double bound, const char *what)
{
    check_that(c, fabs(got - want) <= bound, "%s: [%zu] is %.9g, not %.9g; off by %.3g, allowed %.3g", what,
               index, got, want, fabs(got - want), bound);
}

double check_now(void)
{
    return clock_seconds();
}

void check_report(const kernels *k, const char *kernel, const char *what, double amount, double seconds,
                  bool flops)
{
    if (flops)
        printf("%-7s %-20s %-22s %8.1f GFLOP/s\n", k->name, kernel, what, amount / seconds * 1e-9);
    else
        printf("%-7s %-20s %-22s %8.3f ns/element\n", k->name, kernel, what, seconds / amount * 1e9);
}
