/* tests/text/test_json_text.c: reals in JSON have the fewest digits that read back; strings and whole numbers stay.
 * And integers of any size are read. */
#include "text/json_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void check(json_t *root, size_t flags, const char *wanted)
{
    char *text = json_text(root, flags);
    assert_non_null(text);
    assert_string_equal(text, wanted);
    free(text);
    json_decref(root);
}

static void test_reals(void **state)
{
    (void)state;
    check(json_pack("[f, f, f, f, f, f]", 0.1, 1e-5, 0.088, 1.0, -2.5e300, 0.1 + 0.2), JSON_COMPACT,
          "[0.1,1e-5,0.088,1.0,-2.5e300,0.30000000000000004]");
    check(json_pack("{s:f, s:i}", "a", 0.98131594480922113, "b", 7), 0, "{\"a\": 0.9813159448092211, \"b\": 7}");
    check(json_pack("[f]", 1e16), 0, "[1e16]");
    check(json_pack("[f, f, f]", 1234567890123450.0, 12345678901234560.0, -1234567890123450.0), JSON_COMPACT,
          "[1234567890123450.0,12345678901234560.0,-1234567890123450.0]"); /* an exponent would need a place more */
    check(json_pack("[f, I]", -0.0, (json_int_t)9007199254740993), 0, "[-0.0, 9007199254740993]");
}

/* What looks like a number within a string is text. */
static void test_strings(void **state)
{
    (void)state;
    check(json_pack("[s, s, s, b]", "0.10000000000000001", "a \"1.50\" \\", "e.E+-", 1), 0,
          "[\"0.10000000000000001\", \"a \\\"1.50\\\" \\\\\", \"e.E+-\", true]");
    check(json_pack("{s:f}", "1.50\\\"2.50", 0.1), JSON_INDENT(2), "{\n  \"1.50\\\\\\\"2.50\": 0.1\n}");
}

/* A precision that somebody asks for is kept. */
static void test_precision(void **state)
{
    (void)state;
    check(json_pack("[f]", 1.0 / 3), JSON_REAL_PRECISION(4), "[0.3333]");
}

/* What a text says once it was read: "refused", or its JSON. */
static void check_read(const char *json, const char *wanted)
{
    json_error_t where;
    char *text = malloc(strlen(json) + 1); /* of just the right size, which the sanitizer watches */
    memcpy(text, json, strlen(json));
    json_t *root = json_text_read(text, strlen(json), JSON_DECODE_ANY, &where);
    free(text);
    if (root)
        check(root, JSON_ENCODE_ANY | JSON_COMPACT, wanted);
    else
        assert_string_equal("refused", wanted);
}

static void test_integers_beyond_64_bits(void **state)
{
    (void)state;
    check_read("{\"model_max_length\": 1000000000000000019884624838656, \"x\":[1]}",
               "{\"model_max_length\":1e30,\"x\":[1]}");
    check_read("1000000000000000019884624838656", "1e30");
    check_read("-1000000000000000019884624838656", "-1e30");
    check_read("9223372036854775807", "9223372036854775807");
    check_read("9223372036854775808", "9.223372036854776e18");
    check_read("-9223372036854775808", "-9223372036854775808");
    check_read("-9223372036854775809", "-9.223372036854776e18");
    check_read("[0.1234567890123456789012, 12345678901234567890.5, 1e5]", "[0.12345678901234568,1.2345678901234567e19,100000.0]");
    check_read("\"1000000000000000019884624838656\"", "\"1000000000000000019884624838656\"");
    check_read("{\"\\\"\\\\\": \"\\\\\", \"1\": 99999999999999999999}", "{\"\\\"\\\\\":\"\\\\\",\"1\":1e20}");
    static const char *const wrong[] = {"", "1-2", "--1", "\"", "\"\\", "\"99999999999999999999", "00000000000000000000000"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        check_read(wrong[i], "refused");
}

static void test_nothing(void **state)
{
    (void)state;
    assert_null(json_text(NULL, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_reals), cmocka_unit_test(test_strings),
                                       cmocka_unit_test(test_precision), cmocka_unit_test(test_nothing),
                                       cmocka_unit_test(test_integers_beyond_64_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
