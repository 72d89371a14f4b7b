/* tests/ops/test_environment.c: whoever calls may round upwards and flush denormals to zero; a pass and its threads round
 * to nearest and keep them, at every level. Expected are the exact products, rounded by hand.
 * labels: threads levels */
#define _GNU_SOURCE
#define SERIAL_WORK 1 /* loops of any size go to the threads */
#include "base/pool.c" /* this copy takes the place of the library's */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "levels.h"
#include "rapt/tape.h"

#include <fenv.h>

#define NUMBERS 5000

#if defined(__x86_64__)
#include <xmmintrin.h>
static void flush_denormals(void) { _mm_setcsr(_mm_getcsr() | 0x8040); } /* flush to zero, denormals are zeros */
#elif defined(__aarch64__)
static void flush_denormals(void)
{
    uint64_t control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    __asm__ volatile("msr fpcr, %0" : : "r"(control | 1u << 24));
}
#else
static void flush_denormals(void) {}
#endif

static void upset(void)
{
    flush_denormals();
    fesetround(FE_UPWARD);
}

static int calm(void **state)
{
    (void)state;
    return fesetenv(FE_DFL_ENV);
}

/* alpha x, for NUMBERS equal x, is `want`. */
static void check_product(rapt_tape *t, rapt_real x, rapt_real alpha, rapt_real want)
{
    static rapt_real numbers[NUMBERS];
    for (size_t i = 0; i < NUMBERS; i++)
        numbers[i] = x;
    upset();
    rapt_tape_begin(t, (rapt_pass){0});
    rapt_tensor *y = rapt_op_scale(t, rapt_tape_input(t, 1, (size_t[]){NUMBERS}, numbers, false), (double)alpha);
    calm(NULL); /* or a failure would not be printed as it is */
    for (size_t i = 0; i < NUMBERS; i++)
        if (memcmp(&y->data[i], &want, sizeof want) != 0)
            fail_msg("%a times %a is %a, not %a", (double)x, (double)alpha, (double)y->data[i], (double)want);
}

static void the_format_has_its_own(void **state)
{
    const char *isa = levels_wanted(state);
    rapt_error err = {0};
    const rapt_real above_one = 0x1.000002p0f; /* 1 + u; its square is 1 + 2 u + u^2, nearest to which is 1 + 2 u */
    upset();
    rapt_tape *t = rapt_tape_new(&(rapt_compute){.threads = 4, .isa = isa}, &err); /* its threads inherit both */
    calm(NULL);
    assert_non_null(t);
    check_product(t, 0x1p-126f, 0.5f, 0x1p-127f);
    check_product(t, 0x1p-140f, 16, 0x1p-136f);
    check_product(t, above_one, above_one, 0x1.000004p0f);
    rapt_tape_free(t);
}

int main(void)
{
    struct CMUnitTest tests[LEVELS_MOST] = {{0}};
    levels_tests(tests, "the_format_has_its_own", the_format_has_its_own, kernels_names);
    return cmocka_run_group_tests(tests, NULL, calm);
}
