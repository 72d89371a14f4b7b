/* serve/module/openai_messages.c: see openai_messages.h. */
#include "serve/module/openai_messages.h"

#include "base/buffer.h"

#include <stdio.h>

/* Appends the text of a part. */
static void message_take_part(buffer *b, json_t *part, const char *path, request_error *error)
{
    static const char *const types[] = {"text"};
    fields f;
    if (!json_is_object(part)) {
        request_fail(error, 400, path, "%s: an object is expected", path);
        return;
    }
    fields_open(&f, part, path, error);
    if (fields_word(&f, "type", types, 1, 1) == 1)
        fields_required_text(&f, "type");
    const char *text = fields_required_text(&f, "text");
    if (fields_finish(&f) && !buffer_append(b, text, strlen(text)))
        request_fail(error, 503, NULL, "out of memory for the request");
    fields_free(&f);
}

/* The content of parts; the caller frees it. NULL after an error. */
static char *message_join(const fields *f, json_t *parts)
{
    buffer b = {0};
    json_t *part;
    size_t i;
    if (json_array_size(parts) == 0)
        fields_fail(f, "content", "a list of no parts");
    json_array_foreach(parts, i, part) {
        char path[96];
        snprintf(path, sizeof path, "%s.content[%zu]", f->path, i);
        message_take_part(&b, part, path, f->error);
    }
    if (f->error->status)
        buffer_free(&b);
    return b.data;
}

static void message_take(openai_messages *to, json_t *message, request_error *error)
{
    static const char *const roles[] = {"system", "user", "assistant", "developer"};
    char path[64];
    fields f;
    snprintf(path, sizeof path, "messages[%zu]", to->count);
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
        m->content = to->joined[to->count] = message_join(&f, fields_value(&f, "content"));
    else if (role == 2) /* null where a reply had only calls of tools, or nothing */
        m->content = fields_text(&f, "content");
    else
        m->content = fields_required_text(&f, "content");
    m->content = m->content || f.error->status ? m->content : "";
    to->count++;
    fields_text(&f, "name"); /* no template here writes it */
    /* What a response has is taken back as it is. */
    fields_neutral(&f, "refusal", "[]");
    fields_neutral(&f, "audio", "[]");
    fields_neutral(&f, "annotations", "[[]]");
    fields_neutral(&f, "function_call", "[]");
    fields_neutral(&f, "tool_calls", "[[]]");
    fields_finish(&f);
    fields_free(&f);
}

void openai_messages_read(openai_messages *to, fields *f)
{
    json_t *list = fields_value(f, "messages"), *message;
    const size_t count = json_array_size(list);
    size_t i;
    *to = (openai_messages){.list = calloc(count + 1, sizeof *to->list), .joined = calloc(count + 1, sizeof *to->joined)};
    if (!to->list || !to->joined)
        request_fail(f->error, 503, NULL, "out of memory for the request");
    else if (count == 0)
        fields_fail(f, "messages", "a list of at least one message is expected");
    if (f->error->status)
        return;
    json_array_foreach(list, i, message)
        message_take(to, message, f->error);
}

void openai_messages_free(openai_messages *m)
{
    for (size_t i = 0; i < m->count && m->joined; i++)
        free(m->joined[i]);
    free(m->list);
    free(m->joined);
    *m = (openai_messages){.list = NULL};
}
