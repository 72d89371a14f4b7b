/* tests/base/test_process.c: what the process knows of itself is what the system tells a program that asks it another way, and
 * local time is the time of the zone. For src/base/process.h, clock.h and system_random.h. */
#define _GNU_SOURCE
#include "base/clock.h"
#include "base/process.h"
#include "base/system_random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cmocka.h>

static void test_names(void **state)
{
    struct utsname names;
    char host[128], cut[3] = "xx";
    (void)state;
    uname(&names);
    process_host(host, sizeof host);
    assert_string_equal(host, names.nodename);
    process_host(cut, sizeof cut);
    assert_int_equal(cut[2], '\0');
    assert_int_equal(strncmp(cut, host, 2), 0);
    assert_int_equal(process_id(), getpid());
}

/* The mask that the kernel writes in hexadecimal digits, with commas. */
static int cpus_of_kernel(void)
{
    char line[1024];
    int bits = 0;
    FILE *status = fopen("/proc/self/status", "r");
    assert_non_null(status);
    while (fgets(line, sizeof line, status))
        for (const char *at = strncmp(line, "Cpus_allowed:", 13) == 0 ? line + 13 : ""; *at; at++)
            bits += __builtin_popcount((unsigned)strtoul((char[]){*at == ',' ? '0' : *at, '\0'}, NULL, 16));
    fclose(status);
    return bits;
}

static void test_cpus(void **state)
{
    uint8_t own[128] = {0}, small[1] = {0};
    int bits = 0;
    const int counted = cpus_of_kernel();
    (void)state;
    process_affinity(false, own, sizeof own);
    for (size_t i = 0; i < sizeof own; i++)
        bits += __builtin_popcount(own[i]);
    process_affinity(false, small, sizeof small);
    assert_int_equal(process_cpus(), counted);
    assert_int_equal(bits, counted);
    assert_int_equal(small[0], own[0]);
}

static void test_local_time(void **state)
{
    struct tm t;
    (void)state;
    setenv("TZ", "XYZ-2", 1); /* two hours east */
    tzset();
    assert_true(clock_local(86400 * 365, &t)); /* 1971 */
    assert_int_equal(t.tm_year, 71);
    assert_int_equal(t.tm_yday, 0);
    assert_int_equal(t.tm_hour, 2);
}

static void test_random(void **state)
{
    uint64_t a = 0, b = 0;
    (void)state;
    assert_true(system_random(&a));
    assert_true(system_random(&b));
    assert_true(a != b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_names), cmocka_unit_test(test_cpus),
                                       cmocka_unit_test(test_local_time), cmocka_unit_test(test_random)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
