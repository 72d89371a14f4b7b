/* tests/base/test_sized.c: options of programs that were compiled with an older header, of none, and of a newer one.
 * For src/base/sized.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/sized.h"

#include <string.h>

/* What a library has now, and what it had when a program was compiled. */
typedef struct now {
    size_t size;
    int beam;
    double temperature, later;
} now;

typedef struct former {
    size_t size;
    int beam;
    double temperature;
} former;

static now defaults(void)
{
    return (now){.size = sizeof(now), .beam = 4, .temperature = 0.8, .later = 2.5};
}

static void a_program_of_today(void **state)
{
    now o = defaults(), given = {.size = sizeof given};
    (void)state;
    assert_int_equal(sized_take(&o, &given, NULL, 0, "it", NULL), RAPT_OK);
    assert_true(o.beam == 0 && o.temperature == 0 && o.later == 0); /* a value is what it says */
    assert_int_equal(o.size, sizeof o);
    o = defaults();
    assert_int_equal(sized_take(&o, NULL, NULL, 0, "it", NULL), RAPT_OK);
    assert_true(o.beam == 4 && o.temperature == 0.8 && o.later == 2.5);
}

static void a_former_program(void **state)
{
    now o = defaults();
    const former given = {.size = sizeof given, .beam = 7, .temperature = 0.1};
    (void)state;
    assert_int_equal(sized_take(&o, &given, NULL, 0, "it", NULL), RAPT_OK);
    assert_true(o.beam == 7 && o.temperature == 0.1 && o.later == 2.5);
    assert_int_equal(o.size, sizeof o);
}

static void refused(size_t size, const char *message)
{
    now o = defaults();
    const now given = {.size = size, .beam = 7};
    rapt_error err = {0};
    assert_int_equal(sized_take(&o, &given, NULL, 0, "bread_options", &err), RAPT_ERR_VALUE);
    assert_string_equal(err.message, message);
    assert_true(o.beam == 4 && o.size == sizeof o);
}

static void other_sizes(void **state)
{
    (void)state;
    refused(0, "options without a size: make them with rapt_bread_options_default()");
    refused(sizeof(size_t) - 1, "options without a size: make them with rapt_bread_options_default()");
    refused(1000, "options of 1000 bytes, made with the headers of a newer rapt: this library's rapt_bread_options have 32");
}

/* The last member of a struct may be reserved: none of its bytes may be set, and a former struct has none of them. */
static void reserved_bytes(void **state)
{
    struct {
        size_t size;
        uint8_t strict, reserved[7];
    } o = {.size = sizeof o}, given = o;
    rapt_error err = {0};
    (void)state;
    given.strict = 1;
    assert_int_equal(sized_take(&o, &given, o.reserved, sizeof o.reserved, "bread_options", &err), RAPT_OK);
    for (size_t i = 0; i < sizeof o.reserved; i++) {
        given.reserved[i] = 1;
        assert_int_equal(sized_take(&o, &given, o.reserved, sizeof o.reserved, "bread_options", &err), RAPT_ERR_VALUE);
        assert_string_equal(err.message, "rapt_bread_options.reserved is not zero: this version of rapt has no members there");
        given.reserved[i] = 0;
        o.reserved[i] = 0;
        err = (rapt_error){0};
    }
    given.size = sizeof(size_t);
    given.reserved[0] = 1; /* behind the end of what is given */
    assert_int_equal(sized_take(&o, &given, o.reserved, sizeof o.reserved, "bread_options", &err), RAPT_OK);
}

/* Where addresses have 32 bits, padding may follow the last member, and a copied struct has there whatever the stack had. */
static void padding_is_no_member(void **state)
{
    struct {
        size_t size;
        double share;
        uint8_t reserved[3];
    } o = {.size = sizeof o}, given;
    const size_t end = offsetof(__typeof__(o), reserved) + sizeof o.reserved;
    (void)state;
    memset(&given, 0, sizeof given);
    memset((char *)&given + end, 0xFF, sizeof given - end);
    given.size = sizeof given;
    assert_true(end < sizeof given);
    assert_int_equal(sized_take(&o, &given, o.reserved, sizeof o.reserved, "it", NULL), RAPT_OK);
}

/* Writes defaults for a program whose struct has `size` bytes, into more memory than that. */
static void filled(size_t size, size_t known)
{
    const now o = defaults();
    unsigned char memory[sizeof o + 16], none[16];
    size_t stored = 0;
    memset(memory, 0xA5, sizeof memory);
    memset(none, 0xA5, sizeof none);
    sized_init(memory, size, &o, sizeof o);
    memcpy(&stored, memory, sizeof stored);
    assert_int_equal(stored, size);
    assert_memory_equal(memory + sizeof stored, (const char *)&o + sizeof stored, known - sizeof stored);
    for (size_t i = known; i < size; i++)
        assert_int_equal(memory[i], 0);
    assert_memory_equal(memory + size, none, sizeof memory - size > sizeof none ? sizeof none : sizeof memory - size);
}

static void options_are_filled_as_far_as_they_go(void **state)
{
    unsigned char memory[4] = {1, 2, 3, 4};
    const now o = defaults();
    (void)state;
    filled(sizeof(former), sizeof(former));
    filled(sizeof(now), sizeof(now));
    filled(sizeof(now) + 8, sizeof(now)); /* a newer program */
    sized_init(memory, 3, &o, sizeof o); /* no room for the size */
    assert_int_equal(memory[3], 4);
}

static void reserved_members(void **state)
{
    double reserved[2] = {0};
    rapt_error err = {0};
    (void)state;
    assert_int_equal(sized_check_reserved(reserved, sizeof reserved, "bread_options", &err), RAPT_OK);
    reserved[1] = 0.5;
    assert_int_equal(sized_check_reserved(reserved, sizeof reserved, "bread_options", &err), RAPT_ERR_VALUE);
    assert_string_equal(err.message, "rapt_bread_options.reserved is not zero: this version of rapt has no members there");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_of_today),
        cmocka_unit_test(a_former_program),
        cmocka_unit_test(other_sizes),
        cmocka_unit_test(options_are_filled_as_far_as_they_go),
        cmocka_unit_test(reserved_bytes), cmocka_unit_test(padding_is_no_member),
        cmocka_unit_test(reserved_members),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
