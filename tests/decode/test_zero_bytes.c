/* tests/decode/test_zero_bytes.c: a text with a zero byte is read whole, or refused by name, by everything that reads texts.
 * U+0000 is a character like any other: Python's str.split does not split there, and a vocabulary of characters has it as the
 * smallest. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "io/model_folder.h"
#include "options.h"
#include "rapt.h"

#include <string.h>

#define WHOLE "a\0b"

static const rapt_text LINE = {WHOLE, 3};
/* <unk> <pad> <bos> <eos> come first, then the characters in numeric order: U+0000, a, b. */
static const int32_t IDS[] = {5, 4, 6, RAPT_EOS};
enum { TOKENS = 3 };

static rapt_tokenizer *lines_of_characters(void)
{
    rapt_error err = {0};
    rapt_tokenizer *k = rapt_tokenizer_train_characters_with(WHOLE, 3, &TRAIN_CHARACTERS(.specials_first = true), &err);
    must(err.code, &err);
    return k;
}

/* translation_model with vocabularies of characters, both of seven entries. */
static rapt_model *of_characters(void)
{
    rapt_error err = {0};
    rapt_transformer_config c = {.source_vocab = 7, .target_vocab = 7, .layers = 1, .max_positions = 8, .embedding_std = 1,
                                 .block = {.d_model = 4, .heads = 2, .ffn = 6, .bias = true}};
    rapt_translation_model members = {.net = rapt_transformer_new(&c, 1, &err), .source = lines_of_characters(),
                                      .target = lines_of_characters(), .special = RAPT_SPECIAL_IDS, .max_len = 6};
    rapt_model *m = rapt_model_new_translation(&members, &err);
    must(err.code, &err);
    return m;
}

static void assert_source(const rapt_translation *t)
{
    assert_int_equal(t->source_count, TOKENS);
    assert_memory_equal(t->source, IDS, sizeof *IDS * TOKENS);
}

static void translators_read_it(void **state)
{
    (void)state;
    rapt_error err = {0};
    rapt_model *m = of_characters();
    rapt_translator *t = rapt_translator_new(m, &TRANSLATE(.tokens = true, .compute.threads = 1), &err);
    const rapt_source_tokens tokens = {IDS, TOKENS};
    rapt_translation text, ids, first;
    must(rapt_translator_run(t, NULL, &LINE, 1, &text, &err), &err);
    assert_source(&text);
    must(rapt_translator_run(t, &(rapt_translator_request){.tokens = &tokens}, NULL, 1, &ids, &err), &err);
    assert_string_equal(text.hypotheses[0].text, ids.hypotheses[0].text);
    assert_true(text.hypotheses[0].log_prob == ids.hypotheses[0].log_prob);
    must(rapt_translator_run(t, NULL, &(rapt_text){WHOLE, 1}, 1, &first, &err), &err);
    assert_int_equal(first.source_count, 1);
    rapt_translations_free(&text, 1);
    rapt_translations_free(&ids, 1);
    rapt_translations_free(&first, 1);
    const rapt_text prefix = {"b\0", 2};
    must(rapt_translator_run(t, &(rapt_translator_request){.prefixes = &prefix}, &LINE, 1, &text, &err), &err);
    assert_true(text.hypotheses[0].token_count >= 2 && text.hypotheses[0].tokens[0] == 6 && text.hypotheses[0].tokens[1] == 4);
    rapt_translations_free(&text, 1);
    assert_int_equal(rapt_translator_run(t, NULL, &(rapt_text){NULL, 0}, 1, &text, &err), RAPT_ERR_VALUE);
    assert_string_equal(err.message, "line 1 has neither a text nor tokens");
    rapt_translator_free(t);
    rapt_model_free(m);
}

/* A word is named by a string, with U+FFFD for the zero byte. */
static void unknown_words_are_named(void **state)
{
    (void)state;
    rapt_error err = {0};
    rapt_translation out;
    rapt_model *m = of_characters();
    rapt_translator *t = rapt_translator_new(m, &TRANSLATE(.compute.threads = 1), &err);
    must(rapt_translator_run(t, NULL, &(rapt_text){"z\0", 2}, 1, &out, &err), &err);
    assert_int_equal(out.unknown_word_count, 1);
    assert_string_equal(out.unknown_words[0], "z");
    rapt_translations_free(&out, 1);
    rapt_translator_free(t);
    rapt_tokenizer_free(m->translation.source);
    m->translation.source = rapt_tokenizer_train_characters_with("ab", 2, &TRAIN_CHARACTERS(.specials_first = true), &err);
    t = rapt_translator_new(m, &TRANSLATE(.compute.threads = 1), &err);
    must(rapt_translator_run(t, NULL, &LINE, 1, &out, &err), &err);
    assert_int_equal(out.unknown_word_count, 1);
    assert_string_equal(out.unknown_words[0], "\xEF\xBF\xBD");
    rapt_translations_free(&out, 1);
    rapt_translator_free(t);
    rapt_model_free(m);
}

static void words_refuse_it(void **state)
{
    (void)state;
    rapt_error err = {0};
    rapt_translation out;
    rapt_model *m = translation_model();
    rapt_translator *t = rapt_translator_new(m, NULL, &err);
    assert_int_equal(rapt_translator_run(t, NULL, &LINE, 1, &out, &err), RAPT_ERR_FORMAT);
    assert_non_null(strstr(err.message, "byte 2: NUL is no part of words"));
    rapt_translator_free(t);
    rapt_model_free(m);
}

static void engine_done(void *context, rapt_code code, const char *message, const rapt_translation *out)
{
    rapt_translation *copy = context;
    if (code)
        print_message("%s\n", message);
    if (!code && out->source_count == TOKENS && memcmp(out->source, IDS, sizeof *IDS * TOKENS) == 0)
        copy->source_count = out->source_count;
}

static void engines_read_it(void **state)
{
    (void)state;
    rapt_error err = {0};
    rapt_engine *e = rapt_engine_new(NULL, &err);
    rapt_engine_model *m = rapt_engine_add(e, of_characters(), NULL, &err);
    rapt_translation done = {0};
    rapt_engine_job *job = NULL;
    const rapt_translate_options o = TRANSLATE(.tokens = true);
    const rapt_engine_translation request = {.lines = &LINE, .count = 1, .options = &o, .on_done = engine_done, .context = &done};
    must(rapt_engine_translate(m, &request, &job, &err), &err);
    rapt_engine_job_free(job);
    assert_int_equal(done.source_count, TOKENS);
    const rapt_engine_translation later = {.lines = &LINE, .count = 1, .reserved = {e}};
    assert_int_equal(rapt_engine_translate(m, &later, NULL, &err), RAPT_ERR_VALUE);
    assert_non_null(strstr(err.message, "rapt_engine_translation.reserved is not zero"));
    rapt_engine_free(e);
}

static void explanations_read_it(void **state)
{
    (void)state;
    rapt_error err = {0};
    size_t size;
    char *json;
    rapt_model *m = of_characters();
    rapt_explanation *e = rapt_explanation_new(m, WHOLE, 3, &EXPLAIN(.target = LINE), &err);
    must(err.code, &err);
    const rapt_explained_sequence source = rapt_explanation_sequence(e, 0), target = rapt_explanation_sequence(e, 1);
    assert_int_equal(source.count, TOKENS + 1);
    assert_memory_equal(source.ids, IDS, sizeof IDS);
    assert_int_equal(target.count, TOKENS + 1);
    assert_memory_equal(target.ids + 1, IDS, sizeof *IDS * TOKENS);
    assert_memory_equal(rapt_explanation_target(e, &size), WHOLE, 4);
    assert_int_equal(size, 3);
    must(rapt_explanation_json(e, NULL, &json, &size, &err), &err);
    assert_non_null(strstr(json, "\"text\": \"a\\u0000b\""));
    assert_non_null(strstr(json, "\"target\": \"a\\u0000b\""));
    free(json);
    rapt_explanation_free(e);
    rapt_model_free(m);
}

static void language_models_read_it(void **state)
{
    (void)state;
    rapt_error err = {0};
    rapt_score score;
    const rapt_lm_config c = lm_variant(24);
    rapt_model *m = language_model(&c, characters('\0', c.vocab));
    rapt_generator *g = rapt_generator_new(m, NULL, &err);
    must(rapt_generator_begin(g, "\1\0\2", 3, &err), &err);
    assert_int_equal(rapt_generator_tokens(g), 3);
    rapt_generator_free(g);
    must(rapt_score_text(m, "\1\0\2\3", 4, NULL, &score, &err), &err);
    assert_int_equal(score.tokens, 3); /* all except the first */
    assert_int_equal(score.bytes, 3);
    rapt_model_free(m);
}

static void tokenizers_read_it(void **state)
{
    (void)state;
    rapt_error err = {0};
    int32_t *ids;
    size_t count;
    rapt_tokenizer *k = lines_of_characters();
    must(rapt_tokenizer_encode_bytes(k, WHOLE, 3, NULL, &ids, &count, &err), &err);
    assert_int_equal(count, TOKENS);
    assert_memory_equal(ids, IDS, sizeof *IDS * TOKENS);
    free(ids);
    rapt_tokenizer_free(k);
    k = rapt_tokenizer_train_bpe(WHOLE, 3, &TRAIN_BPE(.vocab_size = 256), &err);
    must(rapt_tokenizer_encode_bytes(k, WHOLE, 3, NULL, &ids, &count, &err), &err);
    assert_int_equal(count, 3);
    char *text = rapt_tokenizer_decode(k, ids, count, &count);
    assert_int_equal(count, 3);
    assert_memory_equal(text, WHOLE, 4);
    free(text);
    free(ids);
    rapt_tokenizer_free(k);
}

/* sacreBLEU 2.6.0 has the same counts and 75.0. If texts were cut, "a" would be all of both. */
static void metrics_read_it(void **state)
{
    (void)state;
    rapt_error err = {0};
    rapt_bleu bleu;
    double chrf;
    const rapt_text translation = {"a\0b c", 5}, reference = {"a\0d c", 5}, label = {"a\0b c", 5};
    must(rapt_bleu_sentence(NULL, &translation, &reference, 1, &bleu, &err), &err);
    assert_true(bleu.counts[0] == 1 && bleu.totals[0] == 2);
    must(rapt_chrf_sentence(&CHRF(.char_order = 1), &translation, &reference, 1, &chrf, &err), &err);
    assert_true(chrf > 74.99 && chrf < 75.01); /* a, U+0000 and c of four characters on both sides */
    assert_true(rapt_bleu_book(&translation, &label, 1) == 1);
    assert_true(rapt_bleu_book(&translation, &reference, 1) < 0.8); /* sqrt(1 / 2) */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(translators_read_it),     cmocka_unit_test(unknown_words_are_named),
        cmocka_unit_test(words_refuse_it),         cmocka_unit_test(engines_read_it),
        cmocka_unit_test(explanations_read_it),    cmocka_unit_test(language_models_read_it),
        cmocka_unit_test(tokenizers_read_it),      cmocka_unit_test(metrics_read_it),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
