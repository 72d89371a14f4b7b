/* tests/fuzz/long_inputs.c: readers of text with long inputs: none may take more than a little over n log n. A unit of a few
 * characters is repeated; a reader that takes long is timed with a quarter of it, too. Without an argument: each reader with half
 * the units of a list; with SECONDS [SEED]: random ones in a row, also longer, for that long.
 * For CTest, and tests/fuzz/run.sh. CPU time counts, which load does not change.
 * Not for patterns and templates that are quadratic themselves: those have limits of their own (test_split_cost.c, test_chat.c).
 * labels: not-sanitized not-emulated */
#define _GNU_SOURCE
#include "fuzz/long_readers.h"

#include "base/rng.h"

#include <malloc.h>
#include <time.h>

/* Quadratic is 16 times as long for four times the length, n log n about five times. A short input raises a doubt sooner. */
enum { SHORT = 4096, LONG = 8 * SHORT, DOUBT = 6, MOST_GROWTH = 9, RUNS = 3, TRIES = 4 };
#define LITTLE 2e-4 /* seconds; less is fine: for a short input, and (FLOOR) for a long one */
#define FLOOR 0.01

static const char *const units[] = {
    "a", "ab", "A", "Ab", "the ", "won't've ", "'", "'s", "\"", "\\", "\\u0301", "{", "[", "[1,", "}", "{\"a\":", "{{", "{%",
    "<|", "<|x|>", "<s>", "[MASK]", "&quot;", "&", "%41", "a=b&", "+", "1", "12345678901234567890,", "1.", ".", ". ", "A. ",
    "Dr. ", "! ", ", ", "-", "@-@ ", " ", "  a", "\n", " \n", "\r\n", "\t", "a: b\n", "- ", "? ", "*a ", "&a ", "#", ":", "|\n",
    "\xC2\xA0", "\xC3\xA9", "\xC3\x9F", "\xCE\xA3", "\xC4\xB0", "\xCC\x81\xCC\x96", "a\xCC\x81",
    "\xCC\xB4\xCC\x81\xCD\x85\xD6\xB0", "\xE1\x84\x80\xE1\x85\xA1\xE1\x86\xA8", "\xE1\x84\x80", "\xE1\x85\xA1", "\xEA\xB0\x80",
    "\xE4\xB8\xAD", "\xE3\x80\x82", "\xE3\x81\x8B\xE3\x82\x99", "\xEF\xB7\xBA", "\xEF\xBF\xBD", "\xEF\xBB\xBF", "\xE2\x96\x81",
    "\xE2\x80\x8D", "\xF0\x9F\x91\xA9\xE2\x80\x8D", "\xF0\x9F\x98\x80", "\xD8\xA7\xD9\x8E", "\xE0\xB8\x81", "a\xD0\xB1",
    ("\xE4\xB8\xAD" "a"), "\xE4\xB8\xAD ", "\xFF", "\xE4\xB8", "a\x80",
};
enum { UNITS = sizeof units / sizeof *units };

typedef struct long_input {
    char text[4 * LONG + 1];
    size_t size;
} long_input;

/* No character is cut off at the end, where there are any. */
static void repeat(long_input *input, const char *first, const char *unit, const char *last, size_t size)
{
    input->size = 0;
    for (const char *part = first; input->size + strlen(part) + strlen(last) <= size; part = unit) {
        memcpy(input->text + input->size, part, strlen(part));
        input->size += strlen(part);
    }
    memcpy(input->text + input->size, last, strlen(last) + 1);
    input->size += strlen(last);
}

static double cpu_seconds(void)
{
    struct timespec now;
    require(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now) == 0); /* of all threads */
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The shortest of `runs`. */
static double time_of(const long_reader *r, const long_input *input, int runs)
{
    double best = 1e9;
    for (int i = 0; i < runs; i++) {
        double begun = cpu_seconds(), taken;
        r->run(r->of, input->text, input->size);
        taken = cpu_seconds() - begun;
        best = taken < best ? taken : best;
    }
    return best;
}

static void print_unit(const char *unit)
{
    for (; *unit; unit++)
        printf(*unit >= ' ' && *unit != '\\' && *unit != '"' && *unit < 127 ? "%c" : "\\x%02X", (unsigned char)*unit);
}

/* first, unit ... unit, last: `size` bytes, and a quarter of that. False: none for this reader. */
static bool make(const long_reader *r, const char *first, const char *unit, const char *last, size_t size, long_input *some,
                 long_input *more)
{
    repeat(more, first, unit, last, size);
    repeat(some, first, unit, last, size / 4);
    return !r->valid || utf8_valid_prefix(more->text, more->size) == more->size;
}

/* Whether a reader takes an input of `size` bytes in time. It does not where each try says so. */
static bool in_time(const long_reader *r, const char *first, const char *unit, const char *last, size_t size)
{
    static long_input some, more;
    double short_time = 0, long_time = 0;
    if (!make(r, first, unit, last, size, &some, &more))
        return true;
    for (int i = 0; i < TRIES; i++) {
        long_time = time_of(r, &more, i == 0 ? 1 : RUNS);
        if (long_time < FLOOR)
            return true;
        short_time = time_of(r, &some, i == 0 ? 1 : RUNS);
        if (long_time < MOST_GROWTH * short_time)
            return true;
    }
    printf("%.100s: \"", r->name);
    print_unit(first);
    printf("\", \"");
    print_unit(unit);
    printf("\" again and again, \"");
    print_unit(last);
    printf("\": %zu bytes take %.1f ms, %zu bytes %.1f ms\n", some.size, 1e3 * short_time, more.size, 1e3 * long_time);
    fflush(stdout);
    return false;
}

static bool in_doubt(const long_reader *r, const char *unit)
{
    static long_input some, more;
    double taken = make(r, "", unit, "", SHORT, &some, &more) ? time_of(r, &more, 1) : 0;
    return taken > LITTLE && taken > DOUBT * time_of(r, &some, 1);
}

/* Each of two consecutive readers takes every other unit; there are several readers of each kind. */
static size_t try_all(void)
{
    size_t failed = 0;
    for (size_t i = 0; i < long_reader_count; i++)
        for (size_t j = i % 2; j < UNITS; j += 2)
            failed += in_doubt(&long_readers[i], units[j]) && !in_time(&long_readers[i], "", units[j], "", LONG);
    return failed;
}

/* One to three units in a row, and what comes first and last, or nothing. */
static size_t try_random(double seconds, uint64_t seed)
{
    size_t failed = 0, tried = 0;
    uint64_t next = 0;
    for (double begun = cpu_seconds(); cpu_seconds() - begun < seconds; tried++) {
        char unit[64] = "";
        for (size_t n = rng_below(seed, next++, 3) + 1; n > 0; n--)
            strcat(unit, units[rng_below(seed, next++, UNITS)]);
        const long_reader *r = &long_readers[rng_below(seed, next++, long_reader_count)];
        const char *first = rng_below(seed, next++, 2) ? units[rng_below(seed, next, UNITS)] : "";
        const char *last = rng_below(seed, next + 1, 2) ? units[rng_below(seed, next + 2, UNITS)] : "";
        failed += !in_time(r, first, unit, last, rng_below(seed, next + 3, 4) ? LONG : 4 * LONG);
        next += 4;
    }
    printf("%zu random inputs, seed %llu\n", tried, (unsigned long long)seed);
    return failed;
}

int main(int argc, char **argv)
{
    mallopt(M_MMAP_THRESHOLD, 32 << 20); /* fresh pages are no work of a reader; a sanitizer's malloc says no */
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    long_readers_make(units, UNITS);
    double begun = cpu_seconds();
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : (uint64_t)time(NULL);
    size_t failed = argc > 1 ? try_random(atof(argv[1]), seed) : try_all();
    printf("%zu readers, %d units, %.1f s, %zu take too long\n", long_reader_count, UNITS, cpu_seconds() - begun, failed);
    long_readers_free();
    return failed > 0;
}
