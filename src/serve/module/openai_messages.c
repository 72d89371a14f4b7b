/* serve/module/openai_messages.c: reads lists of messages. */
#include "serve/module/openai_chat.h"

#include "base/buffer.h"
#include "serve/module/body_kinds.h"

#include <stdio.h>
#include <string.h>

enum { MAX_CALLS = 128 }; /* of a message */

/* Appends the text of a part. */
static void message_take_part(buffer *b, json_t *part, const char *path, bool of_input, request_error *error)
{
    static const char *const types[] = {"text", "input_text", "output_text"};
    fields f;
    const size_t count = of_input ? 3 : 1;
    if (!json_is_object(part)) {
        request_fail(error, 400, path, "%s: an object is expected", path);
        return;
    }
    fields_open(&f, part, path, error);
    if (fields_word(&f, "type", types, count, count) == count)
        fields_required_text(&f, "type");
    if (of_input) { /* clients send the parts of an earlier response back */
        fields_neutral(&f, "annotations", "[[]]");
        fields_neutral(&f, "logprobs", "[[]]");
    }
    const char *text = fields_required_text(&f, "text");
    if (fields_finish(&f) && !buffer_append(b, text, strlen(text)))
        request_fail(error, 503, NULL, "out of memory for the request");
    fields_free(&f);
}

/* The content of parts; the caller frees it. NULL after an error. */
static char *message_join(const fields *f, json_t *parts, bool of_input)
{
    buffer b = {0};
    json_t *part;
    size_t i;
    if (json_array_size(parts) == 0)
        fields_fail(f, "content", "a list of no parts");
    json_array_foreach(parts, i, part) {
        char path[96];
        snprintf(path, sizeof path, "%s.content[%zu]", f->path, i);
        message_take_part(&b, part, path, of_input, f->error);
    }
    if (f->error->status)
        buffer_free(&b);
    return b.data;
}

/* ---- calls of tools, and their results -------------------------------------------------------------------------------- */

/* A call's arguments as the object that templates want. NULL after an error. */
static json_t *call_arguments(openai_messages *to, fields *function, exchange *x)
{
    json_error_t why;
    const char *text = fields_required_text(function, "arguments");
    const size_t size = strlen(text), cost = body_cost_json(text, size);
    if (function->error->status || !request_asks(x, ADMISSION_READING, cost, function->error, "arguments of a call"))
        return NULL;
    json_t *value = json_loadb(text, size, JSON_REJECT_DUPLICATES, &why);
    to->more_bytes += size;
    if (json_is_object(value))
        return value;
    fields_fail(function, "arguments", "a JSON object is expected, as text: %s", value ? "it is a list" : why.text);
    json_decref(value);
    return NULL;
}

/* A call as templates want it. NULL after an error. */
static json_t *message_call(openai_messages *to, json_t *call, const char *path, request_error *error, exchange *x)
{
    static const char *const types[] = {"function"};
    fields f, function;
    if (!json_is_object(call)) {
        request_fail(error, 400, path, "%s: an object is expected", path);
        return NULL;
    }
    fields_open(&f, call, path, error);
    fields_word(&f, "type", types, 1, 0);
    fields_ignore(&f, "index"); /* of a streamed call that is sent back */
    const char *id = fields_required_text(&f, "id");
    if (!fields_object(&f, "function", &function))
        fields_fail(&f, "function", "this field is required");
    const char *name = fields_required_text(&function, "name");
    json_t *arguments = call_arguments(to, &function, x);
    fields_finish(&function);
    fields_finish(&f);
    to->more_bytes += strlen(id) + strlen(name) + 64;
    json_t *made = error->status ? NULL : json_pack("{s:s, s:s, s:{s:s, s:O}}", "id", id, "type", "function", "function",
                                                    "name", name, "arguments", arguments);
    if (!made)
        request_fail(error, 503, NULL, "out of memory for the request");
    json_decref(arguments);
    fields_free(&function);
    fields_free(&f);
    return made;
}

/* "tool_calls" of an assistant's message. */
static void message_take_calls(openai_messages *to, fields *f, exchange *x)
{
    char path[112];
    json_t *given = fields_value(f, "tool_calls"), *call, *list = json_array();
    size_t i;
    if (given && !json_is_array(given))
        fields_fail(f, "tool_calls", "a list is expected");
    else if (json_array_size(given) > MAX_CALLS)
        fields_fail(f, "tool_calls", "%zu calls, where at most %d are taken", json_array_size(given), MAX_CALLS);
    else
        json_array_foreach(given, i, call) {
            snprintf(path, sizeof path, "%s.tool_calls[%zu]", f->path, i);
            json_array_append_new(list, message_call(to, call, path, f->error, x));
        }
    if (json_array_size(list) > 0)
        to->more[to->count] = json_pack("{s:O}", "tool_calls", list);
    if (!list || (json_array_size(list) > 0 && !to->more[to->count]))
        request_fail(f->error, 503, NULL, "out of memory for the request");
    json_decref(list);
}

/* What a tool's message has besides its content. */
static void message_take_result(openai_messages *to, fields *f)
{
    const char *id = fields_required_text(f, "tool_call_id"), *name = fields_text(f, "name");
    json_t *more = json_pack("{s:s, s:s*}", "tool_call_id", id, "name", name);
    to->more[to->count] = more;
    to->more_bytes += strlen(id) + (name ? strlen(name) : 0);
    if (!more)
        request_fail(f->error, 503, NULL, "out of memory for the request");
}

/* ---- messages ----------------------------------------------------------------------------------------------------------- */

/* Number `i` of the list, which is `field`; x NULL: without calls of tools. */
static void message_take(openai_messages *to, json_t *message, const char *field, size_t i, request_error *error, exchange *x)
{
    enum { SYSTEM, USER, ASSISTANT, DEVELOPER, TOOL };
    static const char *const roles[] = {"system", "user", "assistant", "developer", "tool"};
    char path[64];
    fields f;
    const bool of_input = strcmp(field, "input") == 0;
    snprintf(path, sizeof path, "%s[%zu]", field, i);
    if (!json_is_object(message)) {
        request_fail(error, 400, path, "%s: an object is expected", path);
        return;
    }
    fields_open(&f, message, path, error);
    const size_t count = x ? 5 : 4;
    size_t role = fields_word(&f, "role", roles, count, count);
    if (role == count)
        fields_required_text(&f, "role");
    role = role == DEVELOPER || role == count ? SYSTEM : role;
    json_t *parts = json_object_get(message, "content");
    rapt_chat_message *m = &to->list[to->count];
    m->role = roles[role];
    if (json_is_array(parts))
        m->content = to->joined[to->count] = message_join(&f, fields_value(&f, "content"), of_input);
    else if (role == ASSISTANT) /* null if a reply had only calls of tools, or nothing */
        m->content = fields_text(&f, "content");
    else
        m->content = fields_required_text(&f, "content");
    m->content = m->content || f.error->status ? m->content : "";
    if (role == ASSISTANT && x)
        message_take_calls(to, &f, x);
    if (role == TOOL)
        message_take_result(to, &f);
    to->count++;
    fields_text(&f, "name"); /* no template here writes it */
    if (of_input) {
        fields_neutral(&f, "type", "[\"message\"]");
        fields_ignore(&f, "id");
        fields_ignore(&f, "status");
        fields_ignore(&f, "phase");
    }
    /* Clients send messages of an earlier response back with these fields. */
    fields_neutral(&f, "refusal", "[]");
    fields_neutral(&f, "audio", "[]");
    fields_neutral(&f, "annotations", "[[]]");
    fields_neutral(&f, "function_call", "[]");
    if (role != ASSISTANT || !x)
        fields_neutral(&f, "tool_calls", "[[]]");
    fields_finish(&f);
    fields_free(&f);
}

/* Room for `count` messages. */
static bool messages_new(openai_messages *to, size_t count, fields *f)
{
    *to = (openai_messages){.list = calloc(count + 1, sizeof *to->list), .joined = calloc(count + 1, sizeof *to->joined),
                            .more = calloc(count + 1, sizeof *to->more)};
    if (!to->list || !to->joined || !to->more)
        request_fail(f->error, 503, NULL, "out of memory for the request");
    return !f->error->status;
}

static void messages_take(openai_messages *to, json_t *list, const char *field, fields *f, exchange *x)
{
    json_t *message;
    size_t i;
    if (json_array_size(list) == 0)
        fields_fail(f, field, "a list of at least one message is expected");
    else
        json_array_foreach(list, i, message)
            message_take(to, message, field, i, f->error, x);
}

void openai_messages_read(openai_messages *to, fields *f, exchange *x)
{
    json_t *list = fields_value(f, "messages");
    if (messages_new(to, json_array_size(list), f))
        messages_take(to, list, "messages", f, x);
}

void openai_messages_read_input(openai_messages *to, fields *f)
{
    json_t *input = fields_value(f, "input");
    const char *instructions = fields_text(f, "instructions"), *text = json_string_value(input);
    if (!messages_new(to, json_array_size(input) + 2, f))
        return;
    if (instructions)
        to->list[to->count++] = (rapt_chat_message){"system", instructions};
    if (text)
        to->list[to->count++] = (rapt_chat_message){"user", text};
    else
        messages_take(to, input, "input", f, NULL);
}

json_t *openai_messages_list(const openai_messages *m)
{
    json_t *list = json_array();
    bool fine = list != NULL;
    for (size_t i = 0; i < m->count && fine; i++) {
        json_t *message = json_pack("{s:s, s:s}", "role", m->list[i].role, "content", m->list[i].content);
        fine = message && (!m->more[i] || json_object_update(message, m->more[i]) == 0);
        fine = json_array_append_new(list, message) == 0 && fine;
    }
    if (fine)
        return list;
    json_decref(list);
    return NULL;
}

void openai_messages_free(openai_messages *m)
{
    for (size_t i = 0; i < m->count && m->joined; i++)
        free(m->joined[i]);
    for (size_t i = 0; i < m->count && m->more; i++)
        json_decref(m->more[i]);
    free(m->more);
    free(m->list);
    free(m->joined);
    *m = (openai_messages){.list = NULL};
}
