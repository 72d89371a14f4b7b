/* tests/io/test_safetensors_source.c: tensors that are written from a source in portions make the same file as tensors in
 * memory, in little memory. For safetensors_write_from. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/file.h"
#include "folder.h"
#include "io/safetensors.h"

enum { ENTRIES = 5, MAX_CALLS = 64 };
#define LARGE (SAFETENSORS_PORTION / 4 * 2 + 3) /* numbers of 4 bytes: two whole portions and a rest */

static char path[FOLDER_ROOM], other[FOLDER_ROOM];

typedef struct call {
    size_t entry, offset, bytes;
} call;

/* Tensors in memory, of which a source gives copies. */
typedef struct fixture {
    safetensors_entry entries[ENTRIES];
    float *large;
    uint8_t *bytes;
    call calls[MAX_CALLS];
    size_t count, fails_at; /* calls; the index of the one that fails, or MAX_CALLS */
} fixture;

static const double wide[2] = {0.25, -3.0};
static const int32_t whole[3] = {7, 8, 9};

static int make_fixture(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    if (!f || folder_make(state))
        return -1;
    f->large = malloc(LARGE * sizeof *f->large);
    f->bytes = malloc(SAFETENSORS_PORTION);
    for (size_t i = 0; i < LARGE; i++)
        f->large[i] = (float)(i % 1000) - 0.5f;
    for (size_t i = 0; i < SAFETENSORS_PORTION; i++)
        f->bytes[i] = (uint8_t)(i * 31 >> 3);
    const safetensors_entry all[ENTRIES] = {
        {"bytes", SAFETENSORS_U8, 1, {SAFETENSORS_PORTION}, f->bytes, SAFETENSORS_PORTION},
        {"large", SAFETENSORS_F32, 1, {LARGE}, f->large, LARGE * 4},
        {"none", SAFETENSORS_F32, 2, {0, 3}, NULL, 0},
        {"wide", SAFETENSORS_F64, 1, {2}, wide, sizeof wide},
        {"whole", SAFETENSORS_I32, 1, {3}, whole, sizeof whole},
    };
    memcpy(f->entries, all, sizeof all);
    f->fails_at = MAX_CALLS;
    strcpy(path, folder_in("m.safetensors"));
    strcpy(other, folder_in("other.safetensors"));
    *state = f;
    return 0;
}

static int free_fixture(void **state)
{
    fixture *f = *state;
    free(f->large);
    free(f->bytes);
    free(f);
    unlink(path);
    unlink(other);
    return folder_remove_empty(state);
}

static rapt_code read_copy(void *context, size_t entry, size_t offset, void *to, size_t bytes, rapt_error *err)
{
    fixture *f = context;
    assert_true(f->count < MAX_CALLS);
    if (f->count == f->fails_at)
        return rapt_fail(err, RAPT_ERR_NOT_FINITE, "the source failed");
    f->calls[f->count++] = (call){entry, offset, bytes};
    memcpy(to, (const char *)f->entries[entry].data + offset, bytes);
    return RAPT_OK;
}

/* Writes to `other`, with the entries whose bit is set in `from_source` read from the source. */
static rapt_code write_with(fixture *f, unsigned from_source, rapt_error *err)
{
    const char *const metadata[] = {"step", "3", NULL};
    const safetensors_source source = {read_copy, f};
    safetensors_entry given[ENTRIES];
    memcpy(given, f->entries, sizeof given);
    for (size_t i = 0; i < ENTRIES; i++)
        if (from_source >> i & 1)
            given[i].data = NULL;
    f->count = 0;
    return safetensors_write_from(other, given, ENTRIES, metadata, &source, err);
}

static void files_are_equal(void)
{
    char *a, *b;
    size_t a_size, b_size;
    assert_int_equal(file_read(path, SIZE_MAX, &a, &a_size, NULL), RAPT_OK);
    assert_int_equal(file_read(other, SIZE_MAX, &b, &b_size, NULL), RAPT_OK);
    assert_int_equal(a_size, b_size);
    assert_true(memcmp(a, b, a_size) == 0);
    free(a);
    free(b);
}

static void any_choice_of_entries_gives_the_same_file(void **state)
{
    const char *const metadata[] = {"step", "3", NULL};
    fixture *f = *state;
    rapt_error err = {0};
    assert_int_equal(safetensors_write(path, f->entries, ENTRIES, metadata, &err), RAPT_OK);
    for (unsigned choice = 0; choice < 1 << ENTRIES; choice += choice < 2 ? 1 : 5) {
        rapt_code code = write_with(f, choice, &err);
        assert_string_equal(err.message, "");
        assert_int_equal(code, RAPT_OK);
        files_are_equal();
    }
    safetensors *s;
    assert_int_equal(safetensors_open(other, &s, &err), RAPT_OK);
    assert_true(safetensors_is_checked(s));
    safetensors_close(s);
}

static void each_byte_is_asked_for_once_in_the_order_of_the_file(void **state)
{
    fixture *f = *state;
    rapt_error err = {0};
    const size_t p = SAFETENSORS_PORTION;
    const call wanted[] = {{3, 0, 16}, {1, 0, p}, {1, p, p}, {1, 2 * p, 12}, {4, 0, 12}, {0, 0, p}};
    assert_int_equal(write_with(f, 0x1F, &err), RAPT_OK);
    assert_int_equal(f->count, sizeof wanted / sizeof *wanted);
    assert_memory_equal(f->calls, wanted, sizeof wanted);
}

static void a_source_that_fails_leaves_the_old_file(void **state)
{
    fixture *f = *state;
    rapt_error err = {0};
    const safetensors_entry old = {"old", SAFETENSORS_F64, 1, {2}, wide, sizeof wide};
    assert_int_equal(safetensors_write(path, &old, 1, NULL, &err), RAPT_OK);
    assert_int_equal(safetensors_write(other, &old, 1, NULL, &err), RAPT_OK);
    for (f->fails_at = 0; f->fails_at < 6; f->fails_at++) {
        err = (rapt_error){0};
        assert_int_equal(write_with(f, 0x1F, &err), RAPT_ERR_NOT_FINITE);
        assert_string_equal(err.message, "the source failed");
        assert_int_equal(f->count, f->fails_at);
        assert_int_equal(folder_entries(folder_path), 2);
        files_are_equal();
    }
}

static rapt_code read_index(void *context, size_t entry, size_t offset, void *to, size_t bytes, rapt_error *err)
{
    (void)context, (void)entry, (void)err;
    memset(to, (int)(offset / SAFETENSORS_PORTION), bytes);
    return RAPT_OK;
}

static size_t peak_bytes(void)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return (size_t)use.ru_maxrss * 1024;
}

static void memory_does_not_grow_with_the_file(void **state)
{
    (void)state;
    const size_t bytes = 25 * SAFETENSORS_PORTION;
    const safetensors_entry large = {"large", SAFETENSORS_F32, 1, {bytes / 4}, NULL, bytes};
    const safetensors_source source = {read_index, NULL};
    size_t before = peak_bytes();
    assert_int_equal(safetensors_write_from(other, &large, 1, NULL, &source, NULL), RAPT_OK);
    assert_true(peak_bytes() - before < 3 * SAFETENSORS_PORTION);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_fixture, free_fixture)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(memory_does_not_grow_with_the_file), /* first: the peak is the whole process's */
        TEST(any_choice_of_entries_gives_the_same_file),
        TEST(each_byte_is_asked_for_once_in_the_order_of_the_file),
        TEST(a_source_that_fails_leaves_the_old_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
