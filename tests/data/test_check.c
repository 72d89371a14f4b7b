/* test_check.c: what data/check/check.h finds, on texts so small that everything can be counted by hand. */
#include "data/check/check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define SIZED(text) (text), sizeof(text) - 1

static check_report check_sized(const char *text, size_t size)
{
    check_report r;
    rapt_error err = {0};
    check_options options = {.ratio = 3, .margin = 20};
    check_input in = {.name = {"pairs"}, .text = {text}, .size = {size}, .count = 1};
    assert_int_equal(check_pairs(&in, &options, &r, &err), RAPT_OK);
    return r;
}

static rapt_code check_two(const char *source, const char *target, check_report *r, rapt_error *err)
{
    check_options options = {.ratio = 3, .margin = 20};
    check_input in = {.name = {"a.en", "a.fr"}, .text = {source, target}, .size = {strlen(source), strlen(target)}, .count = 2};
    return check_pairs(&in, &options, r, err);
}

static void is_found(const check_report *r, unsigned kind, size_t lines, size_t newly, size_t first)
{
    assert_int_equal(r->found[kind].lines, lines);
    assert_int_equal(r->found[kind].newly, newly);
    assert_int_equal(r->found[kind].first, first);
}

/* Nothing but what is named. */
static void only_found(const check_report *r, unsigned kind, size_t lines, size_t first)
{
    for (unsigned k = 0; k < CHECK_COUNT; k++)
        is_found(r, k, k == kind ? lines : 0, k == kind && k < CHECK_REASON_COUNT ? lines : 0, k == kind ? first : 0);
    assert_int_equal(r->dropped, kind < CHECK_REASON_COUNT ? lines : 0);
}

static void test_clean(void **state)
{
    (void)state;
    check_report r = check_sized(SIZED("one two\tun deux\nthree\ttrois\nfour five six\tquatre cinq six\n"));
    only_found(&r, CHECK_COUNT, 0, 0);
    assert_int_equal(r.lines, 3);
    assert_int_equal(r.pairs, 3);
}

/* Words 2, 1, 3; characters 7, 5, 13; é is one character. The median of an even number of lines is the lower of the two in the
 * middle. */
static void test_lengths(void **state)
{
    (void)state;
    check_report r = check_sized(SIZED("one two\té\nthree\t été  là \nfour five six\tà b\n"));
    assert_true(r.side[0].words.mean == 2 && r.side[0].words.median == 2 && r.side[0].words.max == 3);
    assert_true(r.side[0].characters.mean == 25.0 / 3 && r.side[0].characters.median == 7);
    assert_int_equal(r.side[0].characters.max, 13);
    assert_true(r.side[1].words.mean == 5.0 / 3 && r.side[1].words.max == 2);
    assert_true(r.side[1].characters.mean == 11.0 / 3 && r.side[1].characters.median == 3 && r.side[1].characters.max == 7);
    r = check_sized(SIZED("a\ta b c\nb c\td e f g h i j\n"));
    assert_int_equal(r.side[0].words.median, 1);
    assert_int_equal(r.side[1].words.median, 3);
}

/* U+2003 is a space; U+200B is none; a letter and its combining accent are two code points. */
static void test_code_points(void **state)
{
    (void)state;
    check_report r = check_sized(SIZED("a\xE2\x80\x83" "b\ta\xE2\x80\x8B" "e\xCC\x81\n"));
    assert_true(r.side[0].words.max == 2 && r.side[0].characters.max == 3);
    assert_true(r.side[1].words.max == 1 && r.side[1].characters.max == 4);
}

static void test_one_reason_each(void **state)
{
    (void)state;
    check_report r = check_sized(SIZED("a b\tc d\n\ne\tf\n"));
    only_found(&r, CHECK_EMPTY_LINE, 1, 2);
    r = check_sized(SIZED("a b\tc d\nnothing here\n   \n"));
    only_found(&r, CHECK_NO_TAB, 2, 2);
    r = check_sized(SIZED("a b\tc d\n\te\nf\t\ng\t \xC2\xA0\n\t\n"));
    only_found(&r, CHECK_EMPTY_SIDE, 4, 2);
    r = check_sized(SIZED("a b\tc d\n OK.\tOK. \nOK\tOK.\n"));
    only_found(&r, CHECK_COPIED, 1, 2);
    r = check_sized(SIZED("a b\tc d\ne\tf\na b \tc d\ng\th\n a b\tc d\n"));
    only_found(&r, CHECK_DUPLICATE, 2, 3);
    r = check_sized(SIZED("a b\tc d\ne\tf\na b\tg\nA b\tg\na b\th\n"));
    only_found(&r, CHECK_OTHER_TARGET, 2, 3);
    r = check_sized(SIZED("a b\tc d\ne\tf\tg\nh\ti\t\n"));
    only_found(&r, CHECK_MORE_COLUMNS, 2, 2);
}

/* A lone continuation, an overlong slash, a surrogate, a cut-off letter, Latin-1, a NUL. */
static void test_not_utf8(void **state)
{
    (void)state;
    check_report r = check_sized(SIZED("a\tb\n\x80\tb\na\t\xC0\xAF\na\t\xED\xA0\x80\na\tb\xC3\ncaf\xE9\tb\na\0\tb\nc\td\n"));
    only_found(&r, CHECK_NOT_UTF8, 6, 2);
    assert_int_equal(r.lines, 8);
    assert_int_equal(r.pairs, 2);
    r = check_sized(SIZED("a\tb\nc\td\t\xFF\ne\tf\tg\0\n")); /* nor is such a column fit for training */
    only_found(&r, CHECK_NOT_UTF8, 2, 2);
}

/* Neither the end of lines nor a byte order mark is part of a text: else line 3 would be no duplicate. */
static void test_line_ends(void **state)
{
    (void)state;
    check_report r = check_sized(SIZED("\xEF\xBB\xBF" "a\tb\r\nc\td\na\tb"));
    only_found(&r, CHECK_DUPLICATE, 1, 3);
    assert_int_equal(r.side[0].characters.max, 1);
    r = check_sized(SIZED(""));
    only_found(&r, CHECK_COUNT, 0, 0);
    assert_int_equal(r.lines, 0);
    assert_null(r.side[0].script);
    r = check_sized(SIZED("a\tb\r\n\r\n"));
    only_found(&r, CHECK_EMPTY_LINE, 1, 2);
    r = check_sized(SIZED("\n"));
    only_found(&r, CHECK_EMPTY_LINE, 1, 1);
}

/* Line 3 looks like Latin, but is Cyrillic; a name and numbers are no fault, nor is as much of one as of the other. */
static void test_scripts(void **state)
{
    (void)state;
    check_report r = check_sized(SIZED("the house\tla maison\nA\t\xCE\xB1\xCE\xB2 xyz\n\xD1\x81\xD0\xB0\xD1\x80\tune carpe\n"
                                       "12\t13\nB\t\xCE\xB1 b\nthe sea\t\xCE\xBC\xCE\xB5\n"));
    only_found(&r, CHECK_WRONG_SCRIPT, 2, 3);
    assert_string_equal(r.side[0].script, "Latin");
    assert_true(r.side[0].share == 16.0 / 19);
    assert_string_equal(r.side[1].script, "Latin");
    assert_true(r.side[1].share == 20.0 / 25);
    r = check_sized(SIZED("μετά\tafter\na μ\tb\nμ b\tc\n"));
    only_found(&r, CHECK_WRONG_SCRIPT, 0, 0);
    assert_string_equal(r.side[0].script, "Greek");
}

/* Kanji, hiragana and katakana are one script, hangul is another. */
static void test_japanese(void **state)
{
    (void)state;
    check_report r = check_sized(SIZED("tea\tお茶\nTokyo\t東京\ncoffee\tコーヒー\nKorean\t한국어\n"));
    only_found(&r, CHECK_WRONG_SCRIPT, 1, 4);
    assert_string_equal(r.side[1].script, "Han and kana");
}

/* On the whole a target has as many characters as its source; 62 are more than three times 20, and 42 more. */
static void test_ratio(void **state)
{
    (void)state;
    static const char source[] = "aaaaaaaaaaaaaaaaaaaa\nbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\na\n"
                                 "cccccccccc\n"
                                 "eeeeeeeeeeeeeeeeeeeeeeeeeeeee\n";
    static const char target[] = "BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB\nAAAAAAAAAAAAAAAAAAAA\n"
                                 "AAAAAAAAAAAAAAAAAAAAA\n"
                                 "DD\n"
                                 "EEEEEEEEEEEEEEEEE\n";
    check_report r;
    assert_int_equal(check_two(source, target, &r, NULL), RAPT_OK);
    assert_true(r.side[0].characters.mean == 122.0 / 5 && r.side[1].characters.mean == 122.0 / 5);
    only_found(&r, CHECK_LENGTH_RATIO, 2, 1);
}

/* Where all targets are four times as long, that is what is expected, and the one as long as its source is too short. */
static void test_expected_length(void **state)
{
    (void)state;
    static const char source[] = "0123456789\n0123456780\n0123456781\n0123456782\n0123456783\n0123456784\n";
    static const char target[] = "0123456789012345678901234567890123456789a\n0123456789012345678901234567890123456789b\n"
                                 "0123456789012345678901234567890123456789c\n0123456789012345678901234567890123456789d\n"
                                 "0123456789012345678901234567890123456789e\n012345678\n";
    check_report r;
    assert_int_equal(check_two(source, target, &r, NULL), RAPT_OK);
    only_found(&r, CHECK_LENGTH_RATIO, 1, 6);
}

/* Line 4 is a copy, a duplicate and in another script: three counts, one line. */
static void test_counted_once(void **state)
{
    (void)state;
    check_report r = check_sized(SIZED("Paris, London and Rome\tParis, Londres et Rome\n\nμε\tμε\nμε\tμε\nx\tx\n"));
    is_found(&r, CHECK_EMPTY_LINE, 1, 1, 2);
    is_found(&r, CHECK_COPIED, 3, 3, 3);
    is_found(&r, CHECK_DUPLICATE, 1, 0, 4);
    is_found(&r, CHECK_WRONG_SCRIPT, 2, 0, 3);
    assert_int_equal(r.dropped, 4);
    assert_int_equal(r.pairs, 4);
}

/* Latin-1 without a tab, and beside an empty side: either fault is one. */
static void test_several_faults(void **state)
{
    (void)state;
    check_report r = check_sized(SIZED("a b\tc d\ncaf\xE9\n\tcaf\xE9\nno tab\n"));
    is_found(&r, CHECK_NO_TAB, 2, 2, 2);
    is_found(&r, CHECK_NOT_UTF8, 2, 1, 2);
    is_found(&r, CHECK_EMPTY_SIDE, 1, 0, 3);
    assert_int_equal(r.dropped, 3);
}

/* The second line is a duplicate, and better left out: its column is nobody's concern any more. */
static void test_notes_of_what_is_left(void **state)
{
    (void)state;
    check_report r = check_sized(SIZED("a b\tc d\tx\na b\tc d\tx\nh\tk\tz\n"));
    is_found(&r, CHECK_DUPLICATE, 1, 1, 2);
    is_found(&r, CHECK_MORE_COLUMNS, 2, 0, 1);
    assert_int_equal(r.dropped, 1);
}

static void test_tab_within(void **state)
{
    (void)state;
    check_report r;
    assert_int_equal(check_two("a b\nc\td\ne\nf\n", "g\nh\ni\tj\n\t\n", &r, NULL), RAPT_OK);
    is_found(&r, CHECK_TAB_WITHIN, 2, 0, 2);
    is_found(&r, CHECK_EMPTY_SIDE, 1, 1, 4);
    assert_int_equal(r.pairs, 3);
}

static void take(void *context, size_t number, uint32_t found)
{
    uint32_t *all = context;
    all[number] = found;
}

/* Every line in order, with its reasons, or else its notes. */
static void test_each_line(void **state)
{
    (void)state;
    check_report r;
    uint32_t all[6] = {0};
    static const char text[] = "a b\tc d\n\na b\tc d\tx\nMainz\tMainz\na b\te\tx\n";
    check_options options = {.ratio = 3, .margin = 20, .each = take, .context = all};
    check_input in = {.name = {"pairs"}, .text = {text}, .size = {sizeof text - 1}, .count = 1};
    assert_int_equal(check_pairs(&in, &options, &r, NULL), RAPT_OK);
    assert_true(all[1] == 0 && all[2] == 1u << CHECK_EMPTY_LINE);
    assert_true(all[3] == 1u << CHECK_DUPLICATE && all[4] == 1u << CHECK_COPIED);
    assert_true(all[5] == (1u << CHECK_OTHER_TARGET | 1u << CHECK_MORE_COLUMNS));
}

static void test_two_texts(void **state)
{
    (void)state;
    check_report r;
    rapt_error err = {0};
    assert_int_equal(check_two("a\n\nb\tc\n\n", "d\n\ne\nf", &r, &err), RAPT_OK);
    is_found(&r, CHECK_EMPTY_LINE, 1, 1, 2);
    is_found(&r, CHECK_EMPTY_SIDE, 1, 1, 4);
    assert_int_equal(r.pairs, 2);
    assert_int_equal(r.side[0].words.max, 2);
    assert_int_equal(check_two("a\nb\n", "c\n", &r, &err), RAPT_ERR_VALUE);
    assert_string_equal(err.message, "a.en has 2 lines, but a.fr has 1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clean),      cmocka_unit_test(test_lengths),         cmocka_unit_test(test_code_points),
        cmocka_unit_test(test_one_reason_each), cmocka_unit_test(test_not_utf8),   cmocka_unit_test(test_line_ends),
        cmocka_unit_test(test_scripts),    cmocka_unit_test(test_japanese),        cmocka_unit_test(test_ratio),
        cmocka_unit_test(test_expected_length), cmocka_unit_test(test_counted_once), cmocka_unit_test(test_several_faults),
        cmocka_unit_test(test_notes_of_what_is_left), cmocka_unit_test(test_tab_within), cmocka_unit_test(test_each_line),
        cmocka_unit_test(test_two_texts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
