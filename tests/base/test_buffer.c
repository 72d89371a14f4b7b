/* tests/base/test_buffer.c: growing arrays and buffers: contents survive growth, what fails leaves everything as it was. A writer
 * stays failed. */
#include "base/buffer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static void array_keeps_its_elements(void **state)
{
    (void)state;
    int32_t *ids = NULL;
    size_t capacity = 0, grown = 0;
    for (size_t i = 0; i < 100000; i++) {
        size_t before = capacity;
        assert_true(ARRAY_RESERVE(&ids, &capacity, i + 1));
        grown += capacity != before;
        ids[i] = (int32_t)i;
    }
    assert_in_range(grown, 2, 20); /* doubling, not one reallocation an element */
    for (size_t i = 0; i < 100000; i++)
        assert_int_equal(ids[i], i);
    free(ids);
}

static void array_refuses_what_overflows(void **state)
{
    (void)state;
    double *numbers = NULL;
    size_t capacity = 0;
    assert_true(ARRAY_RESERVE(&numbers, &capacity, 3));
    double *before = numbers;
    size_t capacity_before = capacity;
    assert_false(ARRAY_RESERVE(&numbers, &capacity, SIZE_MAX / 4));
    assert_ptr_equal(numbers, before);
    assert_int_equal(capacity, capacity_before);
    free(numbers);
}

static void buffer_ends_with_nul(void **state)
{
    (void)state;
    buffer b = {0};
    assert_true(buffer_append(&b, NULL, 0));
    assert_string_equal(b.data, "");
    for (int i = 0; i < 1000; i++)
        assert_true(buffer_append(&b, "ab", 2));
    assert_int_equal(b.size, 2000);
    assert_int_equal(strlen(b.data), 2000);
    assert_false(buffer_reserve(&b, SIZE_MAX - 100));
    assert_int_equal(b.size, 2000);
    buffer_free(&b);
    assert_null(b.data);
    assert_int_equal(b.size + b.capacity, 0);
}

static void writer_keeps_its_failure(void **state)
{
    (void)state;
    buffer_writer w = {0};
    for (int i = 0; i < 1000; i++)
        buffer_print(&w, "%s%04d", i ? "," : "", i);
    buffer_put(&w, "\0.", 2);
    assert_false(w.failed);
    assert_int_equal(w.bytes.size, 1000 * 5 - 1 + 2);
    assert_memory_equal(w.bytes.data, "0000,0001,0002", 14);
    assert_memory_equal(w.bytes.data + w.bytes.size - 6, "0999\0.", 7);
    buffer_put(&w, "x", SIZE_MAX - 100); /* more than there can be */
    assert_true(w.failed);
    buffer_put(&w, "y", 1);
    buffer_print(&w, "%d", 1);
    assert_true(w.failed);
    assert_int_equal(w.bytes.size, 1000 * 5 - 1 + 2);
    buffer_free(&w.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(array_keeps_its_elements),
        cmocka_unit_test(array_refuses_what_overflows),
        cmocka_unit_test(buffer_ends_with_nul),
        cmocka_unit_test(writer_keeps_its_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
