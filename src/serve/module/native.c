/* serve/module/native.c: fields that requests of rapt's own interface have in common; see native.h. */
#include "serve/module/native.h"

#include "serve/module/openai_logprobs.h"


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
    return s->task == RAPT_TASK_ENCODER ? m->encoder.tokenizer : m->language.tokenizer;
}

json_t *native_tokens(const rapt_tokenizer *k, const int32_t *ids, size_t count)
{
    json_t *list = json_array(), *texts = json_array();
    buffer text = {0};
    bool ok = list && texts;
    for (size_t i = 0; i < count && ok; i++)
        ok = json_array_append_new(list, json_integer(ids[i])) == 0 && openai_token_text(&text, k, ids[i]) &&
             json_array_append_new(texts, json_stringn(text.data ? text.data : "", text.size)) == 0;
    buffer_free(&text);
    if (ok)
        return json_pack("{s:o, s:o}", "ids", list, "tokens", texts);
    json_decref(list);
    json_decref(texts);
    return NULL;
}
