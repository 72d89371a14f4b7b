/* tests/base/test_cpu_mask.c: what is left of a processor by a mask, against what the makers say that those processors have;
 * which levels come of it, a middle one missing too; what a mask needs and this machine lacks is named. For
 * src/base/cpu_mask.c.
 * labels: levels */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/cpu.h"
#include "kernels/kernels.h"

#include <stdlib.h>
#include <string.h>

static const cpu_features ALL = {.avx2_fma = true, .avx_vnni = true, .avx512 = true, .avx512_vnni = true, .avx512_bf16 = true,
                                 .amx_bf16 = true, .arm_dot = true, .intel = true, .brand = "all of them"};

/* A digit a feature, in the order of `cpu_features`. */
static void of_processor(const char *name, const char *want)
{
    rapt_error err = {0};
    cpu_features f = ALL;
    assert_int_equal(cpu_mask(&f, name, &err), RAPT_OK);
    const bool has[] = {f.avx2_fma, f.avx_vnni, f.avx512, f.avx512_vnni, f.avx512_bf16, f.amx_bf16, f.arm_dot, f.intel};
    char got[sizeof has + 1] = {0};
    for (size_t i = 0; i < sizeof has; i++)
        got[i] = has[i] ? '1' : '0';
    assert_string_equal(got, want);
    assert_string_equal(f.brand, ALL.brand);
}

static void takes_away_what_a_processor_lacks(void **state)
{
    (void)state;
#ifdef __x86_64__
    of_processor("scalar", "00000001");
    of_processor("haswell", "10000001");
    of_processor("alder-lake", "11000001");
    of_processor("skylake-x", "10100001");
    of_processor("ice-lake", "10110001");
    of_processor("zen4", "10111000");
    of_processor("zen5", "11111000");
    of_processor("sapphire-rapids-no-tiles", "11111001");
#else
    of_processor("cortex-a72", "00000000");
    of_processor("neoverse-n1", "00000010");
#endif
}

static void refuses_by_name(void **state)
{
    (void)state;
    rapt_error err = {0};
    cpu_features f = ALL;
    assert_int_equal(cpu_mask(&f, "pentium", &err), RAPT_ERR_VALUE);
    assert_non_null(strstr(err.message, "unknown CPU mask 'pentium'; there are "));
    assert_memory_equal(&f, &ALL, sizeof f);
#ifdef __x86_64__
    f.avx512_bf16 = false;
    const cpu_features before = f;
    err = (rapt_error){0};
    assert_int_equal(cpu_mask(&f, "zen4", &err), RAPT_ERR_NOT_FOUND);
    assert_string_equal(err.message, "CPU mask zen4: this machine lacks avx512_bf16");
    assert_memory_equal(&f, &before, sizeof f);
#endif
}

/* By the environment, where the kernels are chosen. */
static void decides_which_levels_there_are(void **state)
{
    (void)state;
    rapt_error err = {0};
    char *before = getenv("RAPT_CPU_MASK") ? strdup(getenv("RAPT_CPU_MASK")) : NULL;
    setenv("RAPT_CPU_MASK", "pentium", 1);
    assert_null(kernels_of_isa("scalar", &err));
    assert_non_null(strstr(err.message, "unknown CPU mask 'pentium'"));
#ifdef __x86_64__
    static const struct { const char *mask, *first, *gap, *last, *not; } CASES[] = {
        {"scalar", "scalar", "avx2", "scalar", "avx2_vnni"},
        {"haswell", "avx2", "avx2_vnni", "avx2", "avx512"},
        {"alder-lake", "avx2", "avx512", "avx2_vnni", "avx512_vnni"},
        {"skylake-x", "avx2", "avx2_vnni", "avx512", "avx512_vnni"},
        {"ice-lake", "avx2", "avx2_vnni", "avx512_vnni", "avx512_bf16"},
        {"zen4", "avx2", "avx2_vnni", "avx512_bf16", "amx"},
        {"zen5", "avx2_vnni", "amx", "avx512_bf16", "amx"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        err = (rapt_error){0};
        setenv("RAPT_CPU_MASK", CASES[i].mask, 1);
        if (!kernels_of_isa("scalar", &err)) { /* a feature that this machine has not */
            print_message("%s, skipped\n", err.message);
            continue;
        }
        assert_non_null(kernels_of_isa(CASES[i].first, NULL));
        assert_null(kernels_of_isa(CASES[i].gap, NULL));
        assert_non_null(kernels_of_isa(CASES[i].last, NULL));
        assert_null(kernels_of_isa(CASES[i].not, NULL));
    }
#endif
    if (before)
        setenv("RAPT_CPU_MASK", before, 1);
    else
        unsetenv("RAPT_CPU_MASK");
    free(before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_away_what_a_processor_lacks),
        cmocka_unit_test(refuses_by_name),
        cmocka_unit_test(decides_which_levels_there_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
