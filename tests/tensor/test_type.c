/* tests/tensor/test_type.c: names of numeric types, and places that take only some of them.
 * For src/tensor/type.c. labels: not-raced */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "rapt/tape.h"
#include "tensor/type.h"

static void names(void **state)
{
    static const struct { rapt_type type; const char *name; } all[] = {
        {RAPT_TYPE_FP32, "fp32"}, {RAPT_TYPE_BF16, "bf16"}, {RAPT_TYPE_Q8_0, "q8_0"}, {RAPT_TYPE_Q4_0, "q4_0"},
        {RAPT_TYPE_FP16, "fp16"}};
    static const char *const others[] = {"", "fp", "fp322", "FP32", "f16", "q8"};
    rapt_type type;
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        assert_string_equal(rapt_type_name(all[i].type), all[i].name);
        assert_int_equal(rapt_type_parse(all[i].name, &type, NULL), RAPT_OK);
        assert_int_equal(type, all[i].type);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_int_equal(rapt_type_parse(others[i], &type, NULL), RAPT_ERR_VALUE);
    assert_null(rapt_type_name((rapt_type)5));
    assert_null(rapt_type_name((rapt_type)-1));
}

static void message_is(rapt_error *err, const char *wanted)
{
    assert_int_equal(err->code, RAPT_ERR_VALUE);
    assert_string_equal(err->message, wanted);
    *err = (rapt_error){0};
}

static void places(void **state)
{
    rapt_error err = {0};
    (void)state;
    for (rapt_type type = RAPT_TYPE_FP32; type <= RAPT_TYPE_Q4_0; type++)
        assert_int_equal(type_check_products(type, &err), RAPT_OK);
    for (rapt_type type = RAPT_TYPE_FP32; type <= RAPT_TYPE_Q8_0; type++)
        assert_int_equal(type_check_kv(type, &err), RAPT_OK);
    assert_null(rapt_tape_new(&(rapt_compute){.type = RAPT_TYPE_FP16}, &err));
    message_is(&err, "matrix products in fp16; there are fp32, bf16, q8_0 and q4_0");
    assert_null(rapt_tape_new(&(rapt_compute){.type = (rapt_type)17}, &err));
    message_is(&err, "matrix products in type 17; there are fp32, bf16, q8_0 and q4_0");
    type_check_kv(RAPT_TYPE_Q4_0, &err);
    message_is(&err, "keys and values in q4_0; there are fp32, bf16 and q8_0");
    type_check_kv((rapt_type)-1, &err);
    message_is(&err, "keys and values in type -1; there are fp32, bf16 and q8_0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),
        cmocka_unit_test(places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
