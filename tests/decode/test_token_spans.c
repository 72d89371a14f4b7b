/* tests/decode/test_token_spans.c: where the tokens of lines and translations are in their texts: with a model of words, whose
 * tokens are known, whatever the batch and the threads; and where texts differ from their tokens.
 * labels: threads */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "decode/token_spans.h"
#include "decode/translate_case.h"
#include "options.h"
#include "texts.h"

enum { LINES = 5, BEST = 2, MOST = 16 };

static const char *const lines[LINES] = {"w1 Zyzzyva  w2", "", "w3",
                                         "w1, w2 w3 w4 w5 w6 w7 w8 w9 w10 w11 w12 w13 w14", " w7 w8 "};

static void translate(const rapt_model *m, rapt_translate_options o, rapt_translation out[LINES])
{
    rapt_error err = {0};
    if (rapt_translate(m, lines, LINES, &o, out, &err))
        fail_msg("%s", err.message);
}

/* Words as the tokenizer has them stand in the line one after the other; each segment's are followed by its next. */
static void check_source(const rapt_model *m, const char *line, const rapt_translation *t)
{
    size_t at = 0;
    for (size_t i = 0; i < t->source_count; i++) {
        const rapt_span s = t->source_spans[i];
        char word[32];
        assert_true(s.begin >= at && s.begin < s.end && s.end <= strlen(line));
        snprintf(word, sizeof word, "%.*s", (int)(s.end - s.begin), line + s.begin);
        const char *token = rapt_tokenizer_token(m->translation.source, t->source[i], NULL);
        if (t->source[i] != RAPT_UNK)
            assert_string_equal(word + strspn(word, " "), token);
        at = s.end;
    }
    assert_int_equal(at + strspn(line + at, " "), strlen(line));
}

static void check_target(const rapt_model *m, const rapt_hypothesis *h)
{
    size_t at = 0;
    for (size_t i = 0; i < h->token_count; i++) {
        const rapt_span s = h->spans[i];
        const char *token = rapt_tokenizer_token(m->translation.target, h->tokens[i], NULL);
        if (s.begin == s.end) /* <bos> and <pad> are not in the text */
            continue;
        assert_true(s.begin >= at && s.end <= strlen(h->text));
        assert_int_equal(s.end - s.begin, strlen(token));
        assert_memory_equal(h->text + s.begin, token, s.end - s.begin);
        assert_int_equal(strspn(h->text + at, " "), s.begin - at);
        at = s.end;
    }
    assert_int_equal(at, strlen(h->text));
}

static void tokens_are_in_their_texts(void **state)
{
    (void)state;
    rapt_model *m = case_translation_model(9, 2);
    rapt_translation all[LINES], other[LINES];
    rapt_translate_options o = TRANSLATE(.beam = 3, .n_best = BEST, .tokens = true, .spans = true);
    translate(m, o, all);
    o.compute.threads = 3;
    o.batch = 1;
    translate(m, o, other);
    for (size_t i = 0; i < LINES; i++) {
        check_source(m, lines[i], &all[i]);
        assert_memory_equal(all[i].source_spans, other[i].source_spans, all[i].source_count * sizeof(rapt_span));
        for (size_t n = 0; n < all[i].count; n++) {
            const rapt_hypothesis *h = &all[i].hypotheses[n];
            check_target(m, h);
            assert_memory_equal(h->spans, other[i].hypotheses[n].spans, h->token_count * sizeof(rapt_span));
        }
    }
    rapt_translations_free(all, LINES);
    rapt_translations_free(other, LINES);
    o.spans = false;
    translate(m, o, all);
    assert_null(all[0].source_spans);
    assert_null(all[0].hypotheses->spans);
    rapt_translations_free(all, LINES);
    rapt_model_free(m);
}

/* Tokens in place of a text have no place in it. */
static void tokens_without_a_text(void **state)
{
    (void)state;
    rapt_error err = {0};
    rapt_model *m = case_translation_model(9, 2);
    const int32_t ids[] = {7, 8};
    const rapt_source_tokens tokens = {ids, 2};
    rapt_translation out;
    rapt_translator *t = rapt_translator_new(m, &TRANSLATE(.tokens = true, .spans = true), &err);
    assert_non_null(t);
    assert_int_equal(rapt_translator_run(t, &(rapt_translator_request){.tokens = &tokens}, NULL, 1, &out, &err), RAPT_OK);
    assert_int_equal(out.source_count, 2);
    for (size_t i = 0; i < 2; i++)
        assert_true(out.source_spans[i].begin == 0 && out.source_spans[i].end == 0);
    rapt_translations_free(&out, 1);
    rapt_translator_free(t);
    assert_null(rapt_translator_new(m, &TRANSLATE(.spans = true), &err));
    assert_string_equal(err.message, "spans are of tokens: ask for `tokens`, too");
    rapt_model_free(m);
}

typedef struct map_case {
    const char *tokens, *text, *want; /* parts with | between */
} map_case;

static void texts_differ_from_their_tokens(void **state)
{
    static const map_case cases[] = {
        {"A| man|.", "A man.", "A|man|."},
        {"a|man|.", "A man.", "A|man|."},                           /* words, capitalized */
        {"l|'|homme|est|.", "L'homme est.", "L|'|homme|est|."},    /* detokenized */
        {"x|<unk>|y|z|w", "x Zyzzyva y z w", "x|Zyzzyva|y|z|w"},    /* a word was replaced */
        {"a|&quot;|b c d|e", "a \" b c d e", "a|\"|b c d|e"},
        {"|a||b", "a b", "|a||b"},                                   /* tokens without bytes */
        {"\xE4\xBD|\xA0\xE5\xA5\xBD", "\xE4\xBD\xA0\xE5\xA5\xBD", "|\xE4\xBD\xA0\xE5\xA5\xBD"}, /* half a character */
        {"one two|three", "", "|"},
        {"", "text", ""},
        {"all|other", "12345678 9", NULL},
    };
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        char from[64] = "", has[128] = "";
        size_t ends[MOST], count = 0;
        rapt_span spans[MOST];
        for (const char *at = cases[c].tokens; *cases[c].tokens; at += strcspn(at, "|") + 1) {
            strncat(from, at, strcspn(at, "|"));
            ends[count++] = strlen(from);
            if (!at[strcspn(at, "|")])
                break;
        }
        assert_true(token_spans_map(from, ends, count, rapt_text_of(cases[c].text), spans));
        for (size_t i = 0, at = 0; i < count; at = spans[i++].end) {
            assert_true(spans[i].begin >= at && spans[i].begin <= spans[i].end && spans[i].end <= strlen(cases[c].text));
            snprintf(has + strlen(has), sizeof has - strlen(has), "%s%.*s", i ? "|" : "", (int)(spans[i].end - spans[i].begin),
                     cases[c].text + spans[i].begin);
        }
        if (cases[c].want)
            assert_string_equal(has, cases[c].want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tokens_are_in_their_texts), cmocka_unit_test(tokens_without_a_text),
                                       cmocka_unit_test(texts_differ_from_their_tokens)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
