/* tests/io/test_params.c: a set of parameters by itself, to a file and back; buffers that are not saved; files of another set.
 * For src/io/params_file.c. test_model.c and test_model_damage.c test model folders. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "folder.h"
#include "rapt/io.h"

enum { ROWS = 3, COLUMNS = 2, SIZE = ROWS * COLUMNS };

/* "weight" [3, 2], a buffer "table" [2] that is saved where `persistent`, and "bias" [3] where `bias`. */
static rapt_params *make(uint64_t seed, bool persistent, bool bias)
{
    rapt_params *set = rapt_params_new(seed, NULL);
    const rapt_init normal = {RAPT_INIT_NORMAL, 1};
    rapt_params_add(set, "weight", 2, (size_t[]){ROWS, COLUMNS}, normal);
    rapt_param_make_buffer(rapt_params_add(set, "table", 1, (size_t[]){COLUMNS}, normal), persistent);
    if (bias)
        rapt_params_add(set, "bias", 1, (size_t[]){ROWS}, normal);
    assert_int_equal(rapt_params_error(set)->code, RAPT_OK);
    return set;
}

static const rapt_real *values(const rapt_params *set, const char *name)
{
    return rapt_params_find(set, name)->value.data;
}

static void save(rapt_params *set)
{
    rapt_error err = {0};
    if (rapt_params_save(set, folder_in("p.safetensors"), &err))
        fail_msg("%s", err.message);
}

static void there_and_back(void **state)
{
    (void)state;
    rapt_error err = {0};
    rapt_params *from = make(1, true, true), *to = make(2, true, true);
    save(from);
    assert_memory_not_equal(values(to, "weight"), values(from, "weight"), SIZE * sizeof(rapt_real));
    assert_int_equal(rapt_params_load(to, folder_in("p.safetensors"), &err), RAPT_OK);
    assert_memory_equal(values(to, "weight"), values(from, "weight"), SIZE * sizeof(rapt_real));
    assert_memory_equal(values(to, "table"), values(from, "table"), COLUMNS * sizeof(rapt_real));
    assert_memory_equal(values(to, "bias"), values(from, "bias"), ROWS * sizeof(rapt_real));
    rapt_params_free(from);
    rapt_params_free(to);
}

/* What a set computes itself is neither written nor asked for. */
static void transient_buffers_stay(void **state)
{
    (void)state;
    rapt_error err = {0};
    rapt_params *from = make(1, false, false), *to = make(2, false, false);
    rapt_real before[COLUMNS];
    memcpy(before, values(to, "table"), sizeof before);
    save(from);
    assert_int_equal(rapt_params_load(to, folder_in("p.safetensors"), &err), RAPT_OK);
    assert_memory_equal(values(to, "weight"), values(from, "weight"), SIZE * sizeof(rapt_real));
    assert_memory_equal(values(to, "table"), before, sizeof before);
    rapt_params_free(from);
    rapt_params_free(to);
}

/* A file of the one set is refused by the other, with these words behind its path. */
static void refused(rapt_params *from, rapt_params *to, const char *words)
{
    rapt_error err = {0};
    char *message;
    save(from);
    assert_true(asprintf(&message, "%s: %s", folder_in("p.safetensors"), words) > 0);
    assert_int_equal(rapt_params_load(to, folder_in("p.safetensors"), &err), RAPT_ERR_FORMAT);
    assert_string_equal(err.message, message);
    free(message);
    rapt_params_free(from);
    rapt_params_free(to);
}

static void files_of_other_sets(void **state)
{
    (void)state;
    refused(make(1, true, true), make(1, true, false), "tensor \"bias\" does not belong to this model");
    refused(make(1, true, false), make(1, true, true), "tensor \"bias\" is missing");
    refused(make(1, true, true), make(1, false, true), "tensor \"table\" does not belong to this model");
    refused(make(1, false, true), make(1, true, true), "tensor \"table\" is missing");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_and_back),
        cmocka_unit_test(transient_buffers_stay),
        cmocka_unit_test(files_of_other_sets),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
