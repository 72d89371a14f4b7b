/* serve/module/openai_chat.c: POST /v1/chat/completions: replies to messages, by the chat template of a language model. */
#include "serve/module/openai.h"

#include "serve/module/exchange_work.h"
#include "serve/module/openai_chat_choice.h"
#include "serve/module/openai_error.h"
#include "serve/module/openai_messages.h"
#include "serve/module/openai_run.h"
#include "serve/module/openai_translate.h"
#include "serve/module/reply.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_TOP = 20,
    MESSAGE = 400,        /* bytes of a message beside its text, as variables of a template */
    TEMPLATE = 8 << 20,   /* bytes that a template may take, and copies of the messages */
    TEMPLATE_COPIES = 8,
    TOKENS = 48           /* bytes of each byte of the text, while it is made tokens */
};

/* ---- choices ------------------------------------------------------------------------------------------------------------ */

static json_t *chat_whole(const openai_choice *c, json_t *logprobs)
{
    return openai_chat_choice(c->index, c->text.data, c->text.size, logprobs, c->finish);
}

static json_t *chat_part(const openai_choice *c, const char *text, size_t size, json_t *logprobs, const char *finish)
{
    return openai_chat_delta(c->index, size == 0 && !finish && json_is_null(logprobs), text, size, logprobs, finish);
}

static const openai_shape SHAPE = {"chatcmpl", "chat.completion", "chat.completion.chunk", chat_whole, chat_part, true};

/* ---- the request -------------------------------------------------------------------------------------------------------- */

/* Fields of which only one value asks for nothing. */
static void chat_refuse_fields(fields *f)
{
    static const char *const neutral[][2] = {
        {"tools", "[[]]"}, {"tool_choice", "[\"none\", \"auto\"]"}, {"parallel_tool_calls", "[true, false]"},
        {"functions", "[[]]"}, {"function_call", "[\"none\", \"auto\"]"}, {"response_format", "[{\"type\": \"text\"}]"},
        {"modalities", "[[\"text\"]]"}, {"service_tier", "[\"auto\", \"default\"]"}, {"reasoning_effort", "[\"none\"]"},
        {"prediction", "[]"}, {"audio", "[]"}, {"web_search_options", "[]"},
        {"verbosity", "[\"medium\"]"}};
    for (size_t i = 0; i < sizeof neutral / sizeof *neutral; i++)
        fields_neutral(f, neutral[i][0], neutral[i][1]);
    fields_flag(f, "store", false); /* nothing is stored, whatever it says */
}

/* A template's error without the path of its file, which is the operator's affair. */
static const char *without_folder(const char *message, const served *s)
{
    const size_t size = strlen(s->path);
    if (strncmp(message, s->path, size) != 0)
        return message;
    message += size;
    return message + strspn(message, "/");
}

/* The template's text of the messages as the prompt. */
static void chat_prompt_read(openai_request *r, fields *f, const openai_messages *messages, const served *s, exchange *x)
{
    if (!s->chat) {
        fields_fail(f, "model", "\"%s\" has no chat template; POST /v1/completions continues texts", s->name);
        return;
    }
    fields kwargs;
    char *variables = fields_object(f, "chat_template_kwargs", &kwargs) ? json_dumps(kwargs.object, JSON_COMPACT) : NULL;
    size_t bytes = variables ? strlen(variables) : 0;
    for (size_t i = 0; i < messages->count; i++)
        bytes += MESSAGE + strlen(messages->list[i].content);
    const size_t memory = TEMPLATE + TEMPLATE_COPIES * bytes;
    const rapt_chat_options options = {.memory = memory, .stop = exchange_stops, .context = x, .variables = variables};
    const rapt_model *m = rapt_engine_model_of(s->model);
    char *text = NULL;
    size_t size = 0, count = 0;
    int32_t *ids = NULL;
    rapt_error err = {0};
    const bool fits = request_asks(x, ADMISSION_MAKING, memory + TOKENS * bytes, f->error, "the text of %zu messages",
                                   messages->count);
    rapt_code code = fits ? rapt_chat_apply(s->chat, messages->list, messages->count, &options, &text, &size, &err) : RAPT_OK;
    if (fits && !code)
        code = rapt_chat_encode(m->language.tokenizer, text, size, &ids, &count, &err);
    if (code)
        request_fail(f->error, reply_status(code), "messages", "messages: %s", without_folder(err.message, s));
    else if (fits)
        openai_prompts_set(&r->prompts, f, "messages", ids, count, text, size, m);
    free(variables);
    fields_free(&kwargs);
    free(text);
}

/* As many as the context takes, unless the request says less. */
static void chat_max_tokens_read(openai_request *r, fields *f, const app_limits *limits, const rapt_model *m)
{
    const int64_t older = openai_max_tokens(f, "max_tokens", -1, 1, limits, m);
    const int64_t tokens = openai_max_tokens(f, "max_completion_tokens", older, 1, limits, m);
    if (f->error->status)
        return;
    if (older >= 0 && older != tokens)
        fields_fail(f, "max_tokens", "max_completion_tokens says otherwise");
    const size_t left = m->language.net->config.context - r->prompts.list[0].count, limit = limits->max_tokens;
    const size_t most = limit && limit < left ? limit : left;
    r->is_open = tokens <= 0;
    r->options.o.max_tokens = tokens > 0 ? (size_t)tokens : most ? most : 1;
}

static void chat_read(openai_request *r, fields *f, const openai_messages *messages, const app_limits *limits, const served *s,
                      exchange *x)
{
    const rapt_model *m = rapt_engine_model_of(s->model);
    r->shape = &SHAPE;
    openai_options_read(&r->options, f, limits, m);
    r->options.o.chat = true;
    r->has_logprobs = fields_flag(f, "logprobs", false);
    r->top = (size_t)fields_integer(f, "top_logprobs", 0, 0, MOST_TOP);
    if (r->top > 0 && !r->has_logprobs)
        fields_fail(f, "top_logprobs", "needs \"logprobs\": true");
    if (!f->error->status)
        chat_prompt_read(r, f, messages, s, x);
    chat_max_tokens_read(r, f, limits, m);
}

/* ---- the answer --------------------------------------------------------------------------------------------------------- */

/* Without --chat the end of a turn is a text that ends a run. */
static void chat_replay_end(replay *line, const rapt_language_model *m)
{
    size_t size = 0;
    const char *text = m->has_end_of_turn ? rapt_tokenizer_token(m->tokenizer, m->end_of_turn, &size) : NULL;
    if (text)
        replay_text(line, "--stop", text, size);
}

/* The program's own --chat has a template's text anew, which may depend on the day; the text of this one does not. */
static void chat_replay(const openai_request *r, exchange *x, const served *s)
{
    const openai_prompt *p = &r->prompts.list[0];
    replay line = {.unfaithful = !p->same};
    replay_begin(&line, "generate", s);
    replay_words(&line, " --no-prompt --max-tokens %zu", r->options.o.max_tokens);
    chat_replay_end(&line, &rapt_engine_model_of(s->model)->language);
    openai_options_replay(&r->options, &line);
    replay_prompt(&line, p->text, p->size);
    replay_end(&line, x);
}

static void chat_generate(app *a, exchange *x, served_set *set, const served *s, fields *f, const openai_messages *messages)
{
    openai_request r = {.shape = NULL};
    chat_read(&r, f, messages, app_limits_of(a), s, x);
    if (fields_finish(f)) {
        replay_headers(x, s);
        chat_replay(&r, x, s);
        openai_run_start(a, x, set, s, &r);
    } else {
        openai_refuse(x, f->error);
        openai_request_free(&r);
    }
}

static void chat_answer(app *a, exchange *x, served_set *set)
{
    static const rapt_task tasks[] = {RAPT_TASK_LANGUAGE_MODEL, RAPT_TASK_TRANSLATION};
    request_error error = {0};
    openai_messages messages = {.list = NULL};
    fields f;
    fields_read(&f, x, false, &error);
    const served *s = error.status ? NULL : openai_model(&f, set, tasks, 2);
    if (s) {
        exchange_note_model(x, s->name);
        openai_messages_read(&messages, &f);
        chat_refuse_fields(&f);
    }
    if (error.status)
        openai_refuse(x, &error);
    else if (s->task == RAPT_TASK_TRANSLATION)
        openai_translate(a, x, s, &f, &messages);
    else
        chat_generate(a, x, set, s, &f, &messages);
    openai_messages_free(&messages);
    fields_free(&f);
}

void openai_chat(app *a, exchange *x)
{
    served_set *set = app_models(a);
    chat_answer(a, x, set);
    served_release(set);
}
