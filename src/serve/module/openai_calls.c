/* serve/module/openai_calls.c: what tool_reader.c finds in a reply, as JSON. */
#include "serve/module/openai_calls.h"

#include "base/rng.h"
#include "serve/module/openai_chat.h"
#include "serve/module/openai_tools.h"

#include <stdio.h>
#include <string.h>

struct openai_calls {
    tool_reader reader;
    json_t *parts; /* of the text that is being read; borrowed */
    const openai_choice *of;
};

/* The id of a choice's call, the same for no other one. Mistral's templates want nine letters. */
static void call_id(const openai_choice *c, size_t call, char *id, size_t size)
{
    uint64_t hash = rng_mix(c->index, call);
    for (const char *at = c->response_id; *at; at++)
        hash = rng_mix(hash, (unsigned char)*at);
    if (c->request->tools.format.family != TOOLS_MISTRAL && c->request->tools.format.family != TOOLS_MISTRAL_ARGS) {
        snprintf(id, size, "call_%016llx", (unsigned long long)hash);
        return;
    }
    for (size_t i = 0; i < 9; i++, hash /= 36)
        id[i] = "0123456789abcdefghijklmnopqrstuvwxyz"[hash % 36];
    id[9] = '\0';
}

/* The reader of a choice's reply, which has read what the prompt has of the first call. */
static bool calls_reader_begin(tool_reader *r, const openai_choice *c, tool_piece_fn *take, void *context)
{
    request_error error = {0};
    char *opening;
    const openai_tools *t = &c->request->tools;
    *r = (tool_reader){.family = t->format.family, .names = t->names, .sure = t->required, .single = t->single, .take = take,
                       .context = context};
    if (!openai_tools_opening(t, &opening, &(fields){.error = &error}))
        return false;
    if (opening && *opening)
        tool_reader_push(r, opening, strlen(opening));
    free(opening);
    return !r->failed;
}

/* Why a reply ends that has called tools, or not. */
static const char *call_finish(const tool_reader *r, const char *finish)
{
    return finish && r->calls > 0 && strcmp(finish, "stop") == 0 ? "tool_calls" : finish;
}

/* ---- whole -------------------------------------------------------------------------------------------------------------- */

typedef struct whole_reply {
    const openai_choice *of;
    buffer content, arguments; /* of the call in progress */
    json_t *calls;
    json_t *function;          /* of the call in progress; borrowed */
    size_t count;
} whole_reply;

/* Gives the call in progress its arguments. */
static bool end_call(whole_reply *w)
{
    json_t *function = w->function;
    w->function = NULL;
    if (!function)
        return true;
    const bool fine = json_object_set_new(function, "arguments", json_stringn(w->arguments.data ? w->arguments.data : "",
                                                                              w->arguments.size)) == 0;
    w->arguments.size = 0;
    return fine;
}

static bool take_call_whole(void *context, tool_piece kind, const char *text, size_t size)
{
    char id[32];
    whole_reply *w = context;
    if (kind != TOOL_NAME)
        return buffer_append(kind == TOOL_TEXT ? &w->content : &w->arguments, text, size);
    if (!end_call(w))
        return false;
    call_id(w->of, w->count++, id, sizeof id);
    json_t *call = json_pack("{s:s, s:s, s:{s:s%}}", "id", id, "type", "function", "function", "name", text, size);
    w->function = json_object_get(call, "function");
    return json_array_append_new(w->calls, call) == 0;
}

json_t *openai_calls_whole(const openai_choice *c, json_t *logprobs)
{
    tool_reader r = {.calls = 0};
    whole_reply w = {.of = c, .calls = json_array()};
    bool fine = w.calls && calls_reader_begin(&r, c, take_call_whole, &w);
    if (fine) {
        tool_reader_push(&r, c->text.data ? c->text.data : "", c->text.size);
        tool_reader_finish(&r);
    }
    fine = fine && end_call(&w) && !r.failed;
    json_t *choice = fine ? openai_chat_choice(c->index, w.content.data, w.content.size, logprobs, call_finish(&r, c->finish))
                          : NULL;
    json_t *message = json_object_get(choice, "message");
    if (!fine)
        json_decref(logprobs);
    if (message && r.calls > 0)
        json_object_set(message, "tool_calls", w.calls);
    if (message && r.calls > 0 && w.content.size == 0)
        json_object_set_new(message, "content", json_null());
    tool_reader_free(&r);
    json_decref(w.calls);
    buffer_free(&w.content);
    buffer_free(&w.arguments);
    return choice;
}

/* ---- bit by bit --------------------------------------------------------------------------------------------------------- */

/* Adds the choice of a chunk with this delta, which it takes over. */
static bool add_call_part(openai_calls *calls, json_t *delta)
{
    return json_array_append_new(calls->parts, json_pack("{s:i, s:o, s:n, s:n}", "index", (int)calls->of->index, "delta", delta,
                                                         "logprobs", "finish_reason")) == 0;
}

static bool take_call_part(void *context, tool_piece kind, const char *text, size_t size)
{
    char id[32];
    openai_calls *calls = context;
    const int index = (int)calls->reader.calls - 1;
    if (kind == TOOL_TEXT)
        return add_call_part(calls, json_pack("{s:s%}", "content", text, size));
    if (kind == TOOL_ARGUMENTS)
        return add_call_part(calls, json_pack("{s:[{s:i, s:{s:s%}}]}", "tool_calls", "index", index, "function", "arguments",
                                              text, size));
    call_id(calls->of, (size_t)index, id, sizeof id);
    return add_call_part(calls, json_pack("{s:[{s:i, s:s, s:s, s:{s:s%, s:s}}]}", "tool_calls", "index", index, "id", id, "type",
                                     "function", "function", "name", text, size, "arguments", ""));
}

static openai_calls *calls_new(const openai_choice *c)
{
    openai_calls *calls = calloc(1, sizeof *calls);
    if (!calls)
        return NULL;
    calls->of = c;
    calls->parts = json_array(); /* the opening hands out nothing */
    const bool fine = calls->parts && calls_reader_begin(&calls->reader, c, take_call_part, calls);
    json_decref(calls->parts);
    if (fine)
        return calls;
    openai_calls_free(calls);
    return NULL;
}

json_t *openai_calls_parts(openai_choice *c, const char *text, size_t size, json_t *logprobs, const char *finish)
{
    json_t *parts = json_array();
    c->calls = c->calls ? c->calls : calls_new(c);
    const bool opens = size == 0 && !finish && json_is_null(logprobs);
    bool fine = c->calls && parts;
    if (fine && !opens) {
        c->calls->parts = parts;
        tool_reader_push(&c->calls->reader, text, size);
        if (finish)
            tool_reader_finish(&c->calls->reader);
        fine = !c->calls->reader.failed;
    }
    /* Log-probabilities come with the text or call that is handed out next, or in a part of their own. */
    if (fine && (opens || finish))
        fine = json_array_append_new(parts, openai_chat_delta(c->index, opens, "", 0, json_incref(logprobs),
                                                              call_finish(&c->calls->reader, finish))) == 0;
    else if (fine && !json_is_null(logprobs))
        fine = (json_array_size(parts) > 0 || add_call_part(c->calls, json_pack("{s:s}", "content", ""))) &&
               json_object_set(json_array_get(parts, 0), "logprobs", logprobs) == 0;
    json_decref(logprobs);
    if (fine)
        return parts;
    json_decref(parts);
    return NULL;
}

void openai_calls_free(openai_calls *calls)
{
    if (calls)
        tool_reader_free(&calls->reader);
    free(calls);
}
