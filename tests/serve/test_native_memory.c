/* tests/serve/test_native_memory.c: requests that would take more memory than a request may are refused by name before anything
 * is computed, and those for which others have it are to come again; what is given is given back.
 * labels: threads */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "explain/explain_case.h"
#include "rapt/decode.h"
#include "serve/ask.h"
#include "serve/exchange_case.h"
#include "serve/module/endpoints.h"
#include "serve/module/native.h"
#include "serve/module/openai.h"

enum { LIMIT = 8 << 20 };

static app *served_app;

static int set_up_app(void **state)
{
    rapt_error err = {0};
    (void)state;
    served_app = served_app_new();
    assert_non_null(served_app);
    assert_true(served_app_add(served_app, "de-en", "de", "en", case_translator(), &err));
    assert_true(served_app_add(served_app, "lm", NULL, NULL, case_language_model(), &err));
    assert_true(served_app_add(served_app, "long", "de", "fr", case_long_words(20000), &err));
    served_app_limits(served_app)->texts = 100000;
    served_app_limits(served_app)->n = 100;
    return 0;
}

static int tear_down_app(void **state)
{
    (void)state;
    served_app_free(served_app);
    return 0;
}

/* A body of `before`, `count` times `part`, and `after`. */
static char *repeat(const char *before, const char *part, size_t count, const char *after)
{
    char *body = malloc(strlen(before) + count * strlen(part) + strlen(after) + 1), *to = stpcpy(body, before);
    for (size_t i = 0; i < count; i++)
        to = stpcpy(to, part);
    strcpy(to[-1] == ',' ? to - 1 : to, after);
    return body;
}

/* Asks where requests have `limit` bytes, of which another one has all that large ones may where the status is to be 503. */
static void memory_case_of(size_t limit, app_route_fn *route, char *body, int status, const char *says)
{
    size_t largest;
    admission memory;
    admission_ticket other = {0};
    answer to = {0};
    ask_end end = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false};
    ask_end freed = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false};
    admission_init(&memory, limit);
    assert_int_equal(admission_set(&memory, &other, ADMISSION_MAKING, status == 503 ? limit : 0), ADMISSION_GIVEN);
    exchange *x = case_post("/v1/x", body);
    exchange_at_free(x, ask_ended, &freed, &memory);
    exchange_at_end(x, ask_ended, &end);
    exchange_hold(x);
    route(served_app, x);
    exchange_end_work(x);
    exchange_release(x);
    ask_wait(&end);
    ask_read(x, &to);
    if (!strstr(to.body.data, says))
        fail_msg("\"%s\" is not in %s", says, to.body.data);
    assert_int_equal(to.status, status);
    assert_int_equal(case_header(x, "Retry-After") != NULL, status == 503);
    exchange_detach(x);
    exchange_release(x);
    ask_wait(&freed); /* the engine's thread may be the last to let go of it */
    answer_free(&to);
    free(body);
    admission_return(&memory, &other);
    assert_int_equal(admission_given(&memory, &largest), 0);
    admission_destroy(&memory);
}

static void memory_case(app_route_fn *route, char *body, int status, const char *says)
{
    memory_case_of(LIMIT, route, body, status, says);
}

static void bodies_are_counted(void **state)
{
    (void)state;
    memory_case(native_translate, repeat("{\"texts\":[", "{},", 100000, "]}"), 413, "the body would take about");
    memory_case(native_translate, repeat("{\"texts\":[", "{},", 10000, "]}"), 503, "memory that the body would take, about");
    memory_case(native_tokenize, repeat("{\"model\":\"lm\",\"text\":\"", "a", 1000000, "\"}"), 413, "the body would take about");
}

static void products_are_counted(void **state)
{
    static const char choices[] = "],\"model\":\"lm\",\"n\":50,\"echo\":true,\"logprobs\":5,\"max_tokens\":1}";
    (void)state;
    memory_case(openai_completions, repeat("{\"prompt\":[", "\"abcdefghij\",", 50, choices), 413,
                "50 prompts with 50 choices of up to 1 tokens and their log-probabilities, and echoes, would take about");
    memory_case(openai_completions, repeat("{\"prompt\":[", "\"abcdefghij\",", 5, choices), 503,
                "memory that 5 prompts with 50 choices");
    memory_case(native_translate,
                repeat("{\"model\":\"de-en\",\"beam\":50,\"n_best\":50,\"texts\":[", "\"das haus\",", 2000, "]}"), 413,
                "2000 lines with 50 of 50 hypotheses would take about");
    memory_case(native_translate,
                repeat("{\"model\":\"de-en\",\"alignment\":\"soft\",\"text\":\"", "das haus ", 1000, "\"}"), 413,
                "hypotheses and their alignments would take about");
    memory_case(native_translate, /* without spaces */
                repeat("{\"model\":\"de-en\",\"alignment\":\"soft\",\"text\":\"", "\xE4\xBD\xA0", 2000, "\"}"), 413,
                "hypotheses and their alignments would take about");
    memory_case(native_translate,
                repeat("{\"model\":\"de-en\",\"alignment\":\"soft\",\"text\":\"", "das,haus", 2000, "\"}"), 413,
                "1 line with 1 of 1 hypotheses and their alignments would take about");
    memory_case(native_tokenize, repeat("{\"model\":\"lm\",\"text\":\"", "a", 100000, "\"}"), 413, "the tokens of 100000 bytes");
    memory_case(openai_chat, repeat("{\"model\":\"de-en\",\"n\":50,\"messages\":[{\"role\":\"user\",\"content\":\"", "a\\n", 400,
                                    "\"}]}"), 413, "401 lines with 50 of 50 hypotheses would take about"); /* and their tokens */
}

/* Terms widen the beam of the lines that have them. */
static void terms_are_named(void **state)
{
    char begin[200];
    (void)state;
    static const char glossary[] = "{\"name\": \"terms\", \"source_lang\": \"DE\", \"target_lang\": \"EN\","
                                   "\"entries\": \"w1\\tw2\", \"entries_format\": \"tsv\"}";
    answer made = ask_post(served_app, deepl_glossary_add, glossary);
    assert_int_equal(made.status, 201);
    snprintf(begin, sizeof begin, "{\"source_lang\":\"DE\",\"target_lang\":\"EN\",\"glossary_id\":\"%s\",\"text\":[\"",
             answer_text(&made, "glossary_id"));
    answer_free(&made);
    memory_case(deepl_translate, repeat(begin, "a\\n", 20000, "\"]}"), 413, "20001 lines with 1 of at least 1 hypotheses");
}

/* A pass, before it is computed, with the response that is made of it, which clients may leave unread. A page has much beside
 * the elements, and a number of "full" takes many bytes. */
static void explanations_are_counted(void **state)
{
    enum { LITTLE = 100 << 10, MUCH = 64 << 20 };
    static const char body[] = "{\"model\":\"lm\",\"text\":\"", full[] = "{\"model\":\"lm\",\"full\":true,\"text\":\"",
                      page[] = "{\"model\":\"lm\",\"format\":\"html\",\"text\":\"",
                      pair[] = "{\"model\":\"de-en\",\"target\":\"w1\",\"text\":\"";
    (void)state;
    memory_case(native_explain, repeat(body, "a", 8, "\"}"), 200, "\"steps\"");
    memory_case_of(LITTLE, native_explain, repeat(body, "a", 8, "\"}"), 413, " elements would take about");
    memory_case(native_explain, repeat(body, "a", 8, "\"}"), 503, "other requests have the memory that a pass of");
    memory_case(native_explain, repeat(page, "a", 8, "\"}"), 413, " elements would take about 12 MB of memory, more than");
    memory_case_of(MUCH, native_explain, repeat(page, "a", 8, "\"}"), 200, "<html");
    memory_case_of(MUCH, native_explain, repeat(page, "a", 8, "\"}"), 503, "other requests have the memory that a pass of");
    memory_case_of(LITTLE, native_explain, repeat(pair, "w1 ", 4, "\"}"), 413, " elements would take about");
    memory_case(native_explain, repeat(full, "a", 8, "\"}"), 200, "\"values\"");
    /* a word of any length is one token; its bytes wait for the engine */
    memory_case(native_explain, repeat(pair, "w", 20000, "\"}"), 200, "\"steps\"");
    memory_case(native_explain, repeat(pair, "w", 100000, "\"}"), 413, "texts of 100002 bytes would take about 3 MB of memory");
    memory_case(native_explain, repeat(pair, "w", 20000, "\"}"), 503, "other requests have the memory that");
}

/* Texts of tokens are known after the pass only. */
static void lenses_are_counted(void **state)
{
    enum { SOME = 2 << 20, BETWEEN = 1425 << 10 };
    static const char lens[] = "{\"model\":\"lm\",\"lens\":true,\"text\":\"", plain[] = "{\"model\":\"lm\",\"text\":\"",
                      words[] = "{\"model\":\"long\",\"lens\":true,\"text\":\"",
                      none[] = "{\"model\":\"long\",\"text\":\"";
    (void)state;
    memory_case(native_explain, repeat(lens, "a", 8, "\"}"), 200, "\"lens\"");
    memory_case_of(1 << 20, native_explain, repeat(lens, "a", 8, "\"}"), 413,
                   " elements with 24 predictions of the logit lens would take about");
    memory_case_of(BETWEEN, native_explain, repeat(plain, "a", 12, "\"}"), 200, "\"steps\"");
    memory_case_of(BETWEEN, native_explain, repeat(lens, "a", 12, "\"}"), 413,
                   " elements with 36 predictions of the logit lens would take about");
    memory_case(native_explain, repeat(lens, "a", 8, "\"}"), 503, "24 predictions of the logit lens would take, about");
    memory_case_of(SOME, native_explain, repeat(none, "w1 ", 2, "\"}"), 413,
                   "a response with the texts of all tokens that are predicted would take about");
    memory_case(native_explain, repeat(words, "w1 ", 2, "\"}"), 413,
                "a response with the texts of all tokens that are predicted would take about");
    memory_case_of(256 << 20, native_explain, repeat(words, "w1 ", 2, "\"}"), 200, "\"lens\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bodies_are_counted), cmocka_unit_test(products_are_counted),
                                       cmocka_unit_test(terms_are_named), cmocka_unit_test(explanations_are_counted),
                                       cmocka_unit_test(lenses_are_counted)};
    return cmocka_run_group_tests(tests, set_up_app, tear_down_app);
}
