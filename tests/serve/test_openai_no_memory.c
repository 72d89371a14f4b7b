/* tests/serve/test_openai_no_memory.c: every allocation of a request is made to fail in turn, including the engine's thread: the
 * request is answered, with 503 or in full, or its stream has an error or is cut; and the next one is as ever. Linked as
 * tests/failing.h says.
 * labels: threads */
#define _GNU_SOURCE
#include "failing_json.h"

#include "folder.h"
#include "serve/openai_case.h"

static openai_case served_here;

static int set_up(void **state)
{
    if (failing_check_link(state) || folder_make(state))
        return -1;
    failing_count_json();
    case_open(&served_here, folder_path);
    served_here.models[1].tools = (tool_format){.family = TOOLS_HERMES, .takes_tools = true, .opening = "<"};
    return 0;
}

static int tear_down(void **state)
{
    case_close(&served_here);
    return folder_remove(state);
}

typedef struct memory_case {
    const char *what;
    app_route_fn *route;
    const char *body;
    long at_least;
} memory_case;

/* Whether a stream is complete and without an error. */
static bool stream_is_whole(exchange *x)
{
    static char body[1 << 16];
    size_t size = 0, got;
    bool end;
    while ((got = exchange_take(x, body + size, sizeof body - size - 1, &end)) > 0)
        size += got;
    body[size] = '\0';
    return end && strstr(body, "data: [DONE]\n\n") && !strstr(body, "\"error\"");
}

static rapt_code ask_once(const memory_case *c)
{
    const char *type;
    exchange *x = exchange_new("POST", "/", NULL, NULL);
    rapt_code code = RAPT_ERR_MEMORY;
    if (x && exchange_add_body(x, c->body, strlen(c->body))) {
        c->route(&served_here.app, x);
        case_wait(x);
        failing_disarm();
        const int status = exchange_status(x, &type);
        if (status != 200 && status != 503 && status != 500 && status != 0) /* 500: an exchange that could not be answered */
            fail_msg("%s: status %d", c->what, status);
        code = status != 200 || (strcmp(type, "text/event-stream") == 0 && !stream_is_whole(x)) ? RAPT_ERR_MEMORY : RAPT_OK;
    }
    if (x)
        exchange_release(x);
    return code;
}

/* A call and its result, and a reply that must be a call. */
#define TOOLS "\"messages\": [{\"role\": \"assistant\", \"tool_calls\": [{\"id\": \"i\", \"function\": {\"name\": \"f\", " \
    "\"arguments\": \"{\\\"a\\\": 1}\"}}]}, {\"role\": \"tool\", \"tool_call_id\": \"i\", \"content\": \"x\"}], \"tools\": " \
    "[{\"type\": \"function\", \"function\": {\"name\": \"f\"}}], \"tool_choice\": \"required\""

static void requests_survive(void **state)
{
    (void)state;
    static const memory_case cases[] = {
        {"a completion", openai_completions,
         "{\"model\": \"bytes\", \"prompt\": [\"ab\", [5, 6]], \"n\": 2, \"max_tokens\": 3, \"seed\": 1, \"logprobs\": 2, "
         "\"echo\": true, \"stop\": \"x\", \"logit_bias\": {\"9\": 1}}", 20},
        {"a stream", openai_completions,
         "{\"model\": \"bytes\", \"prompt\": \"ab\", \"max_tokens\": 3, \"seed\": 1, \"logprobs\": 1, \"echo\": true, "
         "\"stream\": true, \"stream_options\": {\"include_usage\": true}}", 20},
        {"a completion of JSON", openai_completions,
         "{\"model\": \"bytes\", \"prompt\": \"ab\", \"max_tokens\": 3, \"seed\": 1, \"response_format\": {\"type\": "
         "\"json_schema\", \"json_schema\": {\"schema\": {\"enum\": [1, \"a\"]}}}}", 20},
        {"a response of JSON", openai_responses,
         "{\"model\": \"chatty\", \"input\": \"hi\", \"max_output_tokens\": 3, \"seed\": 1, \"text\": {\"format\": {\"type\": "
         "\"json_schema\", \"name\": \"a\", \"schema\": {\"pattern\": \"^ab*$\", \"type\": \"string\"}}}}", 20},
        {"a chat", openai_chat,
         "{\"model\": \"chatty\", \"messages\": [{\"role\": \"user\", \"content\": [{\"type\": \"text\", \"text\": \"x\"}]}], "
         "\"logprobs\": true, \"top_logprobs\": 1, \"max_tokens\": 2, \"seed\": 1}", 20},
        {"a translation", openai_chat,
         "{\"model\": \"en-fr\", \"messages\": [{\"role\": \"user\", \"content\": \"w1\\nw2\"}], \"stream\": true}", 20},
        {"embeddings", openai_embeddings, "{\"model\": \"encoder\", \"input\": [\"cat\", \"sing\"]}", 20},
        {"a call", openai_chat, "{\"model\": \"chatty\", \"seed\": 1, " TOOLS "}", 60},
        {"a streamed call", openai_chat, "{\"model\": \"chatty\", \"seed\": 1, \"stream\": true, " TOOLS "}", 60},
        {"embeddings of ids", openai_embeddings, "{\"model\": \"encoder\", \"input\": [[5, 6], [7]], \"dimensions\": 3}", 10},
        {"a ranking", openai_rerank, "{\"query\": \"cat\", \"documents\": [\"sing\", {\"text\": \"the\"}], "
                                     "\"return_documents\": true}", 20},
        {"a ranking of texts", openai_any_rerank,
         "{\"query\": \"cat\", \"texts\": [\"sing\", \"the\"], \"return_text\": true}", 20},
        {"scores", openai_score, "{\"text_1\": [\"a\", \"b\"], \"text_2\": [\"c\", \"d\"]}", 20}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        failing f = {.what = cases[i].what, .at_least = cases[i].at_least, .unnoticed = 1000, .uncounted = true};
        rapt_code code;
        assert_int_equal(ask_once(&cases[i]), RAPT_OK);
        do {
            failing_arm(&f);
            code = ask_once(&cases[i]);
        } while (failing_again(&f, code));
        assert_int_equal(ask_once(&cases[i]), RAPT_OK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(requests_survive)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
