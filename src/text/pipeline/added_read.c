/* text/pipeline/added_read.c: the added_tokens of a tokenizer.json. For pipeline_read.c.
 *
 * `tokenizers` numbers them itself: a token of the vocabulary keeps its id, others are numbered from the size of the vocabulary
 * on, in the order of the file. A file with other ids is refused. */
#include "text/pipeline/pipeline.h"

#include "base/quote.h"
#include "text/pipeline/component.h"

#include <stdlib.h>
#include <string.h>

static rapt_code read_flags(const hf_reading *r, const json_t *part, added_token *t)
{
    const char *what = "added token";
    rapt_code code = component_bool(r, what, part, "single_word", false, &t->single_word);
    code = code ? code : component_bool(r, what, part, "lstrip", false, &t->lstrip);
    code = code ? code : component_bool(r, what, part, "rstrip", false, &t->rstrip);
    code = code ? code : component_bool(r, what, part, "normalized", false, &t->normalized);
    return code ? code : component_bool(r, what, part, "special", false, &t->special);
}

static rapt_code check_id(const hf_reading *r, pipeline *p, const json_t *part, added_token *t, size_t *next)
{
    json_int_t id = json_integer_value(json_object_get(part, "id"));
    int32_t there = token_list_find(&p->model.vocab, t->content, t->length);
    json_int_t expected = there >= 0 ? there : (json_int_t)*next;
    *next += there < 0;
    if (id != expected || (there < 0 && token_list_at(&p->model.vocab, id, NULL)))
        return rapt_fail(r->err, RAPT_ERR_FORMAT, "%s: added token \"%s\": id %lld, where tokenizers would give it %lld", r->path,
                         quote(t->content).text, (long long)id, (long long)expected);
    t->id = (int32_t)id;
    return there >= 0 || token_list_put(&p->model.vocab, (size_t)id, t->content, t->length, false) ? RAPT_OK
                                                                                                   : component_no_memory(r);
}

/* A token that is searched after the normalizer is searched in its normalized form. */
static rapt_code add_token(const hf_reading *r, pipeline *p, const added_token *t)
{
    rapt_error why = {0};
    normal_text normal = {0};
    const char *pattern = t->content;
    size_t length = t->length;
    rapt_code code = RAPT_OK;
    if (t->normalized) {
        code = normal_steps_run(&p->normal, p->classes, t->content, NULL, t->length, 0, &normal, &why);
        pattern = normal.text.data;
        length = normal.text.size;
    }
    if (!code && length == 0)
        code = rapt_fail(&why, RAPT_ERR_FORMAT, "added token \"%s\": the normalizer leaves nothing of it",
                         quote(t->content).text);
    code = code ? code : added_tokens_add(&p->added, t, pattern, length, &why);
    normal_text_free(&normal);
    return code ? rapt_fail(r->err, code, "%s: %s", r->path, why.message) : RAPT_OK;
}

static rapt_code read_added(const hf_reading *r, pipeline *p, const json_t *part, size_t *next)
{
    const json_t *content = json_object_get(part, "content");
    const char *text = json_string_value(content);
    if (!text || !*text || strlen(text) != json_string_length(content) || !json_is_integer(json_object_get(part, "id")))
        return rapt_fail(r->err, RAPT_ERR_FORMAT, "%s: an added token without content, or without an id", r->path);
    added_token t = {.content = (char *)text, .length = strlen(text)};
    rapt_code code = component_check_keys(r, "added token", part, "id content single_word lstrip rstrip normalized special");
    if (!code && added_tokens_find(&p->added, text))
        code = rapt_fail(r->err, RAPT_ERR_FORMAT, "%s: added token \"%s\" is there twice", r->path, quote(text).text);
    code = code ? code : read_flags(r, part, &t);
    code = code ? code : check_id(r, p, part, &t, next);
    return code ? code : add_token(r, p, &t);
}

rapt_code pipeline_read_added(const hf_reading *r, pipeline *p)
{
    const json_t *list = json_object_get(r->root, "added_tokens");
    size_t next = p->model.vocab.found;
    rapt_code code = RAPT_OK;
    if (list && !json_is_null(list) && !json_is_array(list))
        return hf_refuse(r, "added_tokens that are no list:", list);
    for (size_t i = 0; i < json_array_size(list) && !code; i++)
        code = read_added(r, p, json_array_get(list, i), &next);
    return code;
}
