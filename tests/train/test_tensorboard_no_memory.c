/* tests/train/test_tensorboard_no_memory.c: events for TensorBoard, where each allocation fails in turn: the file is as it was or
 * as it should be. What is in it: tests/cli/check_tensorboard.sh. Linked as tests/failing.h says. */
#define _GNU_SOURCE
#include "failing_json.h"

#include "base/file.h"
#include "folder.h"
#include "train/folder/tensorboard.h"

#include <string.h>

#define LINES "{\"step\": 1, \"loss\": 2.5, \"seconds\": 0.5}\n{\"step\": 2, \"loss\": 1.25, \"seconds\": 1.5}\n"

static int set_up(void **state)
{
    if (failing_check_link(state))
        return -1;
    failing_count_json();
    return 0;
}

static char *read_events(size_t *size)
{
    char *data = NULL;
    *size = 0;
    file_read_regular(TENSORBOARD_FILE, 1 << 20, &data, size, NULL);
    return data;
}

static void appending(void **state)
{
    const char *line = strchr(LINES, '\n') + 1;
    const size_t length = strlen(line) - 1;
    failing f = {.what = "appending", .at_least = 5};
    rapt_code code;
    size_t size, wanted_size;
    (void)state;
    assert_int_equal(tensorboard_rewrite(".", LINES, strlen(LINES), NULL), RAPT_OK);
    char *wanted = read_events(&wanted_size);
    assert_int_equal(tensorboard_rewrite(".", LINES, (size_t)(line - LINES), NULL), RAPT_OK);
    char *before = read_events(&size), *after;
    const size_t before_size = size;
    free(before);
    do {
        after = read_events(&size);
        assert_int_equal(size, before_size);
        free(after);
        rapt_error err = {0};
        failing_arm(&f);
        code = tensorboard_append(".", line, length, &err);
        failing_disarm();
        assert_true(code == RAPT_OK || strstr(err.message, "out of memory"));
    } while (failing_again(&f, code));
    after = read_events(&size);
    assert_int_equal(size, wanted_size);
    assert_memory_equal(after, wanted, size);
    free(after);
    free(wanted);
}

static void rewriting(void **state)
{
    static const char other[] = "{\"step\": 3}\n";
    failing f = {.what = "rewriting", .at_least = 5, .unnoticed = 2}; /* a file that cannot be compared is written */
    rapt_code code;
    size_t size, wanted_size;
    (void)state;
    assert_int_equal(tensorboard_rewrite(".", LINES, strlen(LINES), NULL), RAPT_OK);
    char *wanted = read_events(&wanted_size), *after;
    assert_int_equal(tensorboard_rewrite(".", other, strlen(other), NULL), RAPT_OK);
    char *before = read_events(&size);
    const size_t before_size = size;
    do {
        assert_int_equal(tensorboard_rewrite(".", other, strlen(other), NULL), RAPT_OK);
        failing_arm(&f);
        code = tensorboard_rewrite(".", LINES, strlen(LINES), NULL);
        failing_disarm();
        after = read_events(&size);
        const bool whole = size == wanted_size && memcmp(after, wanted, size) == 0;
        assert_true(whole || (code && size == before_size && memcmp(after, before, size) == 0));
        free(after);
    } while (failing_again(&f, code));
    free(before);
    free(wanted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {IN_FOLDER(appending), IN_FOLDER(rewriting)};
    return cmocka_run_group_tests(tests, set_up, NULL);
}
