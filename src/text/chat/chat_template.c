/* text/chat/chat_template.c: messages to text and ids. A template gets the same variables as from transformers'
 * apply_chat_template. */
#include "text/chat/chat_template.h"

#include "base/sized.h"
#include "text/chat/jinja_value.h"
#include "text/tokenizer.h"

#include <stdlib.h>
#include <string.h>

void rapt_chat_template_free(rapt_chat_template *chat)
{
    if (!chat)
        return;
    jinja_template_free(chat->jinja);
    json_decref(chat->tokens);
    free(chat);
}

static rapt_code chat_no_memory(rapt_error *err)
{
    return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a conversation");
}

/* The messages as a list. NULL with `err` set. */
static json_t *chat_messages(const rapt_chat_message *messages, size_t count, rapt_error *err)
{
    json_t *list = json_array();
    bool ok = list != NULL;
    for (size_t i = 0; i < count && ok; i++) {
        json_t *role = json_string(messages[i].role), *content = json_string(messages[i].content);
        json_t *message = role && content ? json_pack("{s:o, s:o}", "role", role, "content", content) : NULL;
        if (!role || !content) {
            json_decref(role);
            json_decref(content);
            json_decref(list);
            rapt_fail(err, RAPT_ERR_FORMAT, "message %zu is not UTF-8", i + 1);
            return NULL;
        }
        ok = json_array_append_new(list, message) == 0;
    }
    if (ok)
        return list;
    json_decref(list);
    chat_no_memory(err);
    return NULL;
}

/* Adds the caller's variables; they may replace special tokens, but no other variable. */
static rapt_code chat_variables(const char *text, json_t *all, rapt_error *err)
{
    static const char *const taken[] = {"messages", "tools", "documents", "add_generation_prompt"};
    json_error_t where;
    json_t *more = json_loads(text, JSON_REJECT_DUPLICATES, &where);
    rapt_code code = RAPT_OK;
    if (!json_is_object(more))
        code = rapt_fail(err, RAPT_ERR_VALUE, "the variables of a chat template are not a JSON object: %s",
                         more ? "another value" : where.text);
    for (size_t i = 0; i < sizeof taken / sizeof *taken && !code; i++)
        if (json_object_get(more, taken[i]))
            code = rapt_fail(err, RAPT_ERR_VALUE, "\"%s\" is no variable that a chat template can be given", taken[i]);
    if (!code && json_object_update(all, more))
        code = chat_no_memory(err);
    json_decref(more);
    return code;
}

SIZED_ENDS_WITH(rapt_chat_options, reserved);
_Static_assert((int)RAPT_CHAT_MEMORY == (int)JINJA_MOST_MEMORY, "two limits of a chat template's memory");

void rapt_chat_options_init(rapt_chat_options *o, size_t size)
{
    sized_init(o, size, &(rapt_chat_options){CHAT_DEFAULTS}, sizeof *o);
}

static rapt_code chat_check_options(const rapt_chat_options *o, rapt_error *err)
{
    if (SIZED_AS_MODEL(o->memory))
        return sized_refuse_as_model("memory", err);
    return o->memory > 0 ? RAPT_OK : rapt_fail(err, RAPT_ERR_VALUE, "memory is 0: a chat template takes more");
}

json_t *chat_list_read(const char *text, size_t size, const char *what, rapt_error *err)
{
    json_error_t why;
    json_t *list = json_loadb(text, size, JSON_REJECT_DUPLICATES, &why);
    if (json_is_array(list))
        return list;
    rapt_fail(err, RAPT_ERR_VALUE, "%s are not a JSON list: %s", what, list ? "another value" : why.text);
    json_decref(list);
    return NULL;
}

rapt_code chat_apply_list(const rapt_chat_template *chat, json_t *messages, json_t *tools, const rapt_chat_options *options,
                          char **text, size_t *size, rapt_error *err)
{
    rapt_chat_options o = {CHAT_DEFAULTS};
    *text = NULL;
    *size = 0;
    if (sized_take(&o, options, o.reserved, sizeof o.reserved, "chat_options", err) != RAPT_OK || chat_check_options(&o, err))
        return RAPT_ERR_VALUE;
    const jinja_bounds bounds = {o.now, o.memory, o.stop, o.context};
    json_t *own = !tools && o.tools ? chat_list_read(o.tools, strlen(o.tools), "tools", err) : NULL, *given = own ? own : tools;
    if (o.tools && !given)
        return RAPT_ERR_VALUE;
    json_t *all = json_deep_copy(chat->tokens);
    bool ok = all && !json_object_set(all, "messages", messages) &&
              !json_object_set_new(all, "tools", given ? json_incref(given) : json_null()) &&
              !json_object_set_new(all, "documents", json_null()) &&
              !json_object_set_new(all, "add_generation_prompt", json_boolean(o.generation_prompt));
    rapt_code code = ok ? RAPT_OK : chat_no_memory(err);
    if (!code && o.variables)
        code = chat_variables(o.variables, all, err);
    if (!code)
        code = jinja_template_render(chat->jinja, all, &bounds, text, size, err);
    json_decref(own);
    json_decref(all);
    return code;
}

rapt_code rapt_chat_apply(const rapt_chat_template *chat, const rapt_chat_message *messages, size_t count,
                          const rapt_chat_options *options, char **text, size_t *size, rapt_error *err)
{
    rapt_error own = {0};
    *text = NULL;
    *size = 0;
    json_t *list = count > 0 ? chat_messages(messages, count, &own) : NULL;
    if (count == 0)
        rapt_fail(&own, RAPT_ERR_VALUE, "a conversation needs at least one message");
    rapt_code code = own.code ? rapt_fail(err, own.code, "%s", own.message)
                              : chat_apply_list(chat, list, NULL, options, text, size, err);
    json_decref(list);
    return code;
}

rapt_code rapt_chat_encode(const rapt_tokenizer *tokenizer, const char *text, size_t size, int32_t **ids, size_t *count,
                           rapt_error *err)
{
    rapt_tokenizer_kind kind = rapt_tokenizer_kind_of(tokenizer);
    *ids = NULL;
    *count = 0;
    if (kind != RAPT_TOKENIZER_BYTE_BPE && kind != RAPT_TOKENIZER_PIPELINE)
        return rapt_fail(err, RAPT_ERR_VALUE, "conversations need a tokenizer that finds special tokens in a text: a "
                                              "tokenizer.json");
    return tokenizer_encode_within(tokenizer, text, size, true, ids, count, err);
}
