/* serve/module/openai_messages.c: reads lists of messages. */
#include "serve/module/openai_chat.h"

#include "base/buffer.h"

#include <stdio.h>
#include <string.h>

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

/* Number `i` of the list, which is `field`. */
static void message_take(openai_messages *to, json_t *message, const char *field, size_t i, request_error *error)
{
    static const char *const roles[] = {"system", "user", "assistant", "developer"};
    char path[64];
    fields f;
    const bool of_input = strcmp(field, "input") == 0;
    snprintf(path, sizeof path, "%s[%zu]", field, i);
    if (!json_is_object(message)) {
        request_fail(error, 400, path, "%s: an object is expected", path);
        return;
    }
    fields_open(&f, message, path, error);
    size_t role = fields_word(&f, "role", roles, 4, 4);
    if (role == 4)
        fields_required_text(&f, "role");
    json_t *parts = json_object_get(message, "content");
    rapt_chat_message *m = &to->list[to->count];
    m->role = roles[role % 3]; /* developer is system */
    if (json_is_array(parts))
        m->content = to->joined[to->count] = message_join(&f, fields_value(&f, "content"), of_input);
    else if (role == 2) /* null if a reply had only calls of tools, or nothing */
        m->content = fields_text(&f, "content");
    else
        m->content = fields_required_text(&f, "content");
    m->content = m->content || f.error->status ? m->content : "";
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
    fields_neutral(&f, "tool_calls", "[[]]");
    fields_finish(&f);
    fields_free(&f);
}

/* Room for `count` messages. */
static bool messages_new(openai_messages *to, size_t count, fields *f)
{
    *to = (openai_messages){.list = calloc(count + 1, sizeof *to->list), .joined = calloc(count + 1, sizeof *to->joined)};
    if (!to->list || !to->joined)
        request_fail(f->error, 503, NULL, "out of memory for the request");
    return !f->error->status;
}

static void messages_take(openai_messages *to, json_t *list, const char *field, fields *f)
{
    json_t *message;
    size_t i;
    if (json_array_size(list) == 0)
        fields_fail(f, field, "a list of at least one message is expected");
    else
        json_array_foreach(list, i, message)
            message_take(to, message, field, i, f->error);
}

void openai_messages_read(openai_messages *to, fields *f)
{
    json_t *list = fields_value(f, "messages");
    if (messages_new(to, json_array_size(list), f))
        messages_take(to, list, "messages", f);
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
        messages_take(to, input, "input", f);
}

void openai_messages_free(openai_messages *m)
{
    for (size_t i = 0; i < m->count && m->joined; i++)
        free(m->joined[i]);
    free(m->list);
    free(m->joined);
    *m = (openai_messages){.list = NULL};
}
