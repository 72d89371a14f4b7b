/* tests/decode/test_replace_unknown.c: unknown words of translations become the source words that the alignment says, as they
 * stand in the line; tokens and scores stay; whatever the batch, and with what the alignment is asked for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "decode/translate_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINES = 6, BEST = 3 };

/* Words that the vocabulary lacks among words that it has; "--" is a word, and so is punctuation. The last but one is longer than
 * the model takes, so that it is translated in parts. */
static const char *const lines[LINES] = {
    "w1 Zyzzyva w2",  "Quux",       "w3 w4 Foo2 w5 Bar-Baz", "",
    "w1 Aa w2 Bb w3 Cc w4 Dd, w5 Ee w6 Ff w7 Gg w8 Hh w9 Ii w10 Jj", "w1 w2 w3"};

/* A model that writes <unk> often. */
static rapt_model *unknowing_model(void)
{
    rapt_model *m = case_translation_model(12, (rapt_real)0);
    m->translation.net->decoder.output.bias->value.data[RAPT_UNK] += (rapt_real)3;
    return m;
}

static void run(const rapt_model *m, const rapt_translate_options *o, rapt_translation out[LINES])
{
    rapt_error err = {0};
    if (rapt_translate(m, lines, LINES, o, out, &err))
        fail_msg("%s", err.message);
}

/* Word number n of a line, as the tokenizer divides it: here at spaces and commas. */
static void word_of(const char *line, size_t n, char word[64])
{
    *word = '\0';
    while (*line) {
        while (*line == ' ')
            line++;
        const size_t size = *line == ',' ? 1 : strcspn(line, " ,");
        if (n-- == 0) {
            snprintf(word, 64, "%.*s", (int)size, line);
            return;
        }
        line += size;
    }
}

/* The text that hypothesis `h` should have: by its tokens and its alignment. */
static size_t expect(const rapt_model *m, const char *line, const rapt_hypothesis *h, char text[512])
{
    size_t replaced = 0;
    *text = '\0';
    for (size_t j = 0; j < h->token_count; j++) {
        char word[64];
        const rapt_alignment_row *row = &h->alignment.rows[j];
        size_t best = 0;
        for (size_t i = 1; i < row->count; i++)
            best = row->weights[i] > row->weights[best] ? i : best;
        if (h->tokens[j] == RAPT_UNK)
            word_of(line, row->first + best, word);
        else
            snprintf(word, sizeof word, "%s", rapt_tokenizer_token(m->translation.target, h->tokens[j], NULL));
        replaced += h->tokens[j] == RAPT_UNK;
        sprintf(text + strlen(text), "%s%s", j ? " " : "", word);
    }
    return replaced;
}

static void words_follow_the_alignment(void **state)
{
    (void)state;
    rapt_model *m = unknowing_model();
    for (size_t beam = 1; beam <= BEST; beam += BEST - 1) {
        size_t replaced = 0;
        rapt_translation with[LINES], without[LINES], alone[LINES];
        rapt_translate_options o = TRANSLATE(.beam = beam, .n_best = beam, .alignment = true, .tokens = true);
        run(m, &o, without);
        o.replace_unknown = true;
        run(m, &o, with);
        o.alignment = false;
        o.batch = 1;
        run(m, &o, alone);
        for (size_t i = 0; i < LINES; i++) {
            assert_int_equal(with[i].count, without[i].count);
            for (size_t n = 0; n < with[i].count; n++) {
                const rapt_hypothesis *a = &with[i].hypotheses[n], *b = &without[i].hypotheses[n];
                char text[512];
                replaced += expect(m, lines[i], a, text);
                assert_string_equal(a->text, text);
                assert_string_equal(alone[i].hypotheses[n].text, text);
                assert_int_equal(a->token_count, b->token_count);
                assert_memory_equal(a->tokens, b->tokens, a->token_count * sizeof *a->tokens);
                assert_memory_equal(&a->log_prob, &b->log_prob, sizeof a->log_prob);
                assert_null(strstr(a->text, "<unk>"));
            }
        }
        assert_true(replaced > 10);
        rapt_translations_free(with, LINES);
        rapt_translations_free(without, LINES);
        rapt_translations_free(alone, LINES);
    }
    rapt_model_free(m);
}

/* Without a text there is no word to take: tokens that are words themselves are taken, and <unk> stays. */
static void lines_may_be_tokens(void **state)
{
    (void)state;
    rapt_model *m = unknowing_model();
    rapt_error err = {0};
    rapt_translation out[2];
    const int32_t known[] = {7, 8, 9}, unknown[] = {RAPT_UNK, RAPT_UNK};
    const rapt_source_tokens tokens[] = {{known, 3}, {unknown, 2}};
    const rapt_translate_options o = TRANSLATE(.replace_unknown = true, .tokens = true);
    rapt_translator *t = rapt_translator_new(m, NULL, &err);
    assert_non_null(t);
    const rapt_translator_request r = {.options = &o, .tokens = tokens};
    assert_int_equal(rapt_translator_run(t, &r, NULL, 2, out, &err), RAPT_OK);
    const rapt_hypothesis *h = &out[0].hypotheses[0], *u = &out[1].hypotheses[0];
    size_t unknowns = 0;
    for (size_t j = 0; j < h->token_count + u->token_count; j++)
        unknowns += (j < h->token_count ? h->tokens[j] : u->tokens[j - h->token_count]) == RAPT_UNK;
    assert_true(unknowns > 1);
    assert_null(strstr(h->text, "<unk>"));
    assert_non_null(strstr(u->text, "<unk>"));
    rapt_translations_free(out, 2);
    rapt_translator_free(t);
    rapt_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(words_follow_the_alignment), cmocka_unit_test(lines_may_be_tokens)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
