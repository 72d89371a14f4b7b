/* tests/serve/test_native.c: /v1/translate against rapt_translate: every hypothesis with the same bits of score, log-probability,
 * tokens and alignments, and what is wrong refused by name. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "explain/explain_case.h"
#include "options.h"
#include "rapt/decode.h"
#include "serve/ask.h"
#include "serve/module/native.h"

static app *served_app;
static rapt_model *own; /* with the weights of those that are served */

static int set_up_app(void **state)
{
    rapt_error err = {0};
    (void)state;
    served_app = served_app_new();
    own = case_translator();
    assert_non_null(served_app);
    assert_true(served_app_add(served_app, "de-en", "de", "en", case_translator(), &err));
    assert_true(served_app_add(served_app, "en-de", "en", "de", case_translator(), &err));
    assert_true(served_app_add(served_app, "unknown", NULL, NULL, case_translator(), &err));
    assert_true(served_app_add(served_app, "lm", NULL, NULL, case_language_model(), &err));
    return 0;
}

static int tear_down_app(void **state)
{
    (void)state;
    served_app_free(served_app);
    rapt_model_free(own);
    return 0;
}

static void assert_same_double(double a, const json_t *b)
{
    double got = json_number_value(b);
    assert_memory_equal(&a, &got, sizeof a);
}

static void assert_tokens(const int32_t *ids, size_t count, const rapt_tokenizer *k, const json_t *got)
{
    const json_t *list = json_object_get(got, "ids"), *texts = json_object_get(got, "tokens");
    assert_int_equal(json_array_size(list), count);
    assert_int_equal(json_array_size(texts), count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(json_integer_value(json_array_get(list, i)), ids[i]);
        assert_string_equal(json_string_value(json_array_get(texts, i)), rapt_tokenizer_token(k, ids[i], NULL));
    }
}

/* Rows of floats, which come back as the same ones; of tokens of other segments there are zeros. */
static void assert_soft(const rapt_alignment *a, const json_t *got)
{
    assert_int_equal(json_array_size(got), a->targets);
    for (size_t j = 0; j < a->targets; j++) {
        const rapt_alignment_row *row = &a->rows[j];
        const json_t *list = json_array_get(got, j);
        assert_int_equal(json_array_size(list), a->sources + 1);
        for (size_t i = 0; i <= a->sources; i++) {
            bool in = i >= row->first && i < row->first + row->count;
            rapt_real expected = i == a->sources ? row->weights[row->count] : in ? row->weights[i - row->first] : 0;
            rapt_real value = (rapt_real)json_number_value(json_array_get(list, i));
            assert_memory_equal(&value, &expected, sizeof value);
        }
    }
}

static void assert_hard(const rapt_alignment *a, const json_t *got)
{
    assert_int_equal(json_array_size(got), a->targets);
    for (size_t j = 0; j < a->targets; j++) {
        const rapt_alignment_row *row = &a->rows[j];
        const json_t *pair = json_array_get(got, j);
        size_t i = (size_t)json_integer_value(json_array_get(pair, 0)) - row->first;
        assert_int_equal(json_integer_value(json_array_get(pair, 1)), j);
        assert_true(i < row->count);
        for (size_t other = 0; other < row->count; other++)
            assert_true(row->weights[i] >= row->weights[other]);
    }
}

static void assert_line(const char *line, size_t number, rapt_translate_options o, bool soft, const json_t *got)
{
    rapt_translation out;
    rapt_error err = {0};
    const rapt_text text = rapt_text_of(line);
    const rapt_translator_request r = {.first_line = number};
    rapt_translator *t = rapt_translator_new(own, &o, &err);
    if (!t || rapt_translator_run(t, &r, &text, 1, &out, &err))
        fail_msg("%s", err.message);
    rapt_translator_free(t);
    const json_t *list = json_object_get(got, "hypotheses");
    assert_string_equal(json_string_value(json_object_get(got, "text")), out.hypotheses[0].text);
    assert_int_equal(json_is_true(json_object_get(got, "truncated")), out.cut);
    assert_int_equal(json_array_size(json_object_get(got, "unknown_words")), strcmp(line, "zyzzyva") == 0);
    if (strcmp(line, "zyzzyva") == 0)
        assert_string_equal(json_string_value(json_array_get(json_object_get(got, "unknown_words"), 0)), "zyzzyva");
    assert_int_equal(json_array_size(list), out.count);
    for (size_t i = 0; i < out.count; i++) {
        const rapt_hypothesis *h = &out.hypotheses[i];
        const json_t *one = json_array_get(list, i), *alignment = json_object_get(one, "alignment");
        assert_string_equal(json_string_value(json_object_get(one, "text")), h->text);
        assert_same_double(h->score, json_object_get(one, "score"));
        assert_same_double(h->log_prob, json_object_get(one, "log_prob"));
        assert_int_equal(json_is_array(alignment), o.alignment);
        if (o.alignment)
            (soft ? assert_soft : assert_hard)(&h->alignment, alignment);
        if (o.tokens)
            assert_tokens(h->tokens, h->token_count, own->translation.target, json_object_get(one, "tokens"));
        for (size_t k = 0; o.tokens && k < h->token_count; k++)
            assert_same_double(h->log_probs[k], json_array_get(json_object_get(one, "token_log_probs"), k));
    }
    if (o.tokens)
        assert_tokens(out.source, out.source_count, own->translation.source, json_object_get(got, "source"));
    rapt_translations_free(&out, 1);
}

static void check_translate(const char *body, const char *const *lines, size_t count, rapt_translate_options o, bool soft,
                            const char *replay)
{
    answer to = ask_post(served_app, native_translate, body);
    assert_status(&to, 200);
    assert_int_equal(json_array_size(answer_at(&to, "translations")), count);
    for (size_t i = 0; i < count; i++)
        assert_line(lines[i], i, o, soft, json_array_get(answer_at(&to, "translations"), i));
    assert_string_equal(to.replay, replay);
    answer_free(&to);
}

static void hypotheses_have_the_same_bits(void **state)
{
    static const char *const lines[] = {"w1 w2 w3", "", "w1 w2 w3 w4 w5 w6 w7 w8 w9", "zyzzyva"};
    (void)state;
    check_translate("{\"text\": \"w1 w2 w3\"}", lines, 1, TRANSLATE(), false,
                    "rapt translate de-en <<< 'w1 w2 w3'");
    check_translate("{\"texts\": [\"w1 w2 w3\", \"\", \"w1 w2 w3 w4 w5 w6 w7 w8 w9\", \"zyzzyva\"], \"beam\": 4, \"n_best\": 3,"
                    "\"length_penalty\": 0.6, \"coverage_penalty\": 0.5, \"patience\": 2, \"source\": \"de\","
                    "\"target\": \"en\"}", lines, 4,
                    TRANSLATE(.beam = 4, .n_best = 3, .length_penalty = 0.6, .coverage_penalty = 0.5, .patience = 2), false,
                    "rapt translate de-en --beam 4 --n-best 3 --length-penalty 0.6 --coverage-penalty 0.5 --patience 2 "
                    "<<< $'w1 w2 w3\\n\\nw1 w2 w3 w4 w5 w6 w7 w8 w9\\nzyzzyva'");
    check_translate("{\"text\": \"w1 w2 w3\", \"model\": \"unknown\", \"beam\": 2, \"length_penalty\": 0, \"no_repeat_ngram\": 2,"
                    "\"max_length_ratio\": 1.5, \"min_length\": 4, \"suppress\": [\"w7\", \"w1 w2\"], "
                    "\"replace_unknown\": true, \"prefix\": \"w5\"}", lines, 1,
                    TRANSLATE(.beam = 2, .length_penalty = 0, .no_repeat = 2, .max_ratio = 1.5, .min_length = 4,
                          .suppress = "w7\nw1 w2", .prefix = "w5", .replace_unknown = true),
                    false, "rapt translate unknown --beam 2 --length-penalty 0 --no-repeat-ngram 2 --max-length-ratio 1.5 "
                    "--min-length 4 --suppress 'w7' --suppress 'w1 w2' --prefix 'w5' --replace-unknown <<< 'w1 w2 w3'");
}

static void alternatives_have_the_same_bits(void **state)
{
    static const char *const lines[] = {"w1 w2 w3"};
    (void)state;
    check_translate("{\"text\": \"w1 w2 w3\", \"prefix\": \"w5\", \"n_best\": 3, \"alternatives\": true}", lines, 1,
                    TRANSLATE(.prefix = "w5", .n_best = 3, .alternatives = true), false,
                    "rapt translate de-en --n-best 3 --alternatives --prefix 'w5' <<< 'w1 w2 w3'");
}

static void draws_have_the_same_bits(void **state)
{
    static const char *const lines[] = {"w1 w2 w3", "", "w1 w2 w3 w4 w5 w6 w7 w8 w9", "w1 w2 w3"};
    (void)state;
    check_translate("{\"texts\": [\"w1 w2 w3\", \"\", \"w1 w2 w3 w4 w5 w6 w7 w8 w9\", \"w1 w2 w3\"], \"temperature\": 1.5,"
                    "\"top_k\": 40, \"top_p\": 0.9, \"min_p\": 0.01, \"typical_p\": 0.95, \"repetition_penalty\": 1.5,"
                    "\"seed\": 7}", lines, 4,
                    TRANSLATE(.sample = {.temperature = 1.5, .top_k = 40, .top_p = 0.9, .min_p = 0.01, .typical_p = 0.95,
                                         .repetition_penalty = 1.5, .seed = 7}), false,
                    "rapt translate de-en --temperature 1.5 --top-k 40 --top-p 0.9 --min-p 0.01 --typical-p 0.95 "
                    "--repetition-penalty 1.5 --seed 7 <<< $'w1 w2 w3\\n\\nw1 w2 w3 w4 w5 w6 w7 w8 w9\\nw1 w2 w3'");
}

static void alignments_have_the_same_bits(void **state)
{
    static const char *const lines[] = {"w1 w2 w3", "w1 w2 w3 w4 w5 w6 w7 w8 w9"};
    const rapt_translate_options o = {TRANSLATE_DEFAULTS, .beam = 3, .n_best = 2, .alignment = true, .tokens = true};
    (void)state;
    check_translate("{\"texts\": [\"w1 w2 w3\", \"w1 w2 w3 w4 w5 w6 w7 w8 w9\"], \"beam\": 3, \"n_best\": 2,"
                    "\"alignment\": \"soft\", \"tokens\": true}", lines, 2, o, true,
                    "rapt translate de-en --beam 3 --n-best 2 --alignment soft "
                    "--tokens <<< $'w1 w2 w3\\nw1 w2 w3 w4 w5 w6 w7 w8 w9'");
    check_translate("{\"text\": \"w1 w2 w3\", \"beam\": 3, \"n_best\": 2, \"alignment\": \"hard\", \"tokens\": true}", lines, 1,
                    o, false, "rapt translate de-en --beam 3 --n-best 2 --alignment hard --tokens <<< 'w1 w2 w3'");
}

/* Hypothesis n of a text joins hypothesis n of each line; scores add up. */
static void several_lines(void **state)
{
    const char *lines[] = {"w1 w2", "w9 w8 w7"};
    const rapt_translate_options o = {TRANSLATE_DEFAULTS, .beam = 2, .n_best = 2};
    rapt_translation out[2];
    char expected[512];
    (void)state;
    assert_int_equal(rapt_translate(own, lines, 2, &o, out, NULL), RAPT_OK);
    answer to = ask_post(served_app, native_translate, "{\"text\": \"w1 w2\\nw9 w8 w7\", \"beam\": 2, \"n_best\": 2}");
    assert_status(&to, 200);
    snprintf(expected, sizeof expected, "%s\n%s", out[0].hypotheses[1].text, out[1].hypotheses[1].text);
    assert_string_equal(answer_text(&to, "translations.0.hypotheses.1.text"), expected);
    assert_same_double(out[0].hypotheses[1].score + out[1].hypotheses[1].score,
                       answer_at(&to, "translations.0.hypotheses.1.score"));
    answer_free(&to);
    rapt_translations_free(out, 2);
}

static void languages_choose_the_model(void **state)
{
    (void)state;
    answer to = ask_post(served_app, native_translate, "{\"text\": \"w1\", \"target\": \"de\"}");
    assert_status(&to, 200);
    assert_string_equal(answer_text(&to, "model"), "en-de");
    assert_string_equal(answer_text(&to, "source"), "en");
    answer_free(&to);
    to = ask_post(served_app, native_translate, "{\"text\": \"w1\", \"model\": \"unknown\"}");
    assert_true(json_is_null(answer_at(&to, "source")));
    answer_free(&to);
}

/* A glossary of the request's own: as rapt_translate with it. */
static void glossaries(void **state)
{
    rapt_error err = {0};
    rapt_translation out[2];
    static const char *const lines[] = {"w1 w2", "w3"};
    (void)state;
    rapt_glossary *g = rapt_glossary_parse("g", rapt_text_of("w1\tw20 w21\nw9\tzyzzyva\n"), &err);
    assert_non_null(g);
    assert_int_equal(rapt_translate(own, lines, 2, &TRANSLATE(.beam = 8, .n_best = 2, .glossary = g), out, NULL), RAPT_OK);
    answer to = ask_post(served_app, native_translate,
                         "{\"texts\": [\"w1 w2\", \"w3\"], \"model\": \"de-en\", \"beam\": 8, \"n_best\": 2,"
                         "\"glossary\": {\"w1\": \"w20 w21\","
                         "\"w9\": \"zyzzyva\"}}");
    assert_status(&to, 200);
    assert_non_null(strstr(answer_text(&to, "translations.0.text"), "w20 w21"));
    assert_string_equal(answer_text(&to, "translations.0.hypotheses.1.text"), out[0].hypotheses[1].text);
    assert_string_equal(answer_text(&to, "translations.1.text"), out[1].hypotheses[0].text);
    assert_null(json_object_get(answer_at(&to, "translations.0"), "lacks_terms"));
    assert_string_equal(to.replay, "");
    answer_free(&to);
    rapt_translations_free(out, 2);
    rapt_glossary_free(g);
    to = ask_post(served_app, native_translate, "{\"text\": \"<p>w9 <b>w3</b></p>\", \"model\": \"de-en\", \"format\": \"html\","
                                                "\"glossary\": {\"w9\": \"zyzzyva\"}}");
    assert_status(&to, 200);
    assert_true(json_is_true(answer_at(&to, "translations.0.lacks_terms")));
    answer_free(&to);
}

/* Hypotheses of a document are hypotheses of its lines; scores add up. */
static void documents(void **state)
{
    (void)state;
    answer to = ask_post(served_app, native_translate,
                         "{\"text\": \"<p id=1>w1 w2</p><p>w3</p>\", \"model\": \"de-en\", \"format\": \"html\","
                         "\"beam\": 3, \"n_best\": 2}");
    static const char *const lines[] = {"w1 w2", "w3"};
    rapt_translation out[2];
    assert_status(&to, 200);
    assert_int_equal(rapt_translate(own, lines, 2, &TRANSLATE(.beam = 3, .n_best = 2), out, NULL), RAPT_OK);
    assert_int_equal(json_array_size(answer_at(&to, "translations.0.hypotheses")), 2);
    for (size_t n = 0; n < 2; n++) {
        char expected[512], path[64];
        const rapt_hypothesis *a = &out[0].hypotheses[n], *b = &out[1].hypotheses[n];
        snprintf(expected, sizeof expected, "<p id=1>%s</p><p>%s</p>", a->text, b->text);
        snprintf(path, sizeof path, "translations.0.hypotheses.%zu.text", n);
        assert_string_equal(answer_text(&to, path), expected);
        snprintf(path, sizeof path, "translations.0.hypotheses.%zu.score", n);
        assert_same_double(a->score + b->score, answer_at(&to, path));
    }
    answer_free(&to);
    rapt_translations_free(out, 2);
    to = ask_post(served_app, native_translate,
                  "{\"texts\": [\"\", \"<i>5</i>\"], \"model\": \"de-en\", \"format\": \"xml\"}");
    assert_status(&to, 200);
    assert_string_equal(answer_text(&to, "translations.0.hypotheses.0.text"), "");
    assert_string_equal(answer_text(&to, "translations.1.text"), "<i>5</i>");
    answer_free(&to);
}

static void wrong_requests(void **state)
{
    static const refusal all[] = {
        {"{}", 400, "text"},
        {"{\"text\": \"w1\", \"texts\": [\"w1\"]}", 400, "text or texts, not both"},
        {"{\"text\": [\"w1\"]}", 400, "text: a string is expected"},
        {"{\"texts\": \"w1\"}", 400, "texts: a list of strings is expected"},
        {"{\"texts\": []}", 400, "texts"},
        {"{\"texts\": [null]}", 400, "texts"},
        {"{\"text\": \"w1\", \"model\": \"none\"}", 404, "none"},
        {"{\"text\": \"w1\", \"model\": \"lm\"}", 400, "lm"},
        {"{\"text\": \"w1\", \"model\": \"de-en\", \"target\": \"en\"}", 400, "a model, or languages, not both"},
        {"{\"text\": \"w1\", \"source\": \"de\"}", 400, "target"},
        {"{\"text\": \"w1\", \"target\": \"xx\"}", 400, "target: xx is not supported"},
        {"{\"text\": \"w1\", \"beam\": 0}", 400, "beam"},
        {"{\"text\": \"w1\", \"glossary\": \"w1\"}", 400, "glossary: an object of texts"},
        {"{\"text\": \"w1\", \"glossary\": {\"w1\": 1}}", 400, "glossary: \"w1\": a string is expected"},
        {"{\"text\": \"w1\", \"glossary\": {\"w1\": \"\"}}", 400, "empty"},
        {"{\"text\": \"w1\", \"glossary\": {}}", 400, "term"},
        {"{\"text\": \"w1\", \"glossary\": {\"a\": \"b\"}, \"temperature\": 1}", 400, "glossary"},
        {"{\"text\": \"w1\", \"format\": \"md\"}", 400, "format"},
        {"{\"text\": \"w1\", \"format\": \"html\", \"tokens\": true}", 400, "tokens: a document has many lines"},
        {"{\"text\": \"w1\", \"format\": \"xml\", \"alignment\": \"hard\"}", 400, "alignment: a document has many lines"},
        {"{\"text\": \"w1\", \"ignore_tags\": \"b\"}", 400, "ignore_tags: tags are of markup: with format html or xml only"},
        {"{\"text\": \"w1\", \"outline_detection\": true}", 400, "outline_detection"},
        {"{\"text\": \"w1\", \"beam\": 9}", 400, "beam: 9 is not between 1 and 8"},
        {"{\"text\": \"w1\", \"beam\": 1.5}", 400, "beam"},
        {"{\"text\": \"w1\", \"n_best\": 2}", 400, "n_best: 2 hypotheses need a beam of 2 or more"},
        {"{\"text\": \"w1\", \"length_penalty\": 11}", 400, "length_penalty"},
        {"{\"text\": \"w1\", \"length_penalty\": \"1\"}", 400, "length_penalty"},
        {"{\"text\": \"w1\", \"coverage_penalty\": -1}", 400, "coverage_penalty"},
        {"{\"text\": \"w1\", \"patience\": 0}", 400, "patience"},
        {"{\"text\": \"w1\", \"alternatives\": true, \"n_best\": 2, \"beam\": 3}", 400, "alternatives are continued greedily"},
        {"{\"text\": \"w1\", \"no_repeat_ngram\": -1}", 400, "no_repeat_ngram"},
        {"{\"text\": \"w1\", \"max_length_ratio\": 0}", 400, "max_length_ratio"},
        {"{\"text\": \"w1\", \"min_length\": 65537}", 400, "min_length"},
        {"{\"text\": \"w1\", \"suppress\": [\"w1\", \"\"]}", 400, "suppress: text 1: one line is expected"},
        {"{\"text\": \"w1\", \"suppress\": [\"w1\\nw2\"]}", 400, "suppress: text 0: one line is expected"},
        {"{\"text\": \"w1\", \"suppress\": [\"zyzzyva\"]}", 400, "suppressed text 1: the model doesn't know all of it"},
        {"{\"text\": \"w1\", \"prefix\": \"zyzzyva\"}", 400, "the prefix has a word that the model doesn't know"},
        {"{\"text\": \"w1\", \"alignment\": \"words\"}", 400, "alignment"},
        {"{\"text\": \"w1\\nw2\", \"alignment\": \"hard\"}", 400, "alignment: text 0 has several lines"},
        {"{\"text\": \"w1\\nw2\", \"tokens\": true}", 400, "tokens: text 0 has several lines"},
        {"{\"text\": \"w1\", \"tokens\": 1}", 400, "tokens"},
        {"{\"text\": \"w1\", \"temperature\": -1}", 400, "temperature"},
        {"{\"text\": \"w1\", \"temperature\": 1, \"beam\": 2}", 400, "beam: a beam does not sample"},
        {"{\"text\": \"w1\", \"top_k\": 4, \"n_best\": 2}", 400, "n_best: 2 hypotheses need a beam of 2 or more"},
        {"{\"text\": \"w1\", \"seed\": -1}", 400, "seed"},
        {"{\"text\": \"w1\", \"presence_penalty\": 1}", 400, "presence_penalty"},
        {"{\"text\": \"w1\", \"text\": \"w2\"}", 400, "JSON"},
        {"text", 400, "JSON"},
    };
    (void)state;
    check_refusals(served_app, native_translate, "error.message", all, sizeof all / sizeof *all);
}

/* A client that has hung up is translated for no more. */
static bool always_gone(void *context)
{
    (void)context;
    return true;
}

static void ignore_wake(void *context)
{
    (void)context;
}

static void hung_up(void **state)
{
    static const exchange_transport transport = {.wake = ignore_wake, .gone = always_gone};
    static const char body[] = "{\"text\": \"w1 w2 w3\"}";
    answer to = {0};
    ask_end end = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false};
    (void)state;
    exchange *x = exchange_new("POST", "/v1/translate", &transport, NULL);
    assert_non_null(x);
    assert_true(exchange_add_body(x, body, strlen(body)));
    exchange_at_end(x, ask_ended, &end);
    native_translate(served_app, x);
    ask_wait(&end);
    ask_read(x, &to);
    assert_status(&to, 503);
    answer_free(&to);
    exchange_detach(x);
    exchange_release(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hypotheses_have_the_same_bits),
        cmocka_unit_test(draws_have_the_same_bits),
        cmocka_unit_test(alternatives_have_the_same_bits), cmocka_unit_test(alignments_have_the_same_bits),
        cmocka_unit_test(several_lines),
        cmocka_unit_test(languages_choose_the_model),
        cmocka_unit_test(documents), cmocka_unit_test(glossaries), cmocka_unit_test(wrong_requests),
        cmocka_unit_test(hung_up),
    };
    return cmocka_run_group_tests(tests, set_up_app, tear_down_app);
}
