/* test_sentences.c: where texts may be cut. The sentences are written as a reader would cut them, with | between. */
#include "text/prose/sentences.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Cuts `marked` without its bars; spaces behind a bar are passed. The pieces must be those between the bars. */
static void assert_cuts(sentences_cut kind, const char *marked)
{
    char text[500], got[500] = "";
    size_t size = 0, at = 0;
    for (const char *c = marked; *c; c++)
        if (*c != '|')
            text[size++] = *c;
    char *copy = malloc(size ? size : 1); /* so that a sanitizer sees reads beyond it */
    assert_non_null(copy);
    memcpy(copy, text, size);
    while (at < size) {
        size_t end = sentences_end(copy, size, at, kind), next = sentences_skip_spaces(copy, size, end);
        assert_true(end > at && end <= size);
        strncat(got, copy + at, end - at);
        strcat(got, next < size ? "|" : "");
        strncat(got, copy + end, next - end);
        at = next;
    }
    free(copy);
    assert_string_equal(got, marked);
}

static void test_sentences(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "One sentence only.",
        "No mark at all",
        "He left.| She stayed.| They talked",
        "Really?| Yes!| Well...| No.",
        "What?!| Nothing.|  Two spaces.",
        "She said: \"Come here.\"| He came.",
        "(He left.)| [She stayed.]| Good.",
        "It rained.| \"Come in,\" she said.",
        "Then it stopped.| (Nobody knew why.)| The end.",
        "It was late…| Nobody came.",
        "He waited... and waited.",
        "\"Really?\" he asked.| \"Really!\" she said.",
        "It was in 1990.| Then it was over.",
        "Version 2.5 is out.| Get it at example.com today.",
        "See www.example.org.| Then read on.",
        "The file a.txt is small.| The file b.txt is not.",
        "Éric est parti.| Élodie est restée.",
        "« Viens ! »| Il partit.| « Où ? » demanda-t-elle.",
        "Er ging.| »Komm!«| Dann schwieg er.| „Nein.“| Sie ging.",
        "¿Dónde está?| ¡Aquí!| ¿Sí?",
        "Он ушёл.| Она осталась.| Что теперь?| Ничего.",
        "Έφυγε.| Έμεινε.",
        "a man walks .| a dog runs .| the end",
        "",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_cuts(CUT_SENTENCE, texts[i]);
}

static void test_full_stops_within_sentences(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "Mr. Smith met Dr. Jones and Mrs. Brown in St. Louis.| They talked.",
        "J. S. Bach and J. R. R. Tolkien never met.| A pity.",
        "The U.S. Senate met at 5 p.m. Eastern time.| It was short.",
        "A Ph.D. Student came, i.e. Bob, e.g. Tuesday.| Well.",
        "Prof. Dr. Meier wohnt z.B. Montags in Wien.| Er ist am 3. Mai geboren.| Er lebt.",
        "Ludwig XIV. Und so.",
        "Das kostet ca. Hundert bzw. Zweihundert Mio. Euro.| Das ist viel.",
        "M. Dupont et Mme. Durand sont là.| MM. Petit aussi.",
        "El Sr. García y la Sra. López viven aquí.| Son dos.",
        "А. С. Пушкин родился в Москве.| Он поэт.",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_cuts(CUT_SENTENCE, texts[i]);
}

static void test_other_scripts(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "你好。|我是学生。|你呢？|好！",
        "彼は言った。|「行きます。」と言った。|本当？",
        "他说：“你好。”然后走了。|她没走。",
        "“你好。”|“再见。”",
        "これはペンです。| 次の文です。",
        "यह एक वाक्य है।| यह दूसरा है।| तीसरा",
        "هل أنت هنا؟| نعم أنا هنا.| حسنا",
        "나는 갔다.| 그는 왔다.",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_cuts(CUT_SENTENCE, texts[i]);
}

static void test_clauses(void **state)
{
    (void)state;
    assert_cuts(CUT_CLAUSE, "He came,| he saw;| he won:| all of it –| nearly.");
    assert_cuts(CUT_CLAUSE, "It costs 1,000.50 at 10:30,| he said.| \"No,\"| she said.");
    assert_cuts(CUT_CLAUSE, "well ,| he said ;| yes !| and no .");
    assert_cuts(CUT_CLAUSE, "Mr. Smith,| Dr. Jones");
    assert_cuts(CUT_CLAUSE, "你好，|我是学生；|你呢：|一、|二");
    assert_cuts(CUT_CLAUSE, "نعم،| لا؛| ربما");
}

static void test_spaces(void **state)
{
    (void)state;
    assert_cuts(CUT_SPACE, "one| two|  three|\tfour");
    assert_cuts(CUT_SPACE, "10\xC2\xA0km| and\xE2\x80\xAF!| yes"); /* no-break spaces */
    assert_cuts(CUT_SPACE, "一|\xE3\x80\x80二");                     /* a wide one */
}

static void test_going_on(void **state)
{
    (void)state;
    static const char *const several[] = {"One. Two", " One! \xC2\xBFTwo?", "a man . a dog .", "去。来。"};
    static const char *const single[] = {"", "  ", "One", "One. ", " Dr. Who lives at 3. May", "one. two", "去。"};
    for (size_t i = 0; i < sizeof several / sizeof *several; i++)
        assert_true(sentences_are_several(several[i], strlen(several[i])));
    for (size_t i = 0; i < sizeof single / sizeof *single; i++)
        assert_false(sentences_are_several(single[i], strlen(single[i])));
}

/* Any bytes: no cut lies within a character, and the end comes. */
static void test_not_utf8(void **state)
{
    (void)state;
    static const char text[] = "a\xFF. B\xC3. \xE2\x80. D \x80.";
    for (sentences_cut kind = CUT_SENTENCE; kind <= CUT_SPACE; kind++)
        for (size_t size = 0; size < sizeof text; size++)
            for (size_t at = 0, pieces = 0; at < size; pieces++) {
                size_t end = sentences_end(text, size, at, kind);
                assert_true(end > at && end <= size && pieces < size);
                at = end;
            }
}

static void test_joining(void **state)
{
    (void)state;
    static const char *const with[] = {"He left.", "Fini !", "word", "나는 갔다.", "है।",
                                       "“Go.”", "He waits…", "”"};
    static const char *const without[] = {"", "你好。", "本当？", "カ", "月", "「はい」", "（一）",
                                          "“你好。”", "等等……", "好——"};
    for (size_t i = 0; i < sizeof with / sizeof *with; i++)
        assert_true(sentences_want_space(with[i], strlen(with[i])));
    for (size_t i = 0; i < sizeof without / sizeof *without; i++)
        assert_false(sentences_want_space(without[i], strlen(without[i])));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sentences), cmocka_unit_test(test_full_stops_within_sentences),
        cmocka_unit_test(test_other_scripts), cmocka_unit_test(test_clauses), cmocka_unit_test(test_spaces),
        cmocka_unit_test(test_going_on), cmocka_unit_test(test_not_utf8), cmocka_unit_test(test_joining),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
