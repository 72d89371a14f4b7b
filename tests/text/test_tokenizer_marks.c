/* test_tokenizer_marks.c: byte pairs for translation: <unk> <pad> <bos> <eos> have the ids that words give them, and what is
 * decoded is a line of text. For src/text/bpe/byte_bpe.c and the files that it is kept in. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "folder.h"
#include "options.h"
#include "rapt/text.h"

#include <stdlib.h>
#include <string.h>

static const char TEXT[] = "low low low lower lower newest newest newest widest <eos> <eos> <eos>\n";

static rapt_tokenizer *marked(void)
{
    rapt_bpe_options o = TRAIN_BPE(.vocab_size = 270, .specials_first = true);
    rapt_tokenizer *k = rapt_tokenizer_train_bpe(TEXT, sizeof TEXT - 1, &o, NULL);
    assert_non_null(k);
    return k;
}

static rapt_tokenizer *unmarked(void)
{
    rapt_bpe_options o = TRAIN_BPE(.vocab_size = 266);
    rapt_tokenizer *k = rapt_tokenizer_train_bpe(TEXT, sizeof TEXT - 1, &o, NULL);
    assert_non_null(k);
    return k;
}

static void test_marks_come_first(void **state)
{
    (void)state;
    rapt_tokenizer *k = marked(), *plain = unmarked();
    size_t size;
    assert_int_equal(rapt_tokenizer_size(k), 270);
    assert_string_equal(rapt_tokenizer_token(k, RAPT_UNK, NULL), "<unk>");
    assert_string_equal(rapt_tokenizer_token(k, RAPT_PAD, NULL), "<pad>");
    assert_string_equal(rapt_tokenizer_token(k, RAPT_BOS, NULL), "<bos>");
    assert_string_equal(rapt_tokenizer_token(k, RAPT_EOS, NULL), "<eos>");
    assert_int_equal(*rapt_tokenizer_token(k, RAPT_SPECIALS + 'q', &size), 'q'); /* then the bytes */
    assert_int_equal(size, 1);
    assert_true(rapt_tokenizer_has_specials(k));
    assert_false(rapt_tokenizer_has_specials(plain));
    rapt_tokenizer_free(k);
    rapt_tokenizer_free(plain);
}

/* The merges equal a tokenizer's without marks, four ids later; text that looks like a mark is none. */
static void test_ids_are_later_by_four(void **state)
{
    static const char *const texts[] = {"lowest", " low lower", "<eos>", "a\xC3\xA9 <pad>"};
    rapt_tokenizer *k = marked(), *plain = unmarked();
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        int32_t *a, *b;
        size_t n, m;
        assert_int_equal(rapt_tokenizer_encode(k, texts[i], &a, &n, NULL), RAPT_OK);
        assert_int_equal(rapt_tokenizer_encode(plain, texts[i], &b, &m, NULL), RAPT_OK);
        assert_int_equal(n, m);
        for (size_t j = 0; j < n; j++)
            assert_int_equal(a[j], b[j] + RAPT_SPECIALS);
        free(a);
        free(b);
    }
    rapt_tokenizer_free(k);
    rapt_tokenizer_free(plain);
}

static void decodes(const rapt_tokenizer *k, const int32_t *ids, size_t count, const char *expected)
{
    size_t size;
    char *text = rapt_tokenizer_decode(k, ids, count, &size);
    assert_string_equal(text, expected);
    assert_int_equal(size, strlen(expected));
    free(text);
}

static void test_decoding_gives_a_line(void **state)
{
    rapt_tokenizer *k = marked();
    const int32_t b = RAPT_SPECIALS;
    (void)state;
    decodes(k, (int32_t[]){RAPT_BOS, b + 'a', RAPT_PAD, RAPT_UNK, b + 'b', RAPT_EOS, b + 'c'}, 7, "ab");
    decodes(k, (int32_t[]){b + 'a', b + '\n', b + '\r', b + 0, b + 'b'}, 5, "a   b");
    decodes(k, (int32_t[]){b + 'a', b + 0xC3, b + 'b', b + 0xC3, b + 0xA9, b + 0xFF}, 6, "a\xEF\xBF\xBD" "b\xC3\xA9\xEF\xBF\xBD");
    decodes(k, NULL, 0, "");
    rapt_tokenizer_free(k);
}

static void test_it_is_kept_in_a_file(void **state)
{
    rapt_tokenizer *k = marked();
    (void)state;
    assert_int_equal(rapt_tokenizer_save(k, folder_in("t.json"), NULL), RAPT_OK);
    rapt_error err = {0};
    rapt_tokenizer *again = rapt_tokenizer_load(folder_in("t.json"), &err);
    assert_string_equal(err.message, "");
    assert_true(rapt_tokenizer_has_specials(again));
    assert_true(rapt_tokenizer_hash(k) == rapt_tokenizer_hash(again));
    rapt_tokenizer_free(k);
    rapt_tokenizer_free(again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_marks_come_first), cmocka_unit_test(test_ids_are_later_by_four),
        cmocka_unit_test(test_decoding_gives_a_line), cmocka_unit_test(test_it_is_kept_in_a_file),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
