/* text/hf/hf_post.c: the post_processor of a Hugging Face tokenizer.json: ids that a text gets before and after its own. For
 * hf_components.c and pipelines. */
#include "text/hf/hf_read.h"

#include "base/buffer.h"
#include "base/quote.h"

#include <stdlib.h>
#include <string.h>

/* Where the ids go, and the tokens that exist. */
typedef struct post_reading {
    const hf_reading *r;
    const token_list *tokens;
    id_row *before, *after;
} post_reading;

static rapt_code add_id(const post_reading *p, id_row *row, const json_t *id)
{
    if (!json_is_integer(id) || !token_list_at(p->tokens, json_integer_value(id), NULL))
        return rapt_fail(p->r->err, RAPT_ERR_FORMAT, "%s: post_processor: an id that is no token's", p->r->path);
    if (!ARRAY_RESERVE(&row->ids, &row->capacity, row->count + 1))
        return rapt_fail(p->r->err, RAPT_ERR_MEMORY, "out of memory for a tokenizer");
    row->ids[row->count++] = (int32_t)json_integer_value(id);
    return RAPT_OK;
}

/* A second one would number the ids of the first as if they were a text. */
static rapt_code refuse_second(const post_reading *p, const json_t *part)
{
    return p->before->count + p->after->count > 0 ? hf_refuse(p->r, "post_processor with a second", part) : RAPT_OK;
}

/* Adds a special token by name; a name can have several ids. */
static rapt_code add_named(const post_reading *p, id_row *row, const json_t *names, const json_t *item)
{
    const char *name = json_string_value(json_object_get(json_object_get(item, "SpecialToken"), "id"));
    const json_t *ids = json_object_get(name ? json_object_get(names, name) : NULL, "ids");
    rapt_code code = json_is_array(ids) ? RAPT_OK : rapt_fail(p->r->err, RAPT_ERR_FORMAT,
                                                              "%s: post_processor: a token without ids", p->r->path);
    for (size_t i = 0; i < json_array_size(ids) && code == RAPT_OK; i++)
        code = add_id(p, row, json_array_get(ids, i));
    return code;
}

/* Reads the ids before and after the text, which is {"Sequence": {"id": "A"}} among them. */
static rapt_code read_template(const post_reading *p, const json_t *part)
{
    const json_t *single = json_object_get(part, "single"), *names = json_object_get(part, "special_tokens");
    size_t texts = 0;
    rapt_code code = refuse_second(p, part);
    for (size_t i = 0; i < json_array_size(single) && code == RAPT_OK; i++) {
        const json_t *item = json_array_get(single, i);
        const json_t *text = json_object_get(item, "Sequence");
        const char *id = json_string_value(json_object_get(text, "id"));
        if (text && (!id || strcmp(id, "A") != 0))
            return hf_refuse(p->r, "post_processor with another text than A:", part);
        if (text)
            texts++;
        else
            code = add_named(p, texts ? p->after : p->before, names, item);
    }
    return code == RAPT_OK && texts != 1 ? hf_refuse(p->r, "post_processor without one text:", part) : code;
}

/* Reads "cls": [text, id], which goes before a text, and "sep", which goes after it. */
static rapt_code read_cls_and_sep(const post_reading *p, const json_t *part)
{
    rapt_code code = refuse_second(p, part);
    code = code ? code : add_id(p, p->before, json_array_get(json_object_get(part, "cls"), 1));
    return code ? code : add_id(p, p->after, json_array_get(json_object_get(part, "sep"), 1));
}

static rapt_code read_one(const post_reading *p, const json_t *part)
{
    const char *type = hf_type(part);
    if (strcmp(type, "ByteLevel") == 0) /* it changes only offsets */
        return RAPT_OK;
    if (strcmp(type, "TemplateProcessing") == 0)
        return read_template(p, part);
    if (strcmp(type, "BertProcessing") == 0 || strcmp(type, "RobertaProcessing") == 0)
        return read_cls_and_sep(p, part);
    return hf_refuse(p->r, "post_processor", part);
}

rapt_code hf_read_post_processor(const hf_reading *r, const token_list *tokens, id_row *before, id_row *after)
{
    const post_reading p = {r, tokens, before, after};
    const json_t *part = json_object_get(r->root, "post_processor"), *list = json_object_get(part, "processors");
    rapt_code code = RAPT_OK;
    if (!part || json_is_null(part))
        return RAPT_OK;
    if (strcmp(hf_type(part), "Sequence") != 0 || !json_is_array(list))
        return read_one(&p, part);
    for (size_t i = 0; i < json_array_size(list) && code == RAPT_OK; i++)
        code = read_one(&p, json_array_get(list, i));
    return code;
}
