/* tests/base/test_suggest.c: "did you mean ...?" and the quoting of foreign text, by hand-counted examples.
 * For src/base/suggest.c and src/base/quote.c.
 * Not a test of any command's list of words. */
#define _GNU_SOURCE /* mkdtemp */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/near_path.h"
#include "base/quote.h"
#include "base/suggest.h"

static const char *const words[] = {"train", "translate", "generate", "model.layers", "model.dropout", "lr"};
enum { WORDS = sizeof words / sizeof *words };

static void near_words(void **state)
{
    (void)state;
    assert_string_equal(suggest_nearest("tarin", words, WORDS), "train");               /* a swap */
    assert_string_equal(suggest_nearest("trainn", words, WORDS), "train");              /* an insertion */
    assert_string_equal(suggest_nearest("trin", words, WORDS), "train");                /* a deletion */
    assert_string_equal(suggest_nearest("model.laiers", words, WORDS), "model.layers"); /* a replacement */
    assert_string_equal(suggest_nearest("MODEL.Layers", words, WORDS), "model.layers");
    assert_string_equal(suggest_nearest("genrete", words, WORDS), "generate"); /* two edits in seven */
    assert_string_equal(suggest_nearest("l", words, WORDS), "lr");
    assert_string_equal(suggest_nearest("train", words, WORDS), "train");
}

static void far_words(void **state)
{
    (void)state;
    char longer[200];
    memset(longer, 'a', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    assert_null(suggest_nearest("xyzzy", words, WORDS));
    assert_null(suggest_nearest("", words, WORDS));
    assert_null(suggest_nearest("ab", words, WORDS)); /* two edits from "lr", one is allowed */
    assert_null(suggest_nearest(longer, words, WORDS));
    assert_null(suggest_nearest("train", words, 0));
}

static void longest_words_fit(void **state)
{
    (void)state;
    char word[65], candidate[65];
    memset(word, 'a', 64);
    word[64] = '\0';
    strcpy(candidate, word);
    candidate[63] = 'b';
    const char *const candidates[] = {candidate};
    assert_string_equal(suggest_nearest(word, candidates, 1), candidate);
}

static void the_first_of_equals_wins(void **state)
{
    (void)state;
    const char *const candidates[] = {"beta1", "beta2"};
    assert_string_equal(suggest_nearest("beta", candidates, 2), "beta1");
}

static void synonyms_come_before_spelling(void **state)
{
    static const char *const keys[] = {"model.kv_heads", "model.heads", "beam", "max-tokens", "tiny-shakespeare"};
    (void)state;
    assert_string_equal(suggest_nearest("num_heads", keys, 5), "model.heads");
    assert_string_equal(suggest_nearest("Num-Heads", keys, 5), "model.heads");
    assert_string_equal(suggest_nearest("max_new_tokens", keys, 5), "max-tokens");
    assert_null(suggest_nearest("num_heads", keys + 2, 3)); /* what it stands for is not among them */
    assert_null(suggest_synonym("heads", keys, 5));
}

static void parts_of_one_name(void **state)
{
    static const char *const names[] = {"tiny-shakespeare", "sales-textbook", "top-k", "top-p"};
    (void)state;
    assert_string_equal(suggest_nearest("shakespeare", names, 4), "tiny-shakespeare");
    assert_string_equal(suggest_nearest("sales", names, 4), "sales-textbook");
    assert_null(suggest_nearest("textb", names, 4)); /* no whole part */
    assert_null(suggest_nearest("top", names + 2, 0));
    assert_string_equal(suggest_nearest("top", names + 3, 1), "top-p");
}

static void paths_of_the_same_folder(void **state)
{
    char folder[] = "/tmp/rapt-near-XXXXXX", path[100], text[NEAR_PATH_TEXT], wanted[NEAR_PATH_TEXT];
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/quickstart.yaml", folder);
    fclose(fopen(path, "w"));
    snprintf(wanted, sizeof wanted, "; did you mean \"%s\"?", path);
    path[strlen(path) - 3] = '\0'; /* quickstart.ya */
    errno = ENOENT;
    assert_string_equal(near_path(path, text), wanted);
    assert_int_equal(errno, ENOENT);
    strcat(path, "/"); /* as a shell completes it */
    assert_string_equal(near_path(path, text), wanted);
    snprintf(path, sizeof path, "%s/other", folder);
    assert_string_equal(near_path(path, text), "");
    assert_string_equal(near_path("/tmp/no such folder/quickstart.yml", text), "");
    assert_string_equal(near_path("", text), "");
    snprintf(path, sizeof path, "%s/quickstart.yaml", folder);
    remove(path);
    rmdir(folder);
}

static void quoting(void **state)
{
    (void)state;
    char euros[121] = "";
    for (int i = 0; i < 40; i++)
        strcat(euros, "\xE2\x82\xAC");
    assert_string_equal(quote("plain").text, "plain");
    assert_string_equal(quote("a\nb\x1B[1m\x7F").text, "a?b?[1m?");
    assert_string_equal(quote("caf\xC3\xA9").text, "caf\xC3\xA9");
    quoted cut = quote(euros); /* 99 bytes have room; 96 + "..." is cut between two characters */
    assert_int_equal(strlen(cut.text), 99);
    assert_memory_equal(cut.text, euros, 96);
    assert_string_equal(cut.text + 96, "...");
    cut = quote(euros +
                1); /* starting with two stray bytes, the cut would split a character: one less is kept */
    assert_int_equal(strlen(cut.text), 98);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(near_words),        cmocka_unit_test(far_words),
        cmocka_unit_test(longest_words_fit), cmocka_unit_test(the_first_of_equals_wins),
        cmocka_unit_test(synonyms_come_before_spelling),
        cmocka_unit_test(parts_of_one_name),
        cmocka_unit_test(paths_of_the_same_folder),
        cmocka_unit_test(quoting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
