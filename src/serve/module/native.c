/* serve/module/native.c: fields that requests of rapt's own interface have in common. */
#include "serve/module/native.h"

#include "io/model_core.h"
#include "serve/module/reply.h"

#include "decode/token_json_text.h"

#include <stdio.h>

const char **native_texts(fields *f, size_t max, size_t *count, bool *list)
{
    json_t *text = fields_value(f, "text"), *texts = fields_value(f, "texts");
    *count = 0;
    if (text && texts)
        fields_fail(f, "texts", "text or texts, not both");
    else if (!text && !texts)
        fields_fail(f, "text", "this field is required, or texts");
    else if (text && !json_is_string(text))
        fields_fail(f, "text", "a string is expected");
    else if (texts && !json_is_array(texts))
        fields_fail(f, "texts", "a list of strings is expected");
    else
        return fields_texts(f, text ? "text" : "texts", 1, max, count, list);
    return NULL;
}

const rapt_tokenizer *native_tokenizer(fields *f, const served *s)
{
    static const char *const sides[] = {"source", "target"};
    const rapt_model *m = rapt_engine_model_of(s->model);
    if (s->task == RAPT_TASK_TRANSLATION)
        return fields_word(f, "side", sides, 2, 0) == 0 ? m->translation.source : m->translation.target;
    fields_neutral(f, "side", "[]");
    return s->task == RAPT_TASK_LANGUAGE_MODEL ? m->language.tokenizer : m->encoder.tokenizer;
}

void native_put_tokens(reply_body *to, const rapt_tokenizer *k, const int32_t *ids, size_t count)
{
    buffer text = {0};
    reply_put_words(to, "{\"ids\":");
    for (size_t i = 0; reply_list(to, i, count); i++)
        buffer_print(&to->out, "%d", (int)ids[i]);
    reply_put_words(to, ",\"tokens\":");
    for (size_t i = 0; reply_list(to, i, count); i++) {
        to->out.failed = !token_json_text(&text, k, ids[i]);
        reply_put_string(to, text.data ? text.data : "", text.size);
    }
    reply_put_words(to, "}");
    buffer_free(&text);
}
