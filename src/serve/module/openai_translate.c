/* serve/module/openai_translate.c: a chat with a translation model: the last message of the user is the text, its translation is
 * the reply. For programs that speak OpenAI's dialect only; a translation that is streamed comes as one part. */
#define _GNU_SOURCE
#include "serve/module/openai_translate.h"

#include "serve/module/openai_chat_choice.h"
#include "serve/module/openai_error.h"
#include "serve/module/openai_options.h"
#include "serve/module/sse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct openai_translation {
    exchange *x; /* held */
    openai_options options;
    char id[48], fingerprint[REPLAY_FINGERPRINT];
    char *model, *text;
    const char **lines; /* [count] of the text, which is cut into them */
    size_t count;
    int64_t created;
    size_t source_tokens, target_tokens;
} openai_translation;

static void translation_free(openai_translation *t)
{
    openai_options_free(&t->options);
    exchange_release(t->x);
    free(t->model);
    free(t->text);
    free(t->lines);
    free(t);
}

/* ---- the reply ---------------------------------------------------------------------------------------------------------- */

/* `choices` is taken over. */
static json_t *translation_object(const openai_translation *t, const char *object, json_t *choices)
{
    return json_pack("{s:s, s:s, s:I, s:s, s:s, s:o}", "id", t->id, "object", object, "created", (json_int_t)t->created, "model",
                     t->model, "system_fingerprint", t->fingerprint, "choices", choices);
}

static json_t *translation_usage(const openai_translation *t)
{
    return json_pack("{s:I, s:I, s:I, s:{s:i}}", "prompt_tokens", (json_int_t)t->source_tokens, "completion_tokens",
                     (json_int_t)t->target_tokens, "total_tokens", (json_int_t)(t->source_tokens + t->target_tokens),
                     "prompt_tokens_details", "cached_tokens", 0);
}

static void translation_reply(openai_translation *t, const buffer *text)
{
    json_t *choice = openai_chat_choice(0, text->data, text->size, json_null(), "stop");
    json_t *o = translation_object(t, "chat.completion", json_pack("[o]", choice));
    if (json_object_set_new(o, "usage", translation_usage(t)) != 0) {
        json_decref(o);
        o = NULL;
    }
    openai_reply(t->x, o);
}

/* Takes over both; `usage` may be NULL. */
static bool translation_send(openai_translation *t, json_t *choices, json_t *usage)
{
    json_t *chunk = translation_object(t, "chat.completion.chunk", choices);
    if (chunk && t->options.include_usage)
        json_object_set(chunk, "usage", usage ? usage : json_null());
    json_decref(usage);
    return sse_send(t->x, chunk);
}

static bool translation_send_delta(openai_translation *t, bool first, const buffer *text, const char *finish)
{
    return translation_send(t, json_pack("[o]", openai_chat_delta(0, first, text->data, text->size, json_null(), finish)), NULL);
}

static void translation_stream(openai_translation *t, const buffer *text)
{
    const buffer nothing = {0};
    bool fine = translation_send_delta(t, true, &nothing, NULL) && translation_send_delta(t, false, text, NULL) &&
                translation_send_delta(t, false, &nothing, "stop");
    if (fine && t->options.include_usage)
        fine = translation_send(t, json_array(), translation_usage(t));
    if (!fine)
        sse_send(t->x, openai_error_object(503, NULL, NULL, "out of memory for the response"));
    sse_end(t->x, fine);
}

static void translation_fail(openai_translation *t, rapt_code code, const char *message)
{
    const int status = code == RAPT_ERR_VALUE || code == RAPT_ERR_FORMAT ? 400
                     : code == RAPT_ERR_MEMORY || code == RAPT_ERR_INTERRUPTED ? 503 : 500;
    if (t->options.stream) {
        sse_send(t->x, openai_error_object(status, NULL, NULL, message));
        sse_end(t->x, false);
    } else {
        openai_error(t->x, status, NULL, NULL, message);
    }
}

/* Lines of a translation, joined. False: out of memory. */
static bool translation_join(openai_translation *t, const rapt_translation *out, buffer *text)
{
    bool fine = true;
    for (size_t i = 0; i < t->count && fine; i++) {
        const rapt_hypothesis *h = out[i].count > 0 ? out[i].hypotheses : NULL;
        fine = (i == 0 || buffer_append(text, "\n", 1)) && (!h || buffer_append(text, h->text, strlen(h->text)));
        t->source_tokens += out[i].source_count;
        t->target_tokens += h ? h->token_count : 0;
    }
    return fine;
}

static void translation_done(void *context, rapt_code code, const char *message, const rapt_translation *out)
{
    openai_translation *t = context;
    buffer text = {0};
    if (!code && !translation_join(t, out, &text)) {
        code = RAPT_ERR_MEMORY;
        message = "out of memory for the response";
    }
    exchange_note(t->x, "prompt_tokens", (double)t->source_tokens);
    exchange_note(t->x, "generated_tokens", (double)t->target_tokens);
    if (code)
        translation_fail(t, code, message);
    else if (t->options.stream)
        translation_stream(t, &text);
    else
        translation_reply(t, &text);
    buffer_free(&text);
    translation_free(t);
}

static bool translation_stop(void *context)
{
    return exchange_gone(((openai_translation *)context)->x);
}

/* ---- the request -------------------------------------------------------------------------------------------------------- */

/* Nothing is sampled: of what samples only values are taken that ask for nothing else. */
static void translation_read(openai_options *o, fields *f)
{
    static const char *const neutral[][2] = {
        {"temperature", "[0, 1]"}, {"top_p", "[1]"}, {"n", "[1]"}, {"stop", "[[]]"}, {"logit_bias", "[{}]"},
        {"logprobs", "[false]"}, {"top_logprobs", "[0]"}, {"max_tokens", "[]"}, {"max_completion_tokens", "[]"}};
    for (size_t i = 0; i < sizeof neutral / sizeof *neutral; i++)
        fields_neutral(f, neutral[i][0], neutral[i][1]);
    fields_ignore(f, "seed");
    openai_sending_read(o, f);
}

static const char *last_of_user(const openai_messages *messages)
{
    for (size_t i = messages->count; i > 0; i--)
        if (strcmp(messages->list[i - 1].role, "user") == 0)
            return messages->list[i - 1].content;
    return NULL;
}

/* Cuts the text into lines. False: out of memory. */
static bool translation_cut(openai_translation *t, const char *text)
{
    t->text = strdup(text);
    if (!t->text)
        return false;
    t->count = 1;
    for (const char *p = text; (p = strchr(p, '\n')) != NULL; p++)
        t->count++;
    t->lines = calloc(t->count, sizeof *t->lines);
    char *at = t->text;
    for (size_t i = 0; i < t->count && t->lines; i++) {
        t->lines[i] = at;
        at += strcspn(at, "\n");
        *at++ = '\0';
    }
    return t->lines != NULL;
}

static openai_translation *translation_new(exchange *x, const served *s, const char *text)
{
    openai_translation *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    *t = (openai_translation){.x = x, .created = (int64_t)time(NULL), .model = strdup(s->name)};
    exchange_hold(x);
    snprintf(t->id, sizeof t->id, "chatcmpl-%s", exchange_id(x));
    replay_fingerprint(s, t->fingerprint);
    if (t->model && translation_cut(t, text))
        return t;
    translation_free(t);
    return NULL;
}

static void translation_queue(openai_translation *t, const served *s, const char *text)
{
    rapt_error err = {0};
    replay line = {.input = 0};
    const rapt_engine_translation request = {.lines = t->lines, .count = t->count, .options = {.tokens = true},
                                             .on_done = translation_done, .stop = translation_stop, .context = t};
    replay_headers(t->x, s);
    replay_begin(&line, "translate", s);
    replay_lines(&line, text, strlen(text));
    replay_end(&line, t->x);
    if (t->options.stream)
        sse_begin(t->x);
    rapt_code code = rapt_engine_translate(s->engine, s->model, &request, NULL, &err);
    if (!code)
        return;
    translation_fail(t, code, err.message);
    translation_free(t);
}

void openai_translate(app *a, exchange *x, const served *s, fields *f, const openai_messages *messages)
{
    openai_options options = {.n = 1};
    const char *text = last_of_user(messages);
    openai_translation *t = NULL;
    translation_read(&options, f);
    if (!text)
        fields_fail(f, "messages", "there is no message of the user");
    if (fields_finish(f) && !(t = translation_new(x, s, text)))
        request_fail(f->error, 503, NULL, "out of memory for the request");
    if (t && t->count > app_limits_of(a)->texts)
        fields_fail(f, "messages", "%zu lines, where at most %zu are taken", t->count, app_limits_of(a)->texts);
    if (f->error->status) {
        openai_refuse(x, f->error);
        if (t)
            translation_free(t);
        return;
    }
    t->options = options;
    translation_queue(t, s, text);
}
