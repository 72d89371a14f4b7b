/* serve/module/openai_translate.c: a chat with a translation model, as a dialect of translating.c: the last message of the user
 * is the text, its translation is the reply, and n choices are the n best. For programs that only speak OpenAI's dialect. A
 * streamed translation comes as one part. */
#include "serve/module/openai_chat.h"

#include "serve/module/openai_error.h"
#include "serve/module/openai_object.h"
#include "serve/module/openai_options.h"
#include "serve/module/reply.h"
#include "serve/module/sse.h"
#include "serve/module/translating.h"

#include <string.h>
#include <time.h>

/* ---- the reply ---------------------------------------------------------------------------------------------------------- */

/* `choices` is taken over. */
static json_t *chat_object(const translating *t, const char *object, int64_t created, json_t *choices)
{
    char id[48];
    snprintf(id, sizeof id, "chatcmpl-%s", exchange_id(t->x));
    return openai_object_json(&(openai_object){id, t->name, t->fingerprint, created}, object, choices);
}

static json_t *chat_usage(const translating *t, const rapt_translation *lines)
{
    translating_tokens n = translating_count_tokens(t, lines);
    for (size_t i = 0; i < t->first[t->count]; i++) /* tokens of further choices */
        for (size_t k = 1; k < t->options.n_best; k++)
            n.target += translating_hypothesis(&lines[i], k)->token_count;
    return openai_usage_json(n.source, n.target, 0);
}

static size_t choices_of(const translating *t)
{
    return t->options.n_best;
}

/* Choice n of the reply, which ends before the first stop text in it. NULL: out of memory. */
static json_t *choice_text(const translating *t, const rapt_translation *lines, size_t n)
{
    json_t *text = translating_text(t, lines, 0, n);
    const char *whole = json_string_value(text), *end = NULL;
    for (size_t i = 0; i < t->stop_count && whole; i++) {
        const char *found = strstr(whole, t->stops[i]);
        end = found && (!end || found < end) ? found : end;
    }
    if (!end)
        return text;
    json_t *cut = json_stringn(whole, (size_t)(end - whole));
    json_decref(text);
    return cut;
}

static void chat_body(const translating *t, const rapt_translation *lines, reply_body *to)
{
    json_t *whole = chat_object(t, "chat.completion", (int64_t)time(NULL), json_null());
    to->out.failed = json_object_set_new(whole, "usage", chat_usage(t, lines)) != 0;
    reply_frame frame = reply_frame_new(whole, "choices");
    reply_frame_open(&frame, to);
    for (size_t i = 0; reply_list(to, i, choices_of(t)); i++) {
        json_t *text = choice_text(t, lines, i);
        reply_put(to, !text ? NULL : openai_chat_choice(i, json_string_value(text), json_string_length(text), json_null(),
                                                        "stop"));
        json_decref(text);
    }
    reply_frame_close(&frame, to);
}

/* Takes over both; `usage` may be NULL. */
static bool send_chunk(const translating *t, int64_t created, json_t *choices, json_t *usage)
{
    json_t *chunk = chat_object(t, "chat.completion.chunk", created, choices);
    if (chunk && t->has_usage)
        json_object_set(chunk, "usage", usage ? usage : json_null());
    json_decref(usage);
    return sse_send(t->x, chunk);
}

static bool send_delta(const translating *t, int64_t created, size_t index, bool first, const json_t *text, const char *finish)
{
    json_t *delta = openai_chat_delta(index, first, json_string_value(text), json_string_length(text), json_null(), finish);
    return send_chunk(t, created, json_pack("[o]", delta), NULL);
}

static void send_stream(const translating *t, const rapt_translation *lines)
{
    const int64_t created = (int64_t)time(NULL);
    bool fine = true;
    sse_begin(t->x);
    for (size_t i = 0; i < choices_of(t) && fine; i++) {
        json_t *text = choice_text(t, lines, i);
        fine = text && send_delta(t, created, i, true, NULL, NULL) && send_delta(t, created, i, false, text, NULL) &&
               send_delta(t, created, i, false, NULL, "stop");
        json_decref(text);
    }
    if (fine && t->has_usage)
        fine = send_chunk(t, created, json_array(), chat_usage(t, lines));
    if (!fine)
        sse_send(t->x, openai_error_object(503, NULL, NULL, "out of memory for the response"));
    sse_end(t->x, fine);
}

static const translating_dialect CHAT = {.source_field = "messages", .target_field = "messages", .body = chat_body,
                                         .stream = send_stream, .fail = openai_refuse};

/* ---- the request -------------------------------------------------------------------------------------------------------- */

/* Nothing is sampled. Sampling options that chat programs always send are accepted with any value, and have no effect; other
 * options are accepted only with values without effect. */
static void read_options(openai_options *o, fields *f, const app_limits *limits)
{
    static const char *const neutral[][2] = {{"logit_bias", "[{}]"}, {"logprobs", "[false]"}, {"top_logprobs", "[0]"}};
    fields_number(f, "temperature", 1, 0, 2);
    fields_number(f, "top_p", 1, 0, 1);
    fields_number(f, "presence_penalty", 0, -2, 2);
    fields_number(f, "frequency_penalty", 0, -2, 2);
    fields_integer(f, "max_tokens", 1, 1, INT32_MAX);
    fields_integer(f, "max_completion_tokens", 1, 1, INT32_MAX);
    for (size_t i = 0; i < sizeof neutral / sizeof *neutral; i++)
        fields_neutral(f, neutral[i][0], neutral[i][1]);
    fields_ignore(f, "seed");
    fields_ignore(f, "chat_template_kwargs");
    o->n = (size_t)fields_integer(f, "n", 1, 1, (int64_t)limits->n);
    openai_stops_read(o, f);
    openai_sending_read(o, f);
}

static const char *last_of_user(const openai_messages *messages)
{
    for (size_t i = messages->count; i > 0; i--)
        if (strcmp(messages->list[i - 1].role, "user") == 0)
            return messages->list[i - 1].content;
    return NULL;
}

void openai_translate(const openai_asked *q, const openai_messages *messages)
{
    openai_options options = {.n = 1};
    fields *f = q->f;
    const char *text = last_of_user(messages);
    translating *t = translating_new(q->app, q->x, &CHAT, f->error);
    read_options(&options, f, q->limits);
    if (!text)
        fields_fail(f, "messages", "there is no message of the user");
    fields_finish(f);
    if (t) {
        t->streams = options.stream;
        t->has_usage = options.include_usage;
        t->counts_tokens = true;
        translating_take(t, q->s, f->error);
        if (options.n > 1 && !f->error->status)
            translating_n_best(t, options.n);
        t->stops = options.stops;
        t->stop_count = options.o.stop_count;
        options.stops = NULL;
        options.o.stop_count = 0;
        translating_submit(t, &text, 1, f->error);
    }
    openai_options_free(&options);
    if (f->error->status)
        translating_free(t);
}
