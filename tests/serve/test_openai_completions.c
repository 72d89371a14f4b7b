/* tests/serve/test_openai_completions.c: completions have the texts and log-probabilities of a generator, whole or streamed,
 * alone or beside others; and say how to have them again.
 * labels: threads */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "folder.h"
#include "options.h"
#include "serve/openai_case.h"

#include "base/buffer.h"
#include "search/valid_text.h"

#include <math.h>

static openai_case served_here;

static int set_up(void **state)
{
    if (folder_make(state))
        return -1;
    case_open(&served_here, folder_path);
    return 0;
}

static int tear_down(void **state)
{
    case_close(&served_here);
    return folder_remove(state);
}

/* What is more than the context counts as the context; the operator's limit is one. */
static void max_tokens_is_at_most_the_context(void **state)
{
    (void)state;
    static const char asked[] = "{\"model\": \"bytes\", \"prompt\": \"abc\", \"seed\": 3, \"max_tokens\": %d}";
    char body[128];
    snprintf(body, sizeof body, asked, CASE_CONTEXT);
    json_t *want = case_json(&served_here, openai_completions, body, 200);
    snprintf(body, sizeof body, asked, 4096);
    exchange *x = case_ask(&served_here, openai_completions, body);
    json_t *got = case_object(x, 200);
    assert_true(json_equal(case_at(got, "choices"), case_at(want, "choices")));
    assert_non_null(strstr(case_header(x, "X-Rapt-Replay"), "--max-tokens 40 "));
    exchange_release(x);
    json_decref(got);
    json_decref(want);
    served_here.app.limits.max_tokens = 20;
    got = case_json(&served_here, openai_completions, body, 400);
    assert_non_null(strstr(case_text_at(got, "error.message"), "between 0 and 20"));
    served_here.app.limits.max_tokens = 0;
    json_decref(got);
}

#define ALL .top_k = 0, .min_p = 0, .typical_p = 0

/* A request, and what a generator is told for the same. */
typedef struct same_case {
    const char *fields; /* behind the model and the prompt "abc" */
    rapt_generate_options o;
    size_t n;
    const char *stop;
} same_case;

static const rapt_logit_bias BIASES[] = {{97, 2.5}, {98, -100}};

static const same_case SAME[] = {
    {"\"seed\": 3", {GENERATE_DEFAULTS, .sample = {SAMPLE_DEFAULTS, .temperature = 1, .seed = 3, ALL}, .max_tokens = 16}, 1,
     NULL},
    {"\"seed\": 0, \"max_tokens\": 5", {GENERATE_DEFAULTS, .sample = {SAMPLE_DEFAULTS, .temperature = 1, .seed = 0, ALL},
                                        .max_tokens = 5}, 1, NULL},
    {"\"temperature\": 0", {GENERATE_DEFAULTS, .sample = {SAMPLE_DEFAULTS, .greedy = true, ALL}, .max_tokens = 16}, 1, NULL},
    {"\"seed\": 9007199254740992, \"temperature\": 0.5, \"n\": 3, \"best_of\": 3, \"max_tokens\": 40",
     {GENERATE_DEFAULTS, .sample = {SAMPLE_DEFAULTS, .temperature = 0.5, .seed = 9007199254740992, ALL},
      .max_tokens = 40}, 3, NULL},
    {"\"seed\": 4, \"top_p\": 0.5", {GENERATE_DEFAULTS, .sample = {SAMPLE_DEFAULTS, .temperature = 1, .seed = 4, .top_p = 0.5,
                                                                   ALL}, .max_tokens = 16}, 1, NULL},
    {"\"seed\": 4, \"top_k\": 7, \"min_p\": 0.1",
     {GENERATE_DEFAULTS, .sample = {SAMPLE_DEFAULTS, .temperature = 1, .seed = 4, .top_k = 7, .min_p = 0.1},
      .max_tokens = 16}, 1, NULL},
    {"\"seed\": 4, \"typical_p\": 0.3",
     {GENERATE_DEFAULTS, .sample = {SAMPLE_DEFAULTS, .temperature = 1, .seed = 4, .top_k = 0, .min_p = 0, .typical_p = 0.3},
      .max_tokens = 16}, 1, NULL},
    {"\"seed\": 5, \"repetition_penalty\": 1.5",
     {GENERATE_DEFAULTS, .sample = {SAMPLE_DEFAULTS, .temperature = 1, .seed = 5, .repetition_penalty = 1.5, ALL},
      .max_tokens = 16}, 1, NULL},
    {"\"seed\": -7", {GENERATE_DEFAULTS, .sample = {SAMPLE_DEFAULTS, .temperature = 1, .seed = (uint64_t)-7, ALL},
                      .max_tokens = 16}, 1, NULL},
    {"\"seed\": 9223372036854775807", {GENERATE_DEFAULTS, .sample = {SAMPLE_DEFAULTS, .temperature = 1, .seed = INT64_MAX, ALL},
                                       .max_tokens = 16}, 1, NULL},
    {"\"seed\": 5, \"presence_penalty\": 1.5, \"frequency_penalty\": -0.5, \"max_tokens\": 40",
     {GENERATE_DEFAULTS, .sample = {SAMPLE_DEFAULTS, .temperature = 1, .seed = 5, .presence_penalty = 1.5,
                                    .frequency_penalty = -0.5, ALL}, .max_tokens = 40}, 1,
     NULL},
    {"\"seed\": 6, \"logit_bias\": {\"97\": 2.5, \"98\": -100}",
     {GENERATE_DEFAULTS, .sample = {SAMPLE_DEFAULTS, .temperature = 1, .seed = 6, .biases = BIASES, .bias_count = 2, ALL},
      .max_tokens = 16}, 1, NULL}};

static void assert_log_probs(json_t *choice, const rapt_generated *want)
{
    json_t *list = case_at(choice, "logprobs.token_logprobs");
    assert_int_equal(json_array_size(list), want->token_count);
    for (size_t i = 0; i < want->token_count; i++)
        assert_true(json_number_value(json_array_get(list, i)) == want->log_probs[i]);
}

static void assert_choice(json_t *choice, const rapt_generated *want, size_t index)
{
    json_t *text = case_at(choice, "text");
    assert_int_equal(json_integer_value(case_at(choice, "index")), index);
    assert_int_equal(json_string_length(text), want->text_size);
    assert_memory_equal(json_string_value(text), want->text, want->text_size);
    assert_string_equal(case_text_at(choice, "finish_reason"), want->finish == RAPT_FINISH_LENGTH ? "length" : "stop");
    assert_log_probs(choice, want);
}

static void texts_are_those_of_a_generator(void **state)
{
    (void)state;
    int32_t ids[3];
    case_ids(&served_here, "abc", ids);
    for (size_t i = 0; i < sizeof SAME / sizeof *SAME; i++) {
        char body[512];
        size_t tokens = 0;
        snprintf(body, sizeof body, "{\"model\": \"bytes\", \"prompt\": \"abc\", \"logprobs\": 0, %s}", SAME[i].fields);
        json_t *got = case_json(&served_here, openai_completions, body, 200);
        assert_int_equal(json_array_size(case_at(got, "choices")), SAME[i].n);
        for (size_t sample = 0; sample < SAME[i].n; sample++) {
            rapt_generated want = case_generated(&served_here, &SAME[i].o, ids, 3, sample);
            assert_choice(json_array_get(case_at(got, "choices"), sample), &want, sample);
            tokens += want.token_count;
            rapt_generated_free(&want);
        }
        assert_string_equal(case_text_at(got, "object"), "text_completion");
        assert_string_equal(case_text_at(got, "model"), "bytes");
        assert_string_equal(case_text_at(got, "system_fingerprint"), "rapt-" RAPT_VERSION "-fp32-0123456789abcdef");
        assert_memory_equal(case_text_at(got, "id"), "cmpl-", 5);
        assert_int_equal(json_integer_value(case_at(got, "usage.prompt_tokens")), 3);
        assert_int_equal(json_integer_value(case_at(got, "usage.completion_tokens")), tokens);
        assert_int_equal(json_integer_value(case_at(got, "usage.total_tokens")), 3 + tokens);
        assert_true(json_is_integer(case_at(got, "usage.prompt_tokens_details.cached_tokens")));
        json_decref(got);
    }
}

/* Ends where a text would have gone on with it. */
static void stops_end_texts(void **state)
{
    (void)state;
    char body[256];
    json_t *whole = case_json(&served_here, openai_completions,
                              "{\"model\": \"bytes\", \"prompt\": \"abc\", \"seed\": 3, \"max_tokens\": 30}", 200);
    const char *text = case_text_at(whole, "choices.0.text");
    const size_t size = strlen(text);
    size_t at = size / 2;
    while (at < size && !((unsigned char)text[at] > ' ' && (unsigned char)text[at] < 0x7F && text[at] != '"' && text[at] != '\\'))
        at++;
    assert_true(at < size);
    const size_t first = strcspn(text, (char[]){text[at], '\0'});
    snprintf(body, sizeof body, "{\"model\": \"bytes\", \"prompt\": \"abc\", \"seed\": 3, \"max_tokens\": 30, \"stop\": [\"%c\", "
             "\"neither this\"]}", text[at]);
    json_t *cut = case_json(&served_here, openai_completions, body, 200);
    assert_string_equal(case_text_at(cut, "choices.0.finish_reason"), "stop");
    assert_int_equal(strlen(case_text_at(cut, "choices.0.text")), first);
    assert_memory_equal(case_text_at(cut, "choices.0.text"), text, first);
    json_decref(whole);
    json_decref(cut);
}

/* A request of lm-evaluation-harness: the ids of a context and its continuation. */
static void prompts_are_scored(void **state)
{
    (void)state;
    static const char prompt[] = "the cat\xC3\xA9";
    enum { COUNT = sizeof prompt - 1 };
    int32_t ids[COUNT];
    char body[512] = "{\"model\": \"bytes\", \"prompt\": [[";
    case_ids(&served_here, prompt, ids);
    for (size_t i = 0; i < COUNT; i++)
        sprintf(body + strlen(body), "%s%d", i ? ", " : "", (int)ids[i]);
    strcat(body, "]], \"temperature\": 0, \"max_tokens\": 1, \"logprobs\": 1, \"seed\": 1234, \"echo\": true}");
    json_t *got = case_json(&served_here, openai_completions, body, 200), *choice = case_at(got, "choices.0");
    json_t *log_probs = case_at(choice, "logprobs.token_logprobs"), *top = case_at(choice, "logprobs.top_logprobs");
    json_t *tokens = case_at(choice, "logprobs.tokens"), *offsets = case_at(choice, "logprobs.text_offset");
    assert_int_equal(json_array_size(log_probs), COUNT + 1);
    assert_true(json_is_null(json_array_get(log_probs, 0)) && json_is_null(json_array_get(top, 0)));
    for (size_t i = 1; i < COUNT; i++) {
        const double log_prob = json_number_value(json_array_get(log_probs, i));
        const char *token;
        double best = -INFINITY;
        json_t *value;
        assert_true(log_prob == case_log_prob(&served_here, ids, i));
        json_object_foreach(json_array_get(top, i), token, value)
            best = json_number_value(value) > best ? json_number_value(value) : best;
        const rapt_generate_options greedy = {GENERATE_DEFAULTS, .sample = {SAMPLE_DEFAULTS, .greedy = true}, .max_tokens = 1};
        rapt_generated likeliest = case_generated(&served_here, &greedy, ids, i, 0);
        assert_true(best == likeliest.log_probs[0]);
        assert_int_equal(json_object_size(json_array_get(top, i)), 1 + (likeliest.tokens[0] != ids[i]));
        rapt_generated_free(&likeliest);
    }
    assert_string_equal(json_string_value(json_array_get(tokens, 4)), "c");
    assert_string_equal(json_string_value(json_array_get(tokens, 7)), "bytes:\\xc3");
    assert_int_equal(json_integer_value(json_array_get(offsets, 7)), 7);
    assert_int_equal(json_integer_value(json_array_get(offsets, 9)), 8);
    assert_memory_equal(case_text_at(choice, "text"), prompt, COUNT);
    assert_int_equal(json_integer_value(case_at(got, "usage.prompt_tokens")), COUNT);
    json_decref(got);
}

static size_t characters_in(const char *text, size_t size)
{
    size_t count = 0;
    for (size_t i = 0; i < size; i++)
        count += ((unsigned char)text[i] & 0xC0) != 0x80;
    return count;
}

/* A text of any bytes is what its tokens decode to, with U+FFFD for what is no character; tokens begin behind the prompt, and
 * behind the text of those before them. */
static void assert_text_of_bytes(const char *body, size_t prompt_tokens, const char *sent_prompt)
{
    json_t *got = case_json(&served_here, openai_completions, body, 200), *choice = case_at(got, "choices.0");
    json_t *list = case_at(choice, "logprobs.token_ids"), *offsets = case_at(choice, "logprobs.text_offset");
    const size_t count = json_array_size(list) - prompt_tokens, prompt = characters_in("p\xC3\xA9", 3);
    int32_t ids[64];
    const rapt_tokenizer *k = rapt_engine_model_of(served_here.models[0].model)->language.tokenizer;
    size_t size = 0, broken = 0;
    assert_true(count > 0 && count <= 40);
    for (size_t i = 0; i < count; i++)
        ids[i] = (int32_t)json_integer_value(json_array_get(list, prompt_tokens + i));
    for (size_t i = 0; i <= count; i++) {
        char *bytes = rapt_tokenizer_decode(k, ids, i, &size);
        char *text = valid_text(bytes, size, &size, NULL);
        if (i < count)
            assert_int_equal(json_integer_value(json_array_get(offsets, prompt_tokens + i)), prompt + characters_in(text, size));
        else {
            const char *sent = case_text_at(choice, "text");
            assert_memory_equal(sent, sent_prompt, strlen(sent_prompt));
            assert_int_equal(json_string_length(case_at(choice, "text")), strlen(sent_prompt) + size);
            assert_memory_equal(sent + strlen(sent_prompt), text, size);
            broken += strstr(text, "\xEF\xBF\xBD") != NULL;
        }
        free(bytes);
        free(text);
    }
    assert_int_equal(broken, 1);
    json_decref(got);
}

static void offsets_are_those_of_the_text(void **state)
{
    (void)state;
    char body[256];
    for (int seed = 1; seed <= 8; seed++) {
        const char *form = "{\"model\": \"bytes\", \"prompt\": \"p\xC3\xA9\", \"seed\": %d, \"max_tokens\": 40, "
                           "\"temperature\": 2, \"logprobs\": 0, \"echo\": %s}";
        snprintf(body, sizeof body, form, seed, "false");
        assert_text_of_bytes(body, 0, "");
        snprintf(body, sizeof body, form, seed, "true");
        assert_text_of_bytes(body, 3, "p\xC3\xA9");
    }
}

/* 0 alternatives: the token that came is among the most probable ones, alone. */
static void a_token_has_its_own_entry(void **state)
{
    (void)state;
    json_t *got = case_json(&served_here, openai_completions,
                            "{\"model\": \"bytes\", \"prompt\": \"abc\", \"max_tokens\": 3, \"seed\": 1, \"logprobs\": 0}", 200);
    for (size_t i = 0; i < 3; i++) {
        json_t *entry = json_array_get(case_at(got, "choices.0.logprobs.top_logprobs"), i);
        json_t *log_prob = json_array_get(case_at(got, "choices.0.logprobs.token_logprobs"), i);
        const char *token = json_string_value(json_array_get(case_at(got, "choices.0.logprobs.tokens"), i));
        assert_int_equal(json_object_size(entry), 1);
        assert_true(json_equal(json_object_get(entry, token), log_prob));
    }
    json_decref(got);
}

/* JSON has one kind of number. */
static void ids_may_be_written_as_reals(void **state)
{
    (void)state;
    json_t *integers = case_json(&served_here, openai_completions,
                                 "{\"prompt\": [[97, 98], [99]], \"max_tokens\": 6, \"temperature\": 0, \"echo\": true}", 200);
    json_t *reals = case_json(&served_here, openai_completions,
                              "{\"prompt\": [[97.0, 9.8e1], [99]], \"max_tokens\": 6, \"temperature\": 0, \"echo\": true}", 200);
    json_t *one = case_json(&served_here, openai_completions,
                            "{\"prompt\": [97.0, 98], \"max_tokens\": 6, \"temperature\": 0, \"echo\": true}", 200);
    assert_string_equal(case_text_at(integers, "choices.0.text"), case_text_at(reals, "choices.0.text"));
    assert_string_equal(case_text_at(integers, "choices.1.text"), case_text_at(reals, "choices.1.text"));
    assert_string_equal(case_text_at(integers, "choices.0.text"), case_text_at(one, "choices.0.text"));
    json_decref(integers);
    json_decref(reals);
    json_decref(one);
}

/* echo without a token of the model, for several prompts. */
static void nothing_is_generated(void **state)
{
    (void)state;
    json_t *got = case_json(&served_here, openai_completions,
                            "{\"prompt\": [\"abc\", \"d\"], \"max_tokens\": 0, \"echo\": true, \"logprobs\": 5}", 200);
    assert_string_equal(case_text_at(got, "choices.0.text"), "abc");
    assert_string_equal(case_text_at(got, "choices.1.text"), "d");
    assert_string_equal(case_text_at(got, "choices.1.finish_reason"), "length");
    assert_int_equal(json_array_size(case_at(got, "choices.0.logprobs.tokens")), 3);
    assert_true(json_object_size(case_at(got, "choices.0.logprobs.top_logprobs.1")) >= 5);
    assert_int_equal(json_integer_value(case_at(got, "usage.prompt_tokens")), 4);
    assert_int_equal(json_integer_value(case_at(got, "usage.completion_tokens")), 0);
    json_decref(got);
}

/* ---- streams ------------------------------------------------------------------------------------------------------------ */

/* The parts of choice `index` together: the text, and as many log-probabilities, equal `whole`'s. */
static void assert_streamed(json_t *events, json_t *whole, size_t index)
{
    buffer text = {0};
    json_t *event, *log_probs = case_at(whole, "logprobs.token_logprobs");
    size_t i, tokens = 0, ends = 0;
    json_array_foreach(events, i, event) {
        json_t *choice = json_array_get(case_at(event, "choices"), 0);
        if (!choice || (size_t)json_integer_value(case_at(choice, "index")) != index)
            continue;
        assert_int_equal(ends, 0);
        json_t *part = case_at(choice, "text"), *list = json_object_get(case_at(choice, "logprobs"), "token_logprobs"), *one;
        size_t j;
        assert_true(buffer_append(&text, json_string_value(part), json_string_length(part)));
        json_array_foreach(list, j, one)
            assert_true(json_equal(one, json_array_get(log_probs, tokens++)));
        if (json_is_string(case_at(choice, "finish_reason"))) {
            ends++;
            assert_true(json_equal(case_at(choice, "finish_reason"), case_at(whole, "finish_reason")));
        }
    }
    assert_int_equal(ends, 1);
    assert_int_equal(tokens, json_array_size(log_probs));
    assert_int_equal(text.size, json_string_length(case_at(whole, "text")));
    assert_memory_equal(text.data, case_text_at(whole, "text"), text.size);
    buffer_free(&text);
}

static void streams_have_the_same(void **state)
{
    (void)state;
    static const char *const more[] = {"\"seed\": 3, \"max_tokens\": 30", "\"seed\": 4, \"n\": 3, \"echo\": true",
                                       "\"seed\": 5, \"echo\": true, \"max_tokens\": 0", "\"temperature\": 0, \"stop\": \"a\""};
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        char body[512];
        bool done;
        const char *type;
        static const char ask[] = "{\"model\": \"bytes\", \"prompt\": [\"abc\", \"\xC3\xA9\"], \"logprobs\": 2, %s%s}";
        snprintf(body, sizeof body, ask, more[i], "");
        json_t *whole = case_json(&served_here, openai_completions, body, 200);
        snprintf(body, sizeof body, ask, more[i], ", \"stream\": true, \"stream_options\": {\"include_usage\": true}");
        exchange *x = case_ask(&served_here, openai_completions, body);
        assert_int_equal(exchange_status(x, &type), 200);
        assert_string_equal(type, "text/event-stream");
        json_t *events = case_events(x, &done);
        assert_true(done);
        for (size_t j = 0; j < json_array_size(case_at(whole, "choices")); j++)
            assert_streamed(events, json_array_get(case_at(whole, "choices"), j), j);
        const size_t count = json_array_size(events);
        json_t *last = json_array_get(events, count - 1), *before = json_array_get(events, count - 2);
        assert_int_equal(json_array_size(case_at(last, "choices")), 0);
        assert_true(json_equal(case_at(last, "usage.total_tokens"), case_at(whole, "usage.total_tokens")));
        assert_true(json_is_null(case_at(before, "usage")));
        assert_string_equal(case_text_at(before, "object"), "text_completion");
        json_decref(events);
        json_decref(whole);
        exchange_release(x);
    }
}

/* ---- many, and those who leave --------------------------------------------------------------------------------------------- */

static void others_change_nothing(void **state)
{
    (void)state;
    enum { MANY = 24 };
    exchange *x[MANY];
    char body[MANY][256];
    for (size_t i = 0; i < MANY; i++) {
        snprintf(body[i], sizeof body[i],
                 "{\"model\": \"%s\", \"prompt\": \"%.*s\", \"seed\": %zu, \"logprobs\": 1, \"max_tokens\": %zu}",
                 i % 2 ? "bytes" : "chatty", (int)(1 + i), "the cat sat on the mat and", i, 3 + i % 7);
        x[i] = case_post("/", body[i]);
        openai_completions(&served_here.app, x[i]);
    }
    for (size_t i = 0; i < MANY; i++) {
        case_wait(x[i]);
        json_t *among = case_object(x[i], 200), *alone = case_json(&served_here, openai_completions, body[i], 200);
        assert_true(json_equal(case_at(among, "choices"), case_at(alone, "choices")));
        json_decref(among);
        json_decref(alone);
        exchange_release(x[i]);
    }
}

/* A request of many texts does not fill the engine's queue, and its texts keep their order. They are queued when its fields are
 * gone. */
static void many_choices_wait_outside_of_the_engine(void **state)
{
    (void)state;
    enum { PROMPTS = 20, N = 4 };
    char body[1024] = "{\"model\": \"bytes\", \"seed\": 3, \"n\": 4, \"max_tokens\": 9, \"stop\": [\"e\", \"q\"], "
                      "\"prompt\": [\"a\"";
    const rapt_engine_model *m = served_here.models[0].model;
    const size_t texts = served_here.app.limits.texts;
    for (size_t i = 1; i < PROMPTS; i++)
        sprintf(body + strlen(body), ", \"%c\"", (char)('a' + i));
    strcat(body, "]}");
    served_here.app.limits.texts = PROMPTS * N;
    exchange *x = case_post("/", body);
    openai_completions(&served_here.app, x);
    const rapt_engine_counts counts = rapt_engine_model_counts(m);
    assert_true(counts.waiting + counts.running <= 3 * counts.slots); /* one that is queued while another ends counts twice */
    case_wait(x);
    json_t *got = case_object(x, 200);
    assert_int_equal(json_array_size(case_at(got, "choices")), PROMPTS * N);
    for (size_t i = 0; i < PROMPTS; i++) {
        snprintf(body, sizeof body,
                 "{\"model\": \"bytes\", \"seed\": 3, \"n\": 4, \"max_tokens\": 9, \"stop\": [\"e\", \"q\"], "
                 "\"prompt\": \"%c\"}",
                 (char)('a' + i));
        json_t *alone = case_json(&served_here, openai_completions, body, 200);
        for (size_t k = 0; k < N; k++) {
            json_t *choice = json_array_get(case_at(got, "choices"), i * N + k);
            assert_string_equal(case_text_at(choice, "text"),
                                case_text_at(json_array_get(case_at(alone, "choices"), k), "text"));
            assert_int_equal(json_integer_value(case_at(choice, "index")), i * N + k);
        }
        json_decref(alone);
    }
    served_here.app.limits.texts = texts;
    json_decref(got);
    exchange_release(x);
}

static bool always_gone(void *context)
{
    (void)context;
    return true;
}

static void no_wake(void *context)
{
    (void)context;
}

/* A client that has hung up costs no more steps. */
static void who_hangs_up_is_cancelled(void **state)
{
    (void)state;
    static const exchange_transport gone = {no_wake, always_gone};
    static const char body[] = "{\"model\": \"bytes\", \"prompt\": \"abc\", \"n\": 2, \"max_tokens\": 40}";
    exchange *x = exchange_new("POST", "/", &gone, NULL);
    assert_true(x && exchange_add_body(x, body, sizeof body - 1));
    const rapt_engine_counts before = rapt_engine_model_counts(served_here.models[0].model);
    openai_completions(&served_here.app, x);
    case_wait(x);
    exchange_detach(x);
    exchange_release(x);
    rapt_engine_counts after = rapt_engine_model_counts(served_here.models[0].model);
    assert_in_range(after.cancelled - before.cancelled, 1, 2); /* the second is not begun where the first ends in time */
    assert_true(after.generated_tokens - before.generated_tokens <= 4);
}

/* ---- replay ------------------------------------------------------------------------------------------------------------- */

static void responses_say_how_to_have_them_again(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"{\"model\": \"bytes\", \"prompt\": \"it's\\n\", \"seed\": 0, \"n\": 2, \"stop\": [\"a b\"], "
         "\"logit_bias\": {\"5\": -0.5}}",
         "rapt generate bytes --no-prompt --max-tokens 16 --temperature 1 --top-k 0 --top-p 1 --min-p 0 --typical-p 0 "
         "--repetition-penalty 1 --logit-bias 5:-0.5 --stop 'a b' --seed 0 --samples 2 --prompt $'it\\'s\\n'"},
        {"{\"model\": \"bytes\", \"prompt\": [97, 98], \"temperature\": 0, \"echo\": true, \"seed\": 7, \"top_k\": 3}",
         "rapt generate bytes --max-tokens 16 --temperature 0 --top-k 3 --top-p 1 --min-p 0 --typical-p 0 "
         "--repetition-penalty 1 --seed 7 --samples 1 --prompt 'ab'"},
        {"{\"model\": \"bytes\", \"prompt\": [97, 255], \"seed\": 7}", NULL}}; /* no text has these ids */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        exchange *x = case_ask(&served_here, openai_completions, cases[i][0]);
        const char *line = case_header(x, "X-Rapt-Replay");
        assert_int_equal(case_status(x), 200);
        if (cases[i][1])
            assert_string_equal(line, cases[i][1]);
        else
            assert_null(line);
        assert_string_equal(case_header(x, "X-Rapt-Version"), RAPT_VERSION);
        assert_string_equal(case_header(x, "X-Rapt-Number-Format"), "fp32");
        assert_string_equal(case_header(x, "X-Rapt-Fingerprint"), "0123456789abcdef");
        exchange_release(x);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(texts_are_those_of_a_generator),
                                       cmocka_unit_test(max_tokens_is_at_most_the_context),
                                       cmocka_unit_test(stops_end_texts),
                                       cmocka_unit_test(prompts_are_scored),
        cmocka_unit_test(offsets_are_those_of_the_text),
        cmocka_unit_test(a_token_has_its_own_entry),
                                       cmocka_unit_test(ids_may_be_written_as_reals),
                                       cmocka_unit_test(nothing_is_generated),
                                       cmocka_unit_test(streams_have_the_same),
                                       cmocka_unit_test(others_change_nothing),
                                       cmocka_unit_test(many_choices_wait_outside_of_the_engine),
                                       cmocka_unit_test(who_hangs_up_is_cancelled),
                                       cmocka_unit_test(responses_say_how_to_have_them_again)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
