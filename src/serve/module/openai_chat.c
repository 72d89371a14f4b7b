/* serve/module/openai_chat.c: POST /v1/chat/completions: replies to messages, by the chat template of a language model. */
#include "serve/module/openai.h"

#include "serve/module/openai_calls.h"
#include "serve/module/openai_chat.h"
#include "serve/module/openai_format.h"
#include "serve/module/openai_tools.h"

enum { MOST_TOP = 20 };

/* ---- choices ------------------------------------------------------------------------------------------------------------ */

static json_t *chat_whole(const openai_choice *c, json_t *logprobs)
{
    if (c->request->tools.list)
        return openai_calls_whole(c, logprobs);
    return openai_chat_choice(c->index, c->text.data, c->text.size, logprobs, c->finish);
}

static json_t *chat_part(const openai_choice *c, const char *text, size_t size, json_t *logprobs, const char *finish)
{
    return openai_chat_delta(c->index, size == 0 && !finish && json_is_null(logprobs), text, size, logprobs, finish);
}

static const openai_shape SHAPE = {"chatcmpl", "chat.completion", "chat.completion.chunk", chat_whole, chat_part,
                                   openai_calls_parts, true};

/* ---- the request -------------------------------------------------------------------------------------------------------- */

/* Fields of which only one value has no effect; others are refused. */
static void chat_refuse_fields(fields *f)
{
    static const char *const neutral[][2] = {
        {"functions", "[[]]"}, {"function_call", "[\"none\", \"auto\"]"}, {"modalities", "[[\"text\"]]"},
        {"service_tier", "[\"auto\", \"default\"]"}, {"reasoning_effort", "[\"none\"]"}, {"prediction", "[]"}, {"audio", "[]"},
        {"web_search_options", "[]"}, {"verbosity", "[\"medium\"]"}};
    for (size_t i = 0; i < sizeof neutral / sizeof *neutral; i++)
        fields_neutral(f, neutral[i][0], neutral[i][1]);
    fields_flag(f, "store", false); /* nothing is stored in either case */
}

/* As many as the context takes, unless the request says less. */
static void chat_max_tokens_read(openai_request *r, const openai_asked *q)
{
    fields *f = q->f;
    const int64_t older = openai_max_tokens(f, "max_tokens", -1, 1, q->limits, q->m);
    const int64_t tokens = openai_max_tokens(f, "max_completion_tokens", older, 1, q->limits, q->m);
    if (f->error->status)
        return;
    if (older >= 0 && older != tokens)
        fields_fail(f, "max_tokens", "max_completion_tokens says otherwise");
    openai_chat_limit(r, tokens, q->limits, q->m);
}

static void chat_read(openai_request *r, const openai_asked *q, const openai_messages *messages)
{
    fields *f = q->f;
    openai_tools_read(r, q);
    openai_options_read(&r->options, f, q->limits, q->m);
    r->options.o.chat = true;
    r->has_logprobs = fields_flag(f, "logprobs", false);
    r->top = (size_t)fields_integer(f, "top_logprobs", 0, 0, MOST_TOP);
    if (r->top > 0 && !r->has_logprobs)
        fields_fail(f, "top_logprobs", "needs \"logprobs\": true");
    if (!f->error->status)
        openai_chat_prompt(r, q, "messages", messages);
    chat_max_tokens_read(r, q);
    openai_format_read(r, q);
    openai_tools_constrain(r, q);
}

/* ---- the answer --------------------------------------------------------------------------------------------------------- */

static void chat_endpoint(const openai_asked *q)
{
    openai_messages messages;
    openai_request r = {.shape = &SHAPE};
    openai_messages_read(&messages, q->f, q->x);
    chat_refuse_fields(q->f);
    if (q->s->task == RAPT_TASK_TRANSLATION) {
        fields_neutral(q->f, "response_format", "[{\"type\": \"text\"}]");
        fields_neutral(q->f, "tools", "[[]]");
        fields_neutral(q->f, "tool_choice", "[\"none\", \"auto\"]");
        fields_neutral(q->f, "parallel_tool_calls", "[true, false]");
        openai_translate(q, &messages);
    } else {
        chat_read(&r, q, &messages);
        openai_generate(q, &r, openai_chat_replay);
    }
    openai_messages_free(&messages);
}

void openai_chat(app *a, exchange *x)
{
    static const rapt_task tasks[] = {RAPT_TASK_LANGUAGE_MODEL, RAPT_TASK_TRANSLATION};
    openai_answer(a, x, tasks, 2, chat_endpoint);
}
