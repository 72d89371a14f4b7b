/* tests/data/test_token_ensure.c: token files that are made once: when they are made again, and the seed's text. For
 * src/data/tokens/token_make.c. What they hold is in test_token_make.c. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "options.h"
#include "token_folder.h"

#include <sys/stat.h>

/* A file that is made anew has another inode: the old one is held open meanwhile. */
static bool ensure_makes(const rapt_tokenizer *k)
{
    struct stat before, after;
    rapt_error err = {0};
    FILE *held = fopen(out, "rb");
    assert_non_null(held);
    assert_int_equal(fstat(fileno(held), &before), 0);
    rapt_token_file *f = rapt_token_file_ensure(k, text, out, &err);
    assert_string_equal(err.message, "");
    assert_non_null(f);
    assert_true(rapt_token_file_tokenizer_hash(f) == rapt_tokenizer_hash(k));
    assert_int_equal(rapt_token_file_count(f), 5);
    rapt_token_file_close(f);
    assert_int_equal(stat(out, &after), 0);
    fclose(held);
    return before.st_ino != after.st_ino;
}

static void change_byte(long at)
{
    FILE *file = fopen(out, "r+b");
    fseek(file, at, SEEK_SET);
    int byte = fgetc(file);
    fseek(file, at, SEEK_SET);
    fputc(byte ^ 1, file);
    fclose(file);
}

static void ensure_makes_what_is_not_there(void **state)
{
    (void)state;
    rapt_tokenizer *k = characters_of("hello");
    int32_t ids[5];
    put_text("hello");
    rapt_token_file *f = rapt_token_file_ensure(k, text, out, NULL);
    assert_non_null(f);
    rapt_token_file_ids(f, 0, 5, ids);
    assert_memory_equal(ids, ((int32_t[]){1, 0, 2, 2, 3}), sizeof ids);
    rapt_token_file_close(f);
    assert_false(ensure_makes(k));
    rapt_tokenizer_free(k);
}

static void ensure_makes_again_what_is_stale_or_damaged(void **state)
{
    (void)state;
    rapt_tokenizer *k = characters_of("hello"), *other = characters_of("hello!");
    put_text("hello");
    assert_made(k);
    put_text("olleh"); /* the same size */
    assert_true(ensure_makes(k));
    assert_false(ensure_makes(k));
    assert_true(ensure_makes(other));
    assert_false(ensure_makes(other));
    for (long at = 8; at < 74; at++) {
        change_byte(at);
        assert_true(ensure_makes(other));
    }
    for (long size = 0; size < 74; size++) {
        assert_int_equal(truncate(out, size), 0);
        assert_true(ensure_makes(other));
    }
    assert_false(ensure_makes(other));
    rapt_tokenizer_free(k);
    rapt_tokenizer_free(other);
}

static int32_t first_id_by(const char *word)
{
    rapt_tokenizer *k = rapt_tokenizer_train_words(&word, 1, &TRAIN_WORDS(), NULL);
    rapt_token_file *f = rapt_token_file_ensure(k, text, out, NULL);
    int32_t id;
    assert_non_null(f);
    rapt_token_file_ids(f, 0, 1, &id);
    rapt_token_file_close(f);
    rapt_tokenizer_free(k);
    return id;
}

/* Only the hash tells these two tokenizers apart. */
static void a_vocabulary_of_the_same_size_is_another(void **state)
{
    (void)state;
    put_text("hello");
    assert_int_equal(first_id_by("hello"), RAPT_SPECIALS);
    assert_int_equal(first_id_by("world"), RAPT_UNK);
}

/* Figures from ../shared/golden/tokenizer/corpus_counts.json, the largest id from the seed text. */
static void the_sales_textbook(void **state)
{
    (void)state;
    const char *shared = getenv("RAPT_SHARED") ? getenv("RAPT_SHARED") : "../shared";
    char spec[1024], book[1024];
    snprintf(spec, sizeof spec, "cl100k_base:%s/data/tokenizers/cl100k_base.tiktoken", shared);
    snprintf(book, sizeof book, "%s/data/sales_textbook/sales_textbook.txt", shared);
    if (access(spec + strlen("cl100k_base:"), R_OK) != 0 || access(book, R_OK) != 0) {
        print_message("%s is not here\n", book);
        skip();
    }
    rapt_error err = {0};
    rapt_tokenizer *k = rapt_tokenizer_load(spec, &err);
    rapt_token_file *f = rapt_token_file_ensure(k, book, out, &err);
    int32_t first[4];
    assert_string_equal(err.message, "");
    assert_int_equal(rapt_token_file_count(f), 77919);
    assert_int_equal(rapt_token_file_max_id(f), 100069);
    assert_int_equal(rapt_token_file_text_bytes(f), 460319);
    assert_int_equal(rapt_token_file_bytes(f, k, 0, 77919), 460319);
    assert_int_equal(rapt_token_range_training(f, 0.9).end, 70127);
    rapt_token_file_ids(f, 0, 4, first);
    assert_memory_equal(first, ((int32_t[]){26072, 220, 16, 25}), sizeof first);
    rapt_token_file_close(f);
    rapt_tokenizer_free(k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(ensure_makes_what_is_not_there, remove_files),
        cmocka_unit_test_teardown(ensure_makes_again_what_is_stale_or_damaged, remove_files),
        cmocka_unit_test_teardown(a_vocabulary_of_the_same_size_is_another, remove_files),
        cmocka_unit_test_teardown(the_sales_textbook, remove_files),
    };
    return cmocka_run_group_tests(tests, make_folder, folder_remove_empty);
}
