/* tests/io/test_weights_no_memory.c: every allocation of opening other programs' tensors is made to fail in turn: the failure is
 * reported, nothing crashes, nothing leaks. For src/io/weights. Linked as tests/failing.h says. */
#include "failing_json.h"

#include "io/weights/weights.h"

#define GOLDEN RAPT_SOURCE_DIR "/tests/golden/weights/"

static int set_up(void **state)
{
    failing_count_json();
    return failing_check_link(state);
}

static void fail_each_allocation(const char *path)
{
    failing f = {.what = path, .at_least = 3};
    rapt_error err;
    do {
        weights *w;
        err = (rapt_error){0};
        failing_arm(&f);
        rapt_code code = weights_open(path, &w, &err);
        assert_int_equal(code, err.code);
        assert_true((w != NULL) == (code == RAPT_OK));
        weights_close(w);
    } while (failing_again(&f, err.code));
}

static void one_file(void **state)
{
    (void)state;
    fail_each_allocation(GOLDEN "model.safetensors");
    fail_each_allocation(GOLDEN "pytorch_model.bin");
}

static void shards(void **state)
{
    (void)state;
    fail_each_allocation(GOLDEN "shards");
    fail_each_allocation(GOLDEN "shards_bin");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_file), cmocka_unit_test(shards)};
    return cmocka_run_group_tests(tests, set_up, NULL);
}
