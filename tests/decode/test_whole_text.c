/* tests/decode/test_whole_text.c: bytes as tokens, and which of them may follow by Unicode's table 3-7. For
 * src/search/whole_text.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "options.h"
#include "search/whole_text.h"

#include <math.h>
#include <string.h>

enum { BYTES = RAPT_SPECIALS, MERGED = BYTES + 256, CLASSES = MERGED + 1 };

/* The four special tokens, 256 bytes, and the one merge of "\x81\xE4": the end of a character and the beginning of another. */
static rapt_tokenizer *bytes_tokenizer(void)
{
    rapt_bpe_options o = TRAIN_BPE(.vocab_size = CLASSES, .pattern = "[\\s\\S]+", .specials_first = true, .threads = 1);
    rapt_tokenizer *k = rapt_tokenizer_train_bpe("\x81\xE4\x81\xE4\x81\xE4\x81\xE4", 8, &o, NULL);
    size_t size;
    assert_non_null(k);
    assert_int_equal(rapt_tokenizer_size(k), CLASSES);
    assert_memory_equal(rapt_tokenizer_token(k, MERGED, &size), "\x81\xE4", 2);
    return k;
}

static size_t ids_of(const char *text, int32_t *ids)
{
    size_t n = strlen(text);
    for (size_t i = 0; i < n; i++)
        ids[i] = BYTES + (unsigned char)text[i];
    return n;
}

static bool is_whole(const rapt_tokenizer *k, const char *text)
{
    int32_t ids[32];
    return whole_text_is(k, ids, ids_of(text, ids));
}

static void what_is_whole(void **state)
{
    (void)state;
    rapt_tokenizer *k = bytes_tokenizer();
    const int32_t ended[] = {BYTES + 'a', RAPT_EOS, BYTES + 0xE4}, within[] = {BYTES + 0xE4, BYTES + 0xBD, RAPT_EOS};
    const int32_t hidden[] = {BYTES + 0xE4, RAPT_PAD, BYTES + 0xBD, RAPT_UNK, BYTES + 0xA0, RAPT_EOS};
    assert_true(is_whole(k, ""));
    assert_true(is_whole(k, "a\xE4\xBD\xA0\xF0\x9F\x98\x80"));
    assert_false(is_whole(k, "a\xE4\xBD"));
    assert_false(is_whole(k, "\xBD"));
    assert_false(is_whole(k, "\xE4" "a"));
    assert_false(is_whole(k, "\xED\xA0\x80")); /* a surrogate */
    assert_true(whole_text_is(k, ended, 3));
    assert_false(whole_text_is(k, within, 3));
    assert_true(whole_text_is(k, hidden, 6)); /* special tokens are not shown */
    assert_true(whole_text_is_open(k, within, 2));
    assert_false(whole_text_is_open(k, ended, 2));
    rapt_tokenizer_free(k);
}

/* 256 bytes and nothing before them: ids 0 to 3 are bytes, and none is the end. */
static void without_special_tokens(void **state)
{
    (void)state;
    rapt_bpe_options o = TRAIN_BPE(.vocab_size = 256, .threads = 1);
    rapt_tokenizer *k = rapt_tokenizer_train_bpe("a", 1, &o, NULL);
    rapt_real logits[256] = {0};
    size_t size;
    assert_non_null(k);
    assert_memory_equal(rapt_tokenizer_token(k, RAPT_EOS, &size), "\x03", 1);
    assert_true(whole_text_is(k, (const int32_t[]){RAPT_EOS, 'a'}, 2));
    assert_false(whole_text_is(k, (const int32_t[]){RAPT_EOS, 0xE4}, 2));
    assert_false(whole_text_is(k, (const int32_t[]){0xE4, RAPT_PAD, 0xBD, 0xA0}, 4));
    whole_text_ban(k, (const int32_t[]){RAPT_EOS, 0xE4}, 2, 256, logits);
    assert_true(isinf(logits[RAPT_PAD]) && isinf(logits['a']) && logits[0xBD] == 0);
    rapt_tokenizer_free(k);
}

/* Which tokens may follow `text`: special ones, bytes low..high, and the merged one or not. */
static void check_bans(const rapt_tokenizer *k, const char *text, bool specials, int low, int high, bool merged)
{
    int32_t ids[32];
    rapt_real logits[CLASSES] = {0};
    whole_text_ban(k, ids, ids_of(text, ids), CLASSES, logits);
    for (int i = 0; i < CLASSES; i++) {
        bool allowed = i < BYTES ? specials : i < MERGED ? i - BYTES >= low && i - BYTES <= high : merged;
        if (isinf(logits[i]) == allowed)
            fail_msg("token %d behind %zu bytes is %s", i, strlen(text), allowed ? "banned" : "allowed");
    }
}

static void what_may_follow(void **state)
{
    (void)state;
    rapt_tokenizer *k = bytes_tokenizer();
    rapt_real logits[CLASSES] = {0};
    whole_text_ban(k, NULL, 0, CLASSES, logits); /* between characters: not what continues one, nor what never begins one */
    for (int byte = 0; byte < 256; byte++)
        assert_int_equal(isinf(logits[BYTES + byte]) != 0, (byte >= 0x80 && byte < 0xC2) || byte > 0xF4);
    assert_true(isinf(logits[MERGED]) && !isinf(logits[RAPT_EOS]));
    check_bans(k, "\xC3", false, 0x80, 0xBF, true);
    check_bans(k, "\xE0", false, 0xA0, 0xBF, false);
    check_bans(k, "\xE4", false, 0x80, 0xBF, false); /* 81 would fit, E4 behind it not */
    check_bans(k, "\xE4\xBD", false, 0x80, 0xBF, true);
    check_bans(k, "\xED", false, 0x80, 0x9F, false);
    check_bans(k, "\xF4", false, 0x80, 0x8F, false);
    rapt_tokenizer_free(k);
}

static void other_tokenizers_are_whole(void **state)
{
    (void)state;
    const char *line = "a b";
    rapt_tokenizer *k = rapt_tokenizer_train_words(&line, 1, NULL, NULL);
    assert_true(whole_text_is(k, (int32_t[]){4, 5}, 2));
    rapt_tokenizer_free(k);
}

static void replacements_go(void **state)
{
    (void)state;
    const char *line = "a b";
    rapt_tokenizer *k = rapt_tokenizer_train_words(&line, 1, NULL, NULL);
    char text[] = "\xEF\xBF\xBD" "a\xEF\xBF\xBD\xEF\xBF\xBD" "b\xE4\xBD\xA0\xEF\xBF\xBD";
    whole_text_trim(k, text);
    assert_string_equal(text, "ab\xE4\xBD\xA0");
    whole_text_trim(k, text);
    assert_string_equal(text, "ab\xE4\xBD\xA0");
    rapt_tokenizer_free(k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_whole), cmocka_unit_test(without_special_tokens),
                                       cmocka_unit_test(what_may_follow), cmocka_unit_test(other_tokenizers_are_whole),
                                       cmocka_unit_test(replacements_go)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
