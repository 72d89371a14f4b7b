/* text/chat/chat_tools.c: conversations with tools, as JSON in OpenAI's form: messages to a prompt, a reply to its calls. */
#include "text/chat/chat_template.h"

#include "text/chat/tool_reader.h"

#include <stdlib.h>
#include <string.h>

/* Arguments that are a text become the object in it, if one is. False: out of memory. */
static bool open_arguments(json_t *message)
{
    json_t *call;
    size_t i;
    bool fine = true;
    json_array_foreach(json_object_get(message, "tool_calls"), i, call) {
        json_t *function = json_object_get(call, "function"), *given = json_object_get(function, "arguments");
        json_t *object = json_is_string(given) ? json_loads(json_string_value(given), JSON_REJECT_DUPLICATES, NULL) : NULL;
        if (json_is_object(object))
            fine = json_object_set(function, "arguments", object) == 0 && fine;
        json_decref(object);
    }
    return fine;
}

rapt_code rapt_chat_apply_json(const rapt_chat_template *chat, const char *messages, size_t size,
                               const rapt_chat_options *options, char **text, size_t *text_size, rapt_error *err)
{
    rapt_error own = {0};
    json_t *list = chat_list_read(messages, size, "messages", &own), *message;
    size_t i;
    *text = NULL;
    *text_size = 0;
    if (list && json_array_size(list) == 0)
        rapt_fail(&own, RAPT_ERR_VALUE, "a conversation needs at least one message");
    json_array_foreach(list, i, message) {
        if (!json_is_object(message))
            rapt_fail(&own, RAPT_ERR_VALUE, "message %zu is no object", i + 1);
        else if (!open_arguments(message))
            rapt_fail(&own, RAPT_ERR_MEMORY, "out of memory for a conversation");
    }
    rapt_code code = own.code ? rapt_fail(err, own.code, "%s", own.message)
                              : chat_apply_list(chat, list, NULL, options, text, text_size, err);
    json_decref(list);
    return code;
}

/* ---- calls in a reply --------------------------------------------------------------------------------------------------- */

typedef struct reply_calls {
    buffer content, arguments; /* of the last call */
    json_t *calls;
} reply_calls;

static bool reply_end_call(reply_calls *r)
{
    json_t *call = json_array_get(r->calls, json_array_size(r->calls) - 1);
    const bool fine = !call || json_object_set_new(call, "arguments", json_stringn(r->arguments.data ? r->arguments.data : "",
                                                                                   r->arguments.size)) == 0;
    r->arguments.size = 0;
    return fine;
}

/* A tool_piece_fn. */
static bool reply_take_piece(void *context, tool_piece kind, const char *text, size_t size)
{
    reply_calls *r = context;
    if (kind != TOOL_NAME)
        return buffer_append(kind == TOOL_TEXT ? &r->content : &r->arguments, text, size);
    return (json_array_size(r->calls) == 0 || reply_end_call(r)) &&
           json_array_append_new(r->calls, json_pack("{s:s%}", "name", text, size)) == 0;
}

/* Names of the tools, as many as the list has: of `list`. NULL: out of memory. */
static const char **reply_names(const json_t *list)
{
    const char **names = calloc(json_array_size(list) + 1, sizeof *names);
    for (size_t i = 0; i < json_array_size(list) && names; i++) {
        const char *name = json_string_value(json_object_get(json_object_get(json_array_get(list, i), "function"), "name"));
        names[i] = name ? name : "";
    }
    return names;
}

static char *reply_as_json(reply_calls *r)
{
    json_t *content = r->content.size > 0 ? json_stringn(r->content.data, r->content.size) : json_null();
    json_t *all = json_pack("{s:o, s:O}", "content", content, "tool_calls", r->calls);
    char *text = all ? json_dumps(all, 0) : NULL;
    json_decref(all);
    return text;
}

rapt_code rapt_chat_calls(const rapt_chat_template *chat, const char *tools, const char *reply, size_t size, char **json,
                          rapt_error *err)
{
    rapt_error own = {0};
    *json = NULL;
    const tool_format format = tool_format_find(chat);
    if (format.family == TOOLS_UNKNOWN)
        return rapt_fail(err, RAPT_ERR_VALUE, "the chat template %s", format.takes_tools
                         ? "writes calls of tools in a form that is not known here" : "takes no tools");
    json_t *list = chat_list_read(tools, strlen(tools), "tools", &own);
    if (!list)
        return rapt_fail(err, own.code, "%s", own.message);
    const char **names = reply_names(list);
    reply_calls found = {.calls = json_array()};
    tool_reader reader = {.family = format.family, .names = {names, json_array_size(list)}, .take = reply_take_piece,
                          .context = &found, .failed = !names || !found.calls};
    tool_reader_push(&reader, reply, size);
    tool_reader_finish(&reader);
    if (!reader.failed && (json_array_size(found.calls) == 0 || reply_end_call(&found)))
        *json = reply_as_json(&found);
    buffer_free(&found.content);
    buffer_free(&found.arguments);
    json_decref(found.calls);
    json_decref(list);
    free(names);
    return *json ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a reply, or it is not UTF-8");
}
