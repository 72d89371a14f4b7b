/* tests/kernels/check_kernels.c: every kernel at every ISA level of this machine, against definitions in double
 * and, bit for bit, against the scalar level; with --bench their speed. For `make check` and `make bench`.
 * Not a test of anything above kernels/.
 *
 *   check_kernels [--bench] [--exhaustive] [--level NAME] [KERNEL]...
 * labels: levels arm-first */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "check.h"

typedef struct entry {
    const char *name;
    void (*run)(check *);
    void (*bench)(const kernels *);
} entry;

#define ENTRY(name) {#name, check_##name, bench_##name},
static const entry entries[] = {CHECK_KERNELS(ENTRY)};
#undef ENTRY

enum { ENTRIES = sizeof entries / sizeof *entries, GEMM_ENTRIES = 4 }; /* gemm_tile, pack_a, pack_b; pack_bf16 */

/* A member that is added to the table but not to CHECK_KERNELS makes the sizes differ. */
struct same_shape {
    const char *name;
    kernels_gemm gemm;
    const kernels_gemm *bf16;
    const kernels_quantized *quantized;
    const kernels_gemm *bf16_weights, *f16_weights;
    void (*function[ENTRIES - GEMM_ENTRIES])(void);
};
_Static_assert(sizeof(struct same_shape) == sizeof(kernels), "CHECK_KERNELS does not list every kernel");

typedef struct options {
    bool bench, exhaustive;
    const char *isa_level;
    char **names;
    int names_count;
} options;

static bool wanted(const options *o, const char *kernel)
{
    for (int i = 0; i < o->names_count; i++)
        if (strcmp(o->names[i], kernel) == 0)
            return true;
    return o->names_count == 0;
}

static bool known(const char *kernel)
{
    for (int i = 0; i < ENTRIES; i++)
        if (strcmp(entries[i].name, kernel) == 0)
            return true;
    return false;
}

static options parse(int argc, char **argv)
{
    options o = {.names = malloc((size_t)argc * sizeof *o.names)};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--bench") == 0) {
            o.bench = true;
        } else if (strcmp(argv[i], "--exhaustive") == 0) {
            o.exhaustive = true;
        } else if (strcmp(argv[i], "--level") == 0 && i + 1 < argc) {
            o.isa_level = argv[++i];
        } else if (o.names && known(argv[i])) {
            o.names[o.names_count++] = argv[i];
        } else {
            fprintf(stderr, "usage: check_kernels [--bench] [--exhaustive] [--level NAME] [KERNEL]...\n");
            exit(2);
        }
    }
    return o;
}

typedef struct totals { int passed, failed, skipped; } totals;

static void run_level(const options *o, const kernels *k, totals *t)
{
    for (int i = 0; i < ENTRIES; i++) {
        if (!wanted(o, entries[i].name))
            continue;
        if (o->bench) {
            entries[i].bench(k);
            continue;
        }
        check c = {.k = k, .scalar = &kernels_scalar, .kernel = entries[i].name, .exhaustive = o->exhaustive};
        entries[i].run(&c);
        if (entries[i].run == check_mul_add)
            check_fused(&c);
        bool ok = c.failures == 0 && c.cases > 0;
        printf("%-7s %-20s %s (%ld comparisons)\n", k->name, c.kernel, ok ? "ok" : "FAILED", c.cases);
        t->passed += ok;
        t->failed += !ok;
    }
}

static void report(totals *t, const char *what, bool ok)
{
    printf("%-7s %-20s %s\n", "choice", what, ok ? "ok" : "FAILED");
    t->passed += ok;
    t->failed += !ok;
}

static bool refuses(const kernels *k, const rapt_error *err)
{
    return k == NULL && err->code == RAPT_ERR_VALUE && strstr(err->message, "scalar") != NULL;
}

static void choose(const char *isa)
{
#ifdef _WIN32
    _putenv_s("RAPT_ISA", isa);
#else
    setenv("RAPT_ISA", isa, 1);
#endif
}

/* An unknown level is an error that lists the known ones, from RAPT_ISA too: a typo must not test nothing. */
static void check_choice(totals *t)
{
    rapt_error by_name = {0}, by_environment = {0};
    report(t, "unknown level", refuses(kernels_of_isa("avx3", &by_name), &by_name));
    choose("avx3");
    report(t, "unknown RAPT_ISA", refuses(kernels_active(&by_environment), &by_environment));
    choose("scalar");
    report(t, "RAPT_ISA=scalar", kernels_active(NULL) == &kernels_scalar);
}

int main(int argc, char **argv)
{
    options o = parse(argc, argv);
    totals t = {0, 0, 0};
    if (!o.bench)
        check_choice(&t);
    for (const char *const *name = kernels_names; *name; name++) {
        rapt_error err = {0};
        if (o.isa_level && strcmp(o.isa_level, *name) != 0)
            continue;
        const kernels *k = kernels_of_isa(*name, &err);
        if (k) {
            run_level(&o, k, &t);
        } else {
            printf("%-7s skipped: %s\n", *name, err.message);
            t.skipped += ENTRIES;
        }
    }
    free(o.names);
    if (!o.bench)
        printf("%d passed, %d failed, %d skipped\n", t.passed, t.failed, t.skipped);
    return t.failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
