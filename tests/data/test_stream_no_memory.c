/* tests/data/test_stream_no_memory.c: every allocation of making a token file, opening it and cutting windows is made to
 * fail in turn: the failure is reported, nothing crashes, nothing is left. Linked as tests/failing.h says. */
#define _GNU_SOURCE
#include "failing.h"
#include "folder.h"

#include "rapt/stream.h"

#include <string.h>

static char text[FOLDER_ROOM], out[FOLDER_ROOM];
static rapt_tokenizer *tokenizer;

static int set_up(void **state)
{
    if (failing_check_link(state) || folder_make(state))
        return -1;
    strcpy(text, folder_in("text"));
    strcpy(out, folder_in("t.tokens"));
    tokenizer = rapt_tokenizer_train_characters("hello", 5, NULL);
    FILE *file = fopen(text, "w");
    fputs("hello", file);
    return tokenizer && fclose(file) == 0 ? 0 : -1;
}

static int tear_down(void **state)
{
    rapt_tokenizer_free(tokenizer);
    unlink(text);
    unlink(out);
    return folder_remove_empty(state);
}

static size_t temporaries(void)
{
    DIR *dir = opendir(folder_path);
    struct dirent *entry;
    size_t count = 0;
    while ((entry = readdir(dir)))
        count += strstr(entry->d_name, ".tmp") != NULL;
    closedir(dir);
    return count;
}

static rapt_code cut(const rapt_token_file *f, rapt_error *err)
{
    rapt_token_range part = rapt_token_range_all(f);
    rapt_windows *w = rapt_windows_new(f, &part, 3, 100, 1, err);
    if (w)
        rapt_windows_random(w, 1);
    rapt_windows_free(w);
    return err->code;
}

static rapt_code from_file(void)
{
    rapt_error err = {0};
    unlink(out);
    rapt_token_file *f = rapt_token_file_ensure(tokenizer, text, out, &err);
    if (f)
        cut(f, &err);
    rapt_token_file_close(f);
    return err.code;
}

static rapt_code from_ids(void)
{
    rapt_error err = {0};
    rapt_token_file *f = rapt_token_file_from_ids((int32_t[]){1, 2, 3, 4}, 4, 5, &err);
    if (f)
        cut(f, &err);
    rapt_token_file_close(f);
    return err.code;
}

/* A first look at a file that is not there may fail for any reason: it is made. */
static void fail_each_allocation(const char *what, rapt_code (*run)(void), long at_least, long unnoticed)
{
    failing f = {.what = what, .at_least = at_least, .unnoticed = unnoticed};
    rapt_code code;
    do {
        failing_arm(&f);
        code = run();
        failing_disarm();
        assert_int_equal(temporaries(), 0);
    } while (failing_again(&f, code));
}

static void files_survive(void **state)
{
    (void)state;
    fail_each_allocation("a file", from_file, 8, 2); /* the token file that is examined first, and its path */
}

static void ids_survive(void **state)
{
    (void)state;
    fail_each_allocation("ids", from_ids, 4, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(files_survive), cmocka_unit_test(ids_survive)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
