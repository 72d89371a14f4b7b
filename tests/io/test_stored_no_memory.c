/* tests/io/test_stored_no_memory.c: every allocation of writing a folder with weights of fewer bits, and of loading it, is made
 * to fail in turn: the failure is reported, no folder appears, nothing leaks. For src/io/stored_file.c, stored_blocks.c and what
 * stands on them. Linked as tests/failing.h says.
 * labels: late */
#define _GNU_SOURCE
#include "failing_json.h"

#include "io/stored_folder.h"
#include "loading.h"

#include <string.h>

static int set_up(void **state)
{
    if (failing_check_link(state))
        return -1;
    failing_count_json();
    return folder_make(state);
}

static rapt_code write_once(const rapt_model *m)
{
    rapt_error err = {0};
    const rapt_export_options o = {.size = sizeof o, .to = RAPT_EXPORT_RAPT, .weights = RAPT_TYPE_Q4_0};
    rapt_code code = rapt_model_export(m, folder_in("s"), &o, &err);
    assert_int_equal(code, err.code);
    assert_true(!code || !file_exists(folder_in("s")) || strstr(err.message, "cannot sync the folder of"));
    return code;
}

static rapt_code load_once(bool inference)
{
    rapt_error err = {0};
    rapt_model *m = load_for(folder_in("s"), inference, &err);
    assert_true((m != NULL) == (err.code == RAPT_OK));
    rapt_model_free(m);
    return err.code;
}

/* What is there of a folder goes after each time. */
static void fail_each(const char *what, rapt_model *m)
{
    const bool uncounted = m->family != NULL; /* libc makes texts, too */
    failing f = {.what = what, .at_least = 20, .threads = true, .uncounted = uncounted};
    bool again = true;
    while (again) {
        stored_remove("s");
        failing_arm(&f);
        again = failing_again(&f, write_once(m));
    }
    rapt_model_free(m);
    for (int inference = 0; inference < 2; inference++) {
        /* A language model's tokenizer that gets no thread of its own is read in this one. */
        failing g = {.what = "loading it", .at_least = 20, .unnoticed = 1, .threads = true, .uncounted = uncounted};
        do {
            failing_arm(&g);
        } while (failing_again(&g, load_once(inference)));
    }
}

static void models_of_rapt(void **state)
{
    (void)state;
    fail_each("storing a language model", stored_lm(STORED_LLAMA));
    fail_each("storing a translator", stored_translator());
}

static void hugging_face_folders(void **state)
{
    (void)state;
    fail_each("storing a language model of Hugging Face", stored_hub(stored_lm(STORED_LLAMA)));
    fail_each("storing a translator of Hugging Face", stored_hub(stored_translator()));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(models_of_rapt), cmocka_unit_test(hugging_face_folders)};
    return cmocka_run_group_tests(tests, set_up, folder_remove);
}
