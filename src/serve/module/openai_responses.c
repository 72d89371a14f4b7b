/* serve/module/openai_responses.c: POST /v1/responses: a reply to a text or messages by the chat template of a language model, in
 * the form of OpenAI's newer interface: text in, text out. Nothing is stored: the whole conversation comes with each request. */
#include "serve/module/openai.h"

#include "serve/module/openai_chat.h"
#include "serve/module/openai_format.h"
#include "serve/module/sse.h"

#include <stdio.h>
#include <string.h>

/* ---- objects ------------------------------------------------------------------------------------------------------------ */

static const char *status_of(const char *finish)
{
    return !finish ? "in_progress" : strcmp(finish, "length") == 0 ? "incomplete" : "completed";
}

static json_t *part_object(const char *text, size_t size)
{
    return json_pack("{s:s, s:s%, s:[], s:[]}", "type", "output_text", "text", text ? text : "", size, "annotations", "logprobs");
}

/* The message object; it has its text only when it has ended. */
static json_t *item_object(const openai_about *about, const openai_choice *c, const char *finish)
{
    char id[48];
    snprintf(id, sizeof id, "msg-%s", exchange_id(about->x));
    json_t *parts = finish ? json_pack("[o]", part_object(c->text.data, c->text.size)) : json_array();
    return json_pack("{s:s, s:s, s:s, s:s, s:o}", "type", "message", "id", id, "status", status_of(finish), "role", "assistant",
                     "content", parts);
}

static json_t *usage_object(const openai_about *about)
{
    return json_pack("{s:I, s:{s:I}, s:I, s:{s:i}, s:I}", "input_tokens", (json_int_t)about->prompt_tokens,
                     "input_tokens_details", "cached_tokens", (json_int_t)about->cached_tokens, "output_tokens",
                     (json_int_t)about->generated_tokens, "output_tokens_details", "reasoning_tokens", 0, "total_tokens",
                     (json_int_t)(about->prompt_tokens + about->generated_tokens));
}

static json_t *response_object(const openai_about *about, const openai_choice *c, const char *finish)
{
    const openai_request *r = about->request;
    const rapt_sample_options *s = &r->options.o.sample;
    const bool cut = finish && strcmp(finish, "length") == 0;
    json_t *output = finish ? json_pack("[o]", item_object(about, c, finish)) : json_array();
    json_t *limit = r->is_open ? json_null() : json_integer((json_int_t)r->options.o.max_tokens);
    return json_pack("{s:s, s:s, s:I, s:s, s:n, s:o?, s:s, s:s, s:o, s:o, s:f, s:f, s:b, s:b, s:s, s:[], s:s, s:{}, s:n,"
                     " s:o, s:o?}",
                     "id", about->id, "object", "response", "created_at", (json_int_t)about->created, "status",
                     status_of(finish), "error", "incomplete_details",
                     cut ? json_pack("{s:s}", "reason", "max_output_tokens") : json_null(), "model", about->model,
                     "system_fingerprint", about->fingerprint, "output", output, "max_output_tokens", limit, "temperature",
                     s->temperature, "top_p", s->top_p, "parallel_tool_calls", !r->serial_tools, "store", 0, "tool_choice",
                     r->no_tools ? "none" : "auto", "tools", "truncation", "disabled", "metadata", "previous_response_id", "text",
                     openai_format_text(r), "usage", finish ? usage_object(about) : json_null());
}

static json_t *response_whole(const openai_about *about, const openai_choice *c)
{
    return response_object(about, c, c->finish);
}

/* ---- events ------------------------------------------------------------------------------------------------------------- */

/* Takes `value` over, whose key is `key`. */
static bool send_event(const openai_about *about, openai_choice *c, const char *type, json_t *event, const char *key,
                       json_t *value)
{
    bool fine = event && json_object_set_new(event, "type", json_string(type)) == 0 &&
                json_object_set_new(event, "sequence_number", json_integer((json_int_t)c->events++)) == 0;
    if (key)
        fine = json_object_set_new(event, key, value) == 0 && fine;
    if (fine)
        return sse_send_named(about->x, type, event);
    json_decref(event);
    return false;
}

static json_t *of_item(const openai_about *about, bool part)
{
    char id[48];
    snprintf(id, sizeof id, "msg-%s", exchange_id(about->x));
    return part ? json_pack("{s:i, s:s, s:i}", "output_index", 0, "item_id", id, "content_index", 0)
                : json_pack("{s:i}", "output_index", 0);
}

static bool send_beginning(const openai_about *about, openai_choice *c)
{
    return send_event(about, c, "response.created", json_object(), "response", response_object(about, c, NULL)) &&
           send_event(about, c, "response.in_progress", json_object(), "response", response_object(about, c, NULL)) &&
           send_event(about, c, "response.output_item.added", of_item(about, false), "item", item_object(about, c, NULL)) &&
           send_event(about, c, "response.content_part.added", of_item(about, true), "part", part_object("", 0));
}

static bool send_end(const openai_about *about, openai_choice *c, const char *finish)
{
    json_t *done = of_item(about, true);
    json_object_set_new(done, "logprobs", json_array());
    const bool cut = strcmp(finish, "length") == 0;
    return send_event(about, c, "response.output_text.done", done, "text", json_stringn(c->text.data ? c->text.data : "",
                                                                                        c->text.size)) &&
           send_event(about, c, "response.content_part.done", of_item(about, true), "part",
                      part_object(c->text.data, c->text.size)) &&
           send_event(about, c, "response.output_item.done", of_item(about, false), "item", item_object(about, c, finish)) &&
           send_event(about, c, cut ? "response.incomplete" : "response.completed", json_object(), "response",
                      response_object(about, c, finish));
}

static bool response_events(const openai_about *about, openai_choice *c, const char *text, size_t size, const char *finish)
{
    bool fine = c->events > 0 || send_beginning(about, c);
    if (size > 0 && fine) {
        json_t *delta = of_item(about, true);
        json_object_set_new(delta, "logprobs", json_array());
        fine = send_event(about, c, "response.output_text.delta", delta, "delta", json_stringn(text, size));
    }
    return fine && (!finish || send_end(about, c, finish));
}

static const openai_shape SHAPE = {.id = "resp", .opens = true, .response = response_whole, .events = response_events};

/* ---- the request -------------------------------------------------------------------------------------------------------- */

/* Fields of which only one value has no effect; others are refused. */
static void responses_refuse_fields(fields *f)
{
    static const char *const neutral[][2] = {
        {"tools", "[[]]"}, {"tool_choice", "[\"none\", \"auto\"]"}, {"parallel_tool_calls", "[true, false]"}, {"include", "[[]]"},
        {"truncation", "[\"disabled\"]"}, {"background", "[false]"},
        {"reasoning", "[{}, {\"effort\": null}, {\"effort\": \"none\"}]"}, {"service_tier", "[\"auto\", \"default\"]"},
        {"previous_response_id", "[]"}, {"conversation", "[]"}, {"prompt", "[]"}, {"top_logprobs", "[0]"}, {"n", "[1]"},
        {"max_tool_calls", "[]"}};
    for (size_t i = 0; i < sizeof neutral / sizeof *neutral; i++)
        fields_neutral(f, neutral[i][0], neutral[i][1]);
    fields_flag(f, "store", false); /* nothing is stored in either case */
}

static void responses_read(openai_request *r, const openai_asked *q)
{
    fields *f = q->f;
    openai_messages messages;
    responses_refuse_fields(f);
    const char *tools = json_string_value(fields_value(f, "tool_choice"));
    r->no_tools = tools && strcmp(tools, "none") == 0;
    r->serial_tools = json_is_false(fields_value(f, "parallel_tool_calls"));
    openai_options_read(&r->options, f, q->limits, q->m);
    r->options.o.chat = true;
    openai_messages_read_input(&messages, f);
    if (!f->error->status)
        openai_chat_prompt(r, q, "input", &messages);
    const int64_t tokens = openai_max_tokens(f, "max_output_tokens", -1, 1, q->limits, q->m);
    if (!f->error->status)
        openai_chat_limit(r, tokens, q->limits, q->m);
    openai_format_read_text(r, q);
    openai_messages_free(&messages);
}

static void responses_endpoint(const openai_asked *q)
{
    openai_request r = {.shape = &SHAPE};
    responses_read(&r, q);
    openai_generate(q, &r, openai_chat_replay);
}

void openai_responses(app *a, exchange *x)
{
    static const rapt_task tasks[] = {RAPT_TASK_LANGUAGE_MODEL};
    openai_answer(a, x, tasks, 1, responses_endpoint);
}
