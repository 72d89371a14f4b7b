/* test_metrics.c: BLEU, chrF and the tokenizers of BLEU.
 * For src/metrics/{bleu,bleu_book,chrf,mteval,ngrams,trie,words,codes}.c.
 * Not self-made expectations: scores are computed by hand, words by sacreBLEU 2.6.0. */
#include "options.h"
#include "rapt/metrics.h"
#include "metrics/mteval.h"
#include "text/utf8.h"
#include "texts.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define STRINGS(...) ((const char *const[]){__VA_ARGS__})
#define TEXTS(...) TEXTS_OF(STRINGS(__VA_ARGS__), sizeof STRINGS(__VA_ARGS__) / sizeof(char *))

static void assert_near(double got, double want, double bound)
{
    if (!(fabs(got - want) <= bound))
        fail_msg("%.12g is not %.12g", got, want);
}

/* ---- BLEU by hand ---- */

static rapt_bleu bleu_of(const rapt_bleu_options *options, const char *translation, const char *reference)
{
    rapt_bleu bleu;
    rapt_error err = {0};
    if (rapt_bleu_sentence(options, TEXT(translation), TEXTS(reference), 1, &bleu, &err) != RAPT_OK)
        fail_msg("%s", err.message);
    return bleu;
}

/* The example of Papineni et al. 2002, section 2.1: a modified unigram precision of 2/7. */
static void test_clipping(void **state)
{
    (void)state;
    rapt_bleu bleu;
    const rapt_text *references = TEXTS("The cat is on the mat .", "There is a cat on the mat .");
    const rapt_bleu_options lower = BLEU(.lowercase = true);
    assert_int_equal(
        rapt_bleu_sentence(&lower, TEXT("the the the the the the the"), references, 2, &bleu, NULL), RAPT_OK);
    assert_near(bleu.counts[0], 2, 0);
    assert_near(bleu.totals[0], 7, 0);
    assert_near(bleu.counts[1], 0, 0);
    assert_near(bleu.precisions[0], 200.0 / 7, 1e-12);
}

static void test_several_references_are_clipped_by_the_largest(void **state)
{
    (void)state;
    rapt_bleu bleu;
    assert_int_equal(rapt_bleu_sentence(NULL, TEXT("a a a b"), TEXTS("a b", "a a c"), 2, &bleu, NULL), RAPT_OK);
    assert_near(bleu.counts[0], 3, 0); /* a twice (second), b once (first) */
    assert_near(bleu.counts[1], 2, 0); /* "a b" (first), "a a" once (second) */
}

static void test_brevity(void **state)
{
    (void)state;
    rapt_bleu bleu = bleu_of(NULL, "a b c d", "a b c d e f");
    assert_near(bleu.bp, exp(1 - 6.0 / 4), 1e-12);
    assert_near(bleu.score, 100 * exp(-0.5), 1e-9);
    assert_near(bleu_of(NULL, "a b c d e f", "a b c d").bp, 1, 0);
}

static size_t closest(const char *translation, const char *first, const char *second)
{
    rapt_bleu bleu;
    assert_int_equal(rapt_bleu_sentence(NULL, TEXT(translation), TEXTS(first, second), 2, &bleu, NULL), RAPT_OK);
    return bleu.ref_len;
}

static void test_closest_reference_length(void **state)
{
    (void)state;
    assert_int_equal(closest("a b c d", "a b", "a b c d e"), 5);
    assert_int_equal(closest("a b c d", "a b c d e", "a b"), 5);
    assert_int_equal(closest("a b c d", "a b", "a b c d e f"), 2); /* equally close: the shorter */
    assert_int_equal(closest("a b c d", "a b c d e f", "a b"), 2);
    assert_int_equal(closest("a", "", "a b c"), 0);
}

/* Matches 4/5 words (a b d e), 2/4 pairs (ab, de), 0/3 and 0/2. */
static double smoothed(rapt_smooth smooth, double value)
{
    rapt_bleu_options options = BLEU(.smooth = smooth, .smooth_value = value);
    return bleu_of(&options, "a b c d e", "a b x d e").score;
}

static double mean4(double a, double b, double c, double d)
{
    return 100 * pow(a * b * c * d, 0.25);
}

static void test_smoothing(void **state)
{
    (void)state;
    assert_near(smoothed(RAPT_SMOOTH_NONE, 0), 0, 0);
    assert_near(smoothed(RAPT_SMOOTH_EXP, 0), mean4(4.0 / 5, 2.0 / 4, 1.0 / (2 * 3), 1.0 / (4 * 2)), 1e-9);
    assert_near(smoothed(RAPT_SMOOTH_FLOOR, 0), mean4(4.0 / 5, 2.0 / 4, 0.1 / 3, 0.1 / 2), 1e-9);
    assert_near(smoothed(RAPT_SMOOTH_FLOOR, 0.5), mean4(4.0 / 5, 2.0 / 4, 0.5 / 3, 0.5 / 2), 1e-9);
    assert_near(smoothed(RAPT_SMOOTH_ADD_K, 0), mean4(4.0 / 5, 3.0 / 5, 1.0 / 4, 1.0 / 3), 1e-9);
    assert_near(smoothed(RAPT_SMOOTH_ADD_K, 2), mean4(4.0 / 5, 4.0 / 6, 2.0 / 5, 2.0 / 4), 1e-9);
}

static void test_effective_order(void **state)
{
    (void)state;
    const rapt_bleu_options effective = BLEU(.effective_order = true);
    assert_near(bleu_of(NULL, "a b", "a b").score, 0, 0);
    assert_near(bleu_of(&effective, "a b", "a b").score, 100, 1e-9);
    assert_near(bleu_of(&effective, "a b", "a c").score, 100 * sqrt(1.0 / 2 * 1 / 2), 1e-9);
}

/* A corpus is not the mean of its segments: counts are added first. */
static void test_corpus_adds_counts(void **state)
{
    (void)state;
    rapt_bleu bleu;
    const rapt_text *const references[] = {TEXTS("a b c d e", "x y")};
    const rapt_text *translations = TEXTS("a b c d e", "x z z");
    assert_int_equal(rapt_bleu_corpus(NULL, &(rapt_metric_texts){translations, references, 1, 2, {0}}, &bleu, NULL), RAPT_OK);
    assert_near(bleu.score, mean4(6.0 / 8, 4.0 / 6, 3.0 / 4, 2.0 / 2), 1e-9);
    assert_int_equal(bleu.sys_len, 8);
    assert_int_equal(bleu.ref_len, 7);
}

static void test_nothing_in_common(void **state)
{
    (void)state;
    rapt_bleu bleu = bleu_of(NULL, "a b c d", "w x y z");
    assert_near(bleu.score, 0, 0);
    assert_near(bleu.precisions[0], 0, 0);
    assert_near(bleu_of(NULL, "", "a").bp, 0, 0);
    assert_near(bleu_of(NULL, "", "").score, 0, 0);
    assert_near(bleu_of(NULL, "", "").bp, 1, 0);
}

/* Enough different n-grams that some meet in the hash table. */
static void test_many_words_stay_apart(void **state)
{
    (void)state;
    enum { WORDS = 500, ROOM = 16 };
    char own[WORDS * ROOM + 1] = "", other[WORDS * ROOM + 1] = "";
    for (int i = 0; i < WORDS; i++) {
        snprintf(own + strlen(own), ROOM, "%d ", i);
        snprintf(other + strlen(other), ROOM, "%d ", i % 2 ? i : i + WORDS);
    }
    rapt_bleu bleu = bleu_of(NULL, own, other);
    assert_near(bleu.counts[0], WORDS / 2, 0);
    assert_near(bleu.counts[1], 0, 0);
    assert_near(bleu_of(NULL, own, own).counts[3], WORDS - 3, 0);
}

/* ---- tokenizers ---- */

/* The words of `text`, joined by single spaces; freed by the caller. */
static char *tokens(rapt_tokenize kind, const char *text)
{
    struct codes codes = {0}, spare = {0};
    assert_int_equal(codes_load(&codes, TEXT(text), false, NULL), RAPT_OK);
    assert_int_equal(mteval_tokenize(kind, &codes, &spare, NULL), RAPT_OK);
    char *joined = malloc(5 * codes.count + 1);
    size_t size = 0;
    assert_non_null(joined);
    for (struct word word = {0}; codes_next_word(&codes, word.end, &word);) {
        if (size > 0)
            joined[size++] = ' ';
        for (size_t i = word.start; i < word.end; i++)
            size += utf8_put(codes.at[i], joined + size);
    }
    joined[size] = '\0';
    codes_free(&codes);
    codes_free(&spare);
    return joined;
}

static void assert_tokens(rapt_tokenize kind, const char *text, const char *want)
{
    char *got = tokens(kind, text);
    assert_string_equal(got, want);
    free(got);
}

static void test_13a(void **state)
{
    (void)state;
    const rapt_tokenize kind = RAPT_TOKENIZE_13A;
    assert_tokens(kind, "Hello, world!", "Hello , world !");
    assert_tokens(kind, "It's 3,000.50 dollars (U.S.).", "It's 3,000.50 dollars ( U . S . ) .");
    assert_tokens(kind, "well-known 2-3 5-year-old", "well-known 2 - 3 5 - year-old");
    assert_tokens(kind, "&quot;Quoted&quot; &amp;lt; &lt;b&gt;", "\" Quoted \" < < b >");
    assert_tokens(kind, "a <skipped>b line-\nbreak new\nline", "a b linebreak new line");
    assert_tokens(kind, "... .5 5. e.g.", ". . . . 5 5 . e . g .");
    assert_tokens(kind, "1.-2", "1 . -2");
    assert_tokens(kind, "„Anführung“ – ß, 你好。5。6", "„Anführung“ – ß , 你好。5。6");
    assert_tokens(kind, "100% $5 №5 €3 😀!", "100 % $ 5 №5 €3 😀 !");
    assert_tokens(kind, "٣,٤ a,٤ 5,", "٣ , ٤ a , ٤ 5 ,");
    assert_tokens(kind, "", "");
}

static void test_intl(void **state)
{
    (void)state;
    const rapt_tokenize kind = RAPT_TOKENIZE_INTL;
    assert_tokens(kind, "It's 3,000.50 dollars (U.S.).", "It ' s 3,000.50 dollars ( U . S . ) .");
    assert_tokens(kind, "well-known 2-3 5-year-old", "well - known 2-3 5 - year - old");
    assert_tokens(kind, "a <skipped>b", "a < skipped > b");
    assert_tokens(kind, "1.-2", "1 . - 2");
    assert_tokens(kind, "„Anführung“ – ß, 你好。5。6", "„ Anführung “ – ß , 你好 。 5。6");
    assert_tokens(kind, "100% $5 №5 €3 😀!", "100 % $ 5 № 5 € 3 😀 !");
    assert_tokens(kind, "٣,٤ a,٤ 5,", "٣,٤ a , ٤ 5,");
    assert_tokens(kind, "٣,٤ a,٤ 5, \t", "٣,٤ a , ٤ 5,");
    assert_tokens(kind, "«n°1»", "« n ° 1»");
}

static void test_none_and_char(void **state)
{
    (void)state;
    assert_tokens(RAPT_TOKENIZE_NONE, " Hello,  world!\t(a)\xC2\xA0" "b ", "Hello, world! (a) b");
    assert_tokens(RAPT_TOKENIZE_CHAR, "x ä  你好.", "x ä 你 好 .");
    assert_tokens(RAPT_TOKENIZE_CHAR, "e\xCC\x81", "e \xCC\x81");
}

/* As sacreBLEU 2.6.0 cuts them: no entities, nothing before the first character, and a table that ends at U+9FBB and has no
 * ideographs beyond the basic plane. */
static void test_zh(void **state)
{
    (void)state;
    const rapt_tokenize kind = RAPT_TOKENIZE_ZH;
    assert_tokens(kind, "我喜欢BERT-4模型，it's 3.5倍！", "我 喜 欢 BERT-4 模 型 ， it's 3.5 倍 ！");
    assert_tokens(kind, "  .5 5. e.g. “引号”…—", ".5 5 . e . g . “ 引 号 ” … —");
    assert_tokens(kind, "&quot;a&quot; <skipped> 5-6", "& quot ; a & quot ; < skipped > 5 - 6");
    assert_tokens(kind, "\U00020000\U00020001 㐀 龻\u9FBC ｶﾅ ー カナ 한국 →x ⩭⩮",
                  "\U00020000\U00020001 㐀 龻 \u9FBC ｶ ﾅ ー カナ 한국 → x ⩭ ⩮");
    assert_tokens(kind, "（１，２）①㊀ 5。6，7", "（ １ ， ２ ） ① ㊀ 5 。 6 ， 7");
    assert_tokens(kind, "10,000个,5", "10,000 个 , 5");
    assert_tokens(kind, " \u3000 ", "");
    assert_tokens(kind, "", "");
}

static rapt_tokenize for_text(const char *text)
{
    return rapt_bleu_tokenize_for(TEXT(text), 1);
}

/* An ideograph counts as a word of other letters does. */
static void test_tokenization_for_script(void **state)
{
    (void)state;
    const rapt_text *two = TEXTS("The cat sat on the mat.", "猫坐在垫子上面了。");
    assert_int_equal(for_text("Two cats, 猫."), RAPT_TOKENIZE_13A);
    assert_int_equal(for_text("Привет, мир!"), RAPT_TOKENIZE_13A);
    assert_int_equal(for_text("고양이가 앉았다."), RAPT_TOKENIZE_13A);
    assert_int_equal(for_text("12, 3.5 。"), RAPT_TOKENIZE_13A);
    assert_int_equal(for_text(""), RAPT_TOKENIZE_13A);
    assert_int_equal(for_text("Transformer模型"), RAPT_TOKENIZE_ZH);
    assert_int_equal(for_text("The Transformer is 模型"), RAPT_TOKENIZE_13A);
    assert_int_equal(for_text("\U00020000\U00020001"), RAPT_TOKENIZE_ZH);
    assert_int_equal(for_text("猫坐在垫子上面，の字是日语"), RAPT_TOKENIZE_ZH);
    assert_int_equal(for_text("猫がマットの上に座った。"), RAPT_TOKENIZE_CHAR);
    assert_int_equal(for_text("แมวนั่งบนเสื่อ"), RAPT_TOKENIZE_CHAR);
    assert_int_equal(rapt_bleu_tokenize_for(two, 2), RAPT_TOKENIZE_ZH); /* 8 ideographs, 6 words */
    assert_int_equal(rapt_bleu_tokenize_for(two, 1), RAPT_TOKENIZE_13A);
    assert_string_equal(rapt_tokenize_name(RAPT_TOKENIZE_ZH), "zh");
    assert_null(rapt_tokenize_name((rapt_tokenize)5));
}

/* ---- chrF by hand ---- */

static double chrf_of(const rapt_chrf_options *options, const char *translation, const char *reference)
{
    double score;
    rapt_error err = {0};
    if (rapt_chrf_sentence(options, TEXT(translation), TEXTS(reference), 1, &score, &err) != RAPT_OK)
        fail_msg("%s", err.message);
    return score;
}

static void test_chrf_of_characters(void **state)
{
    (void)state;
    assert_near(chrf_of(NULL, "abc", "abc"), 100, 1e-9);
    assert_near(chrf_of(NULL, "abc", "xyz"), 0, 0);
    assert_near(chrf_of(NULL, "", "abc"), 0, 0);
    assert_near(chrf_of(NULL, "abc", ""), 0, 0);
    /* orders 1 to 3: matches 2/3, 1/2, 0/1 on both sides */
    assert_near(chrf_of(NULL, "abc", "abd"), 100 * (2.0 / 3 + 1.0 / 2) / 3, 1e-9);
    /* orders 1 and 2 (the translation has no third): precision 1, recall (2/3 + 1/2) / 2 */
    double recall = (2.0 / 3 + 1.0 / 2) / 2;
    assert_near(chrf_of(NULL, "ab", "abc"), 100 * 5 * recall / (4 + recall), 1e-9);
    assert_near(chrf_of(&CHRF(.beta = 1), "ab", "abc"), 100 * 2 * recall / (1 + recall), 1e-9);
    assert_near(chrf_of(&CHRF(.char_order = 1), "abc", "abd"), 200.0 / 3, 1e-9);
}

static void test_chrf_space_and_case(void **state)
{
    (void)state;
    const rapt_chrf_options spaces = CHRF(.whitespace = true), lower = CHRF(.lowercase = true);
    assert_near(chrf_of(NULL, "a b\tc", "ab c"), 100, 1e-9);
    /* "a b" and "ab": only order 1 (2/3, 2/2) and order 2 (0/2, 0/1) are on both sides */
    assert_near(chrf_of(&spaces, "a b", "ab"), 100 * 5 * (1.0 / 3) * (1.0 / 2) / (4.0 / 3 + 1.0 / 2), 1e-9);
    assert_near(chrf_of(NULL, "ABC", "abc"), 0, 0);
    assert_near(chrf_of(&lower, "ABC", "abc"), 100, 1e-9);
}

/* A mark is a word of its own at the end of a word or else at its start, but not at both. */
static void test_chrf_words(void **state)
{
    (void)state;
    const rapt_chrf_options one = CHRF(.char_order = 1, .word_order = 1);
    assert_near(chrf_of(&one, "hi!", "hi !"), 100, 1e-9);
    assert_near(chrf_of(&one, "(hi", "( hi"), 100, 1e-9);
    /* "(hi)" has the words "(hi" and ")": one of them is among the three of "( hi )"; all characters are */
    double precision = (1 + 1.0 / 2) / 2, recall = (1 + 1.0 / 3) / 2;
    double f = 5 * precision * recall / (4 * precision + recall);
    assert_near(chrf_of(&one, "(hi)", "( hi )"), 100 * f, 1e-9);
}

static void test_chrf_takes_the_best_reference(void **state)
{
    (void)state;
    double score;
    assert_int_equal(rapt_chrf_sentence(NULL, TEXT("abc"), TEXTS("xyz", "abd", "abc"), 3, &score, NULL), RAPT_OK);
    assert_near(score, 100, 1e-9);
}

static void test_chrf_corpus_adds_counts(void **state)
{
    (void)state;
    double score;
    const rapt_chrf_options one = CHRF(.char_order = 1);
    const rapt_text *const references[] = {TEXTS("abcd", "xy")};
    const rapt_metric_texts texts = {TEXTS("abcd", "zz"), references, 1, 2, {0}};
    assert_int_equal(rapt_chrf_corpus(&one, &texts, &score, NULL), RAPT_OK);
    assert_near(score, 100 * 4.0 / 6, 1e-9);
}

/* The trigram of "abc" counts for nothing, since its reference has none. */
static void test_chrf_leaves_out_orders_beyond_the_reference(void **state)
{
    (void)state;
    double score, precision = (5.0 / 6 + 3.0 / 4 + 1.0 / 1) / 3;
    const rapt_chrf_options three = CHRF(.char_order = 3);
    const rapt_text *const references[] = {TEXTS("ab", "xyz")};
    const rapt_metric_texts texts = {TEXTS("abc", "xyz"), references, 1, 2, {0}};
    assert_int_equal(rapt_chrf_corpus(&three, &texts, &score, NULL), RAPT_OK);
    assert_near(score, 100 * 5 * precision / (4 * precision + 1), 1e-9);
}

/* Mean over 6 orders of F: orders 1 to 3 are 2/3, 1/2 and 0 (1e-16), the missing ones 1e-16. */
static void test_chrf_eps(void **state)
{
    (void)state;
    const rapt_chrf_options eps = CHRF(.eps_smoothing = true);
    assert_near(chrf_of(&eps, "abc", "abd"), 100 * (2.0 / 3 + 1.0 / 2) / 6, 1e-9);
    /* sacreBLEU 2.6.0's, to the last digit. */
    const rapt_chrf_options eps_words = CHRF(.eps_smoothing = true, .word_order = 1);
    assert_true(chrf_of(&eps, "the cat", "the cat sat on the mat") == 27.028125593873742);
    assert_true(chrf_of(&eps_words, "hello world", "hello, world!") == 50.36593822873546);
    const rapt_chrf_options eps_precision = CHRF(.eps_smoothing = true, .beta = 0);
    assert_true(chrf_of(&eps_precision, "x", "abcd") == 1.0000000000000002e-14);
}

/* ---- the book's BLEU ---- */

static void test_book(void **state)
{
    (void)state;
    /* the examples of the book's text: p1 = 4/5, p2 = 3/4, p3 = 1/3, p4 = 0; and exp(1 - 6/2) = 0.14 */
    double shorter = exp(1 - 6.0 / 5), two = shorter * sqrt(4.0 / 5) * pow(3.0 / 4, 0.25);
    assert_near(rapt_bleu_book(TEXT("A B B C D"), TEXT("A B C D E F"), 1), shorter * sqrt(4.0 / 5), 1e-12);
    assert_near(rapt_bleu_book(TEXT("A B B C D"), TEXT("A B C D E F"), 2), two, 1e-12);
    assert_near(rapt_bleu_book(TEXT("A B B C D"), TEXT("A B C D E F"), 3), two * pow(1.0 / 3, 0.125), 1e-12);
    assert_near(rapt_bleu_book(TEXT("A B B C D"), TEXT("A B C D E F"), 4), 0, 0);
    assert_near(rapt_bleu_book(TEXT("A B"), TEXT("A B C D E F"), 2), exp(-2), 1e-12);
}

static void test_book_guards(void **state)
{
    (void)state;
    assert_near(rapt_bleu_book(TEXT("va !"), TEXT("va !"), 4), 1, 1e-12); /* k above the length stops there */
    assert_near(rapt_bleu_book(TEXT("va va"), TEXT("va"), 1), sqrt(1.0 / 2), 1e-12);
    assert_near(rapt_bleu_book(TEXT(""), TEXT("va"), 2), 0, 0);
    assert_near(rapt_bleu_book(TEXT("va"), TEXT(""), 2), 0, 0);
    assert_near(rapt_bleu_book(TEXT(""), TEXT(""), 2), 1, 0);
    assert_true(isnan(rapt_bleu_book(TEXT("va"), TEXT("va"), 0)));
    assert_true(isnan(rapt_bleu_book(TEXT("\xFF"), TEXT("va"), 2)));
}

/* ---- errors and signatures ---- */

static void assert_bleu_fails(const rapt_bleu_options *options, const char *text, size_t references,
                              rapt_code code)
{
    rapt_bleu bleu;
    rapt_error err = {0};
    assert_int_equal(rapt_bleu_sentence(options, TEXT(text), TEXTS("a"), references, &bleu, &err), code);
    assert_int_equal(err.code, code);
    assert_non_null(strstr(err.message, "BLEU: "));
}

static void test_bleu_errors(void **state)
{
    (void)state;
    assert_bleu_fails(NULL, "a\xFF", 1, RAPT_ERR_FORMAT);
    assert_bleu_fails(&BLEU(.lowercase = true), "A\xFF", 1, RAPT_ERR_FORMAT);
    assert_bleu_fails(NULL, "a", 0, RAPT_ERR_VALUE);
    assert_bleu_fails(&BLEU(.tokenize = (rapt_tokenize)9), "a", 1, RAPT_ERR_VALUE);
    assert_bleu_fails(&BLEU(.smooth = (rapt_smooth)9), "a", 1, RAPT_ERR_VALUE);
    assert_bleu_fails(&BLEU(.smooth_value = -1), "a", 1, RAPT_ERR_VALUE);
    assert_bleu_fails(&BLEU(.smooth_value = NAN), "a", 1, RAPT_ERR_VALUE);
}

static void test_errors_name_the_place(void **state)
{
    (void)state;
    rapt_bleu bleu;
    rapt_error err = {0};
    const rapt_text *const references[] = {TEXTS("a", "b"), TEXTS("a", "b\xC3")};
    const rapt_text *same = TEXTS("a", "b");
    assert_int_equal(rapt_bleu_corpus(NULL, &(rapt_metric_texts){same, references, 2, 2, {0}}, &bleu, &err), RAPT_ERR_FORMAT);
    assert_string_equal(err.message,
                        "BLEU: reference 2, segment 2: byte 2 of a segment is not valid UTF-8");
}

static void test_chrf_errors(void **state)
{
    (void)state;
    double score;
    const rapt_text *one = TEXTS("a");
    assert_int_equal(rapt_chrf_sentence(NULL, TEXT("\xFF"), one, 1, &score, NULL), RAPT_ERR_FORMAT);
    assert_int_equal(rapt_chrf_sentence(NULL, TEXT("a"), one, 0, &score, NULL), RAPT_ERR_VALUE);
    rapt_chrf_options wrong = CHRF(.char_order = RAPT_CHRF_MAX_ORDER + 1);
    assert_int_equal(rapt_chrf_sentence(&wrong, TEXT("a"), one, 1, &score, NULL), RAPT_ERR_VALUE);
    wrong = CHRF(.char_order = 0); /* 0 is 0, not the default */
    assert_int_equal(rapt_chrf_sentence(&wrong, TEXT("a"), one, 1, &score, NULL), RAPT_ERR_VALUE);
    wrong = CHRF(.word_order = -1);
    assert_int_equal(rapt_chrf_sentence(&wrong, TEXT("a"), one, 1, &score, NULL), RAPT_ERR_VALUE);
    wrong = CHRF(.beta = -1);
    assert_int_equal(rapt_chrf_sentence(&wrong, TEXT("a"), one, 1, &score, NULL), RAPT_ERR_VALUE);
}

static void test_longest_segment(void **state)
{
    (void)state;
    double score;
    char *text = malloc(RAPT_METRIC_MAX_LENGTH + 2);
    assert_non_null(text);
    memset(text, 'a', RAPT_METRIC_MAX_LENGTH + 1);
    text[RAPT_METRIC_MAX_LENGTH + 1] = '\0';
    assert_int_equal(rapt_chrf_sentence(NULL, TEXT(text), TEXT(text), 1, &score, NULL), RAPT_ERR_VALUE);
    text[RAPT_METRIC_MAX_LENGTH] = '\0';
    const rapt_chrf_options one = CHRF(.char_order = 1);
    assert_int_equal(rapt_chrf_sentence(&one, TEXT(text), TEXT(text), 1, &score, NULL), RAPT_OK);
    assert_near(score, 100, 1e-9);
    free(text);
}

static void test_signatures(void **state)
{
    (void)state;
    char text[RAPT_SIGNATURE_SIZE];
    rapt_bleu_signature(NULL, 1, text, sizeof text);
    assert_string_equal(text, "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0");
    const rapt_bleu_options bleu = BLEU(.tokenize = RAPT_TOKENIZE_INTL, .smooth = RAPT_SMOOTH_ADD_K, .smooth_value = 0.5,
                                        .lowercase = true, .effective_order = true);
    rapt_bleu_signature(&bleu, 4, text, sizeof text);
    assert_string_equal(text, "nrefs:4|case:lc|eff:yes|tok:intl|smooth:add-k[0.50]|version:2.6.0");
    rapt_bleu_signature(&BLEU(.smooth = RAPT_SMOOTH_FLOOR), 1, text, sizeof text);
    assert_string_equal(text, "nrefs:1|case:mixed|eff:no|tok:13a|smooth:floor[0.10]|version:2.6.0");
    rapt_chrf_signature(NULL, 1, text, sizeof text);
    assert_string_equal(text, "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:2.6.0");
    const rapt_chrf_options chrf = CHRF(.char_order = 3, .word_order = 2, .beta = 1, .lowercase = true, .whitespace = true,
                                        .eps_smoothing = true);
    rapt_chrf_signature(&chrf, 2, text, sizeof text);
    assert_string_equal(text, "nrefs:2|case:lc|eff:no|nc:3|nw:2|space:yes|version:2.6.0");
    rapt_chrf_signature(NULL, 1, text, 8);
    assert_string_equal(text, "nrefs:1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clipping),
        cmocka_unit_test(test_several_references_are_clipped_by_the_largest),
        cmocka_unit_test(test_brevity),
        cmocka_unit_test(test_closest_reference_length),
        cmocka_unit_test(test_smoothing),
        cmocka_unit_test(test_effective_order),
        cmocka_unit_test(test_corpus_adds_counts),
        cmocka_unit_test(test_nothing_in_common),
        cmocka_unit_test(test_many_words_stay_apart),
        cmocka_unit_test(test_13a),
        cmocka_unit_test(test_intl),
        cmocka_unit_test(test_zh), cmocka_unit_test(test_tokenization_for_script),
        cmocka_unit_test(test_none_and_char),
        cmocka_unit_test(test_chrf_of_characters),
        cmocka_unit_test(test_chrf_space_and_case),
        cmocka_unit_test(test_chrf_words),
        cmocka_unit_test(test_chrf_takes_the_best_reference),
        cmocka_unit_test(test_chrf_corpus_adds_counts),
        cmocka_unit_test(test_chrf_leaves_out_orders_beyond_the_reference),
        cmocka_unit_test(test_chrf_eps),
        cmocka_unit_test(test_book),
        cmocka_unit_test(test_book_guards),
        cmocka_unit_test(test_bleu_errors),
        cmocka_unit_test(test_errors_name_the_place),
        cmocka_unit_test(test_chrf_errors),
        cmocka_unit_test(test_longest_segment),
        cmocka_unit_test(test_signatures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
