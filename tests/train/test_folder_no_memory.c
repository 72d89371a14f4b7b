/* tests/train/test_folder_no_memory.c: whatever allocation of a language-model run fails, folders that were there stay, and
 * of a run that has not got as far as to write nothing is left. For src/train/task/task_language_model.c and src/base/lock.c. */
#define _GNU_SOURCE
#include "failing.h"

#include "train/train_folder.h"

/* Removes what a run has left in a folder, not the folder. */
static void empty(const char *folder)
{
    char command[128];
    snprintf(command, sizeof command, "find %s -mindepth 1 -delete", folder);
    assert_int_equal(system(command), 0);
}

static rapt_code train_into(const rapt_recipe *r, const char *out, long turn, bool *failed)
{
    rapt_error err = {0};
    const failing f = {.turn = turn};
    const rapt_train_options o = {.size = sizeof o, .recipe = r, .out = out, .threads = 1};
    failing_arm(&f);
    rapt_code code = rapt_train(&o, &err);
    *failed = failing_happened > 0;
    failing_disarm();
    return code;
}

static void folders_stay(void **state)
{
    (void)state;
    bool failed = true, trains = false;
    put_words("text.txt", 60);
    rapt_recipe r = lm_recipe("data.text=text.txt:text.txt train.steps=1 data.validation_fraction=0");
    assert_int_equal(file_make_dir("old/empty", NULL), RAPT_OK);
    for (long turn = 0; failed && !trains; turn++) { /* until the set-up is done */
        rapt_code code = train_into(&r, "old/empty", turn, &failed);
        assert_true(failed || code == RAPT_OK);
        assert_true(file_exists("old/empty"));
        assert_false(file_exists("old/empty/.rapt-lock"));
        assert_true(!file_exists("old/empty/text.tokens") || file_exists("old/empty/recipe.yaml"));
        trains = code && file_exists("old/empty/train.jsonl");
        empty("old/empty");
        bool again;
        code = train_into(&r, "old/empty/new/m", turn, &again);
        if (code && !file_exists("old/empty/new/m/config.json"))
            assert_false(file_exists("old/empty/new"));
        empty("old/empty");
    }
    rapt_recipe_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {IN_FOLDER(folders_stay)};
    return cmocka_run_group_tests(tests, failing_check_link, NULL);
}
