/* tests/data/test_corpora_no_memory.c: every allocation of reading, filtering and weighing a list of corpora, and of listing a
 * pass, is made to fail in turn: the failure is reported, nothing crashes, nothing is left. Linked as tests/failing.h says. */
#define _GNU_SOURCE
#include "failing.h"

#include "data/dataset.h"
#include "data/pairs.h"
#include "folder.h"
#include "options.h"

#include <string.h>

static rapt_tokenizer *words;

static int make_files(void **state)
{
    const char *line = "one two", *const names[] = {"a", "b"};
    if (folder_make(state) || failing_check_link(state))
        return -1;
    for (size_t i = 0; i < 2; i++) {
        FILE *f = fopen(folder_in(names[i]), "w");
        if (!f)
            return -1;
        fprintf(f, "one\teins\ntwo\tzwei\none\teins\nthree\tdrei\n");
        fclose(f);
    }
    words = rapt_tokenizer_train_words(&line, 1, &TRAIN_WORDS(), NULL);
    return words ? 0 : -1;
}

static rapt_code read_and_weigh(const char *list)
{
    static const double weights[] = {1.5, 2};
    rapt_error err = {0};
    const check_options filter = {.ratio = 3, .margin = 20, .rules = CHECK_ANY_REASON};
    rapt_pairs *p = pairs_read_filtered(list, 0, &filter, &err);
    rapt_dataset *d = p ? rapt_dataset_new(p, words, words, NULL, &err) : NULL;
    rapt_loader *l = d && !dataset_set_weights(d, p, weights, &err) ? rapt_loader_new(d, NULL, &err) : NULL;
    if (l && !rapt_loader_batch(l, 0, 0))
        rapt_fail(&err, RAPT_ERR_MEMORY, "out of memory");
    rapt_loader_free(l);
    rapt_dataset_free(d);
    rapt_pairs_free(p);
    return err.code;
}

static void test_each_allocation(void **state)
{
    char list[2 * FOLDER_ROOM];
    (void)state;
    snprintf(list, sizeof list, "%s\n", folder_in("a"));
    strcat(list, folder_in("b"));
    failing f = {.what = "reading corpora", .at_least = 20};
    do {
        failing_arm(&f);
    } while (failing_again(&f, read_and_weigh(list)));
}

static int remove_files(void **state)
{
    rapt_tokenizer_free(words);
    return folder_remove(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_allocation)};
    return cmocka_run_group_tests(tests, make_files, remove_files);
}
