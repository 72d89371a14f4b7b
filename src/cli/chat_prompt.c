/* cli/chat_prompt.c: a conversation as the tokens of a prompt. */
#include "cli/chat_prompt.h"

#include "base/chars.h"
#include "io/model_core.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

void chat_prompt_take_variable(const cli_option *o, void *in, const char *text)
{
    char **variables = (char **)((char *)in + o->field);
    const char *equals = strchr(text, '=');
    json_t *all = *variables ? json_loads(*variables, 0, NULL) : json_object();
    json_t *value = equals ? json_loads(equals + 1, JSON_DECODE_ANY, NULL) : NULL;
    char *name = equals && equals > text ? chars_copy_part(text, (size_t)(equals - text)) : NULL, *whole = NULL;
    if (equals && !value)
        value = json_string(equals + 1);
    if (name && json_object_set_new(all, name, value) == 0)
        whole = json_dumps(all, JSON_COMPACT);
    else if (!name)
        json_decref(value);
    json_decref(all);
    free(name);
    if (!whole)
        usage_error("--%s takes NAME=VALUE", o->name);
    free(*variables);
    *variables = whole;
}

rapt_code chat_prompt_make(const rapt_chat_template *chat, const rapt_model *m, const rapt_chat_message *messages, size_t count,
                           const char *variables, chat_prompt *p, rapt_error *err)
{
    char *text;
    size_t size;
    rapt_chat_options options = rapt_chat_options_default();
    options.variables = variables;
    *p = (chat_prompt){0};
    rapt_code code = rapt_chat_apply(chat, messages, count, &options, &text, &size, err);
    if (!code)
        code = rapt_chat_encode(m->language.tokenizer, text, size, &p->ids, &p->count, err);
    free(text);
    return code;
}

void chat_prompt_free(chat_prompt *p)
{
    free(p->ids);
    *p = (chat_prompt){0};
}
