/* cli/chat_prompt.c: a conversation as the tokens of a prompt; see chat_prompt.h. */
#include "cli/chat_prompt.h"

#include <stdlib.h>

rapt_code chat_prompt_make(const rapt_chat_template *chat, const rapt_model *m, const rapt_chat_message *messages, size_t count,
                           chat_prompt *p, rapt_error *err)
{
    char *text;
    size_t size;
    *p = (chat_prompt){0};
    rapt_code code = rapt_chat_apply(chat, messages, count, NULL, &text, &size, err);
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
