/* text/hf/hf_components.c: what stands around the model in a Hugging Face tokenizer.json: normalizer, pre_tokenizer,
 * post_processor, decoder. For hf_read.c. Whatever would change ids in a way that we don't know is refused by name. */
#include "text/hf/hf_read.h"

#include "base/buffer.h"
#include "base/quote.h"
#include "text/split/split_known.h"

#include <stdlib.h>
#include <string.h>

/* Everything is one piece, for a ByteLevel that does not split. */
#define WHOLE_TEXT "[\\s\\S]+"

const char *hf_type(const json_t *value)
{
    const char *type = json_string_value(json_object_get(value, "type"));
    return type ? type : "";
}

rapt_code hf_refuse(const hf_reading *r, const char *what, const json_t *value)
{
    const char *type = hf_type(value);
    return rapt_fail(r->err, RAPT_ERR_FORMAT, "%s: %s%s%s is not supported", r->path, what, *type ? " " : "", quote(type).text);
}

static bool has_type(const json_t *value, const char *type)
{
    return strcmp(hf_type(value), type) == 0;
}

static bool is_empty(const json_t *value)
{
    return !value || json_is_null(value);
}

/* ---- pre_tokenizer ------------------------------------------------------------------------------------------ */

/* NULL: refused. `splits`: whether it has a pattern of its own. */
static const char *byte_level(const hf_reading *r, const json_t *part, bool *splits)
{
    const json_t *regex = json_object_get(part, "use_regex");
    if (!json_is_false(json_object_get(part, "add_prefix_space"))) {
        hf_refuse(r, "pre_tokenizer with add_prefix_space", part);
        return NULL;
    }
    *splits = !json_is_false(regex);
    return *splits ? SPLIT_GPT2 : WHOLE_TEXT;
}

/* Cuts around each match ("Isolated"), or keeps matches only, which is the same where all text matches, as it does for
 * known patterns. */
static const char *split_by(const hf_reading *r, const json_t *part)
{
    const json_t *regex = json_object_get(json_object_get(part, "pattern"), "Regex");
    const char *behavior = json_string_value(json_object_get(part, "behavior")), *pattern = json_string_value(regex);
    bool invert = json_is_true(json_object_get(part, "invert"));
    if (!pattern || strlen(pattern) != json_string_length(regex)) {
        hf_refuse(r, "pre_tokenizer without a Regex:", part);
        return NULL;
    }
    const split_known *known = split_known_find(pattern);
    if (known && strcmp(known->portable, pattern) != 0)
        hf_refuse(r, "a pattern of tiktoken's, which tokenizers reads otherwise,", NULL);
    else if (behavior && strcmp(behavior, invert && known ? "Removed" : "Isolated") == 0 && (known || !invert))
        return pattern;
    else
        hf_refuse(r, "pre_tokenizer with a behavior other than Isolated:", part);
    return NULL;
}

static const char *two_parts(const hf_reading *r, const json_t *list)
{
    bool splits;
    const json_t *first = json_array_get(list, 0), *second = json_array_get(list, 1);
    if (!has_type(first, "Split"))
        hf_refuse(r, "pre_tokenizer", first);
    else if (!has_type(second, "ByteLevel"))
        hf_refuse(r, "pre_tokenizer", second);
    else if (!byte_level(r, second, &splits))
        return NULL;
    else if (splits)
        hf_refuse(r, "pre_tokenizer that splits twice:", second);
    else
        return split_by(r, first);
    return NULL;
}

const char *hf_pattern(const hf_reading *r)
{
    bool splits;
    const json_t *part = json_object_get(r->root, "pre_tokenizer"), *list = json_object_get(part, "pretokenizers");
    if (has_type(part, "Sequence") && json_array_size(list) == 2)
        return two_parts(r, list);
    if (has_type(part, "Sequence") && json_array_size(list) == 1)
        part = json_array_get(list, 0);
    if (has_type(part, "ByteLevel"))
        return byte_level(r, part, &splits);
    hf_refuse(r, "a pre_tokenizer other than ByteLevel, or Split and ByteLevel:", part);
    return NULL;
}

/* ---- normalizer --------------------------------------------------------------------------------------------- */

rapt_code hf_read_normalizer(const hf_reading *r)
{
    const json_t *part = json_object_get(r->root, "normalizer");
    rapt_code code = is_empty(part) ? RAPT_OK : normalizer_read(&r->b->normal, part, r->err);
    return code == RAPT_ERR_FORMAT ? hf_refuse(r, "normalizer", part) : code;
}

/* ---- post_processor ----------------------------------------------------------------------------------------- */

static rapt_code add_id(const hf_reading *r, id_row *row, const json_t *id)
{
    if (!json_is_integer(id) || !token_list_at(&r->b->tokens, json_integer_value(id), NULL))
        return rapt_fail(r->err, RAPT_ERR_FORMAT, "%s: post_processor: an id that is no token's", r->path);
    if (!ARRAY_RESERVE(&row->ids, &row->capacity, row->count + 1))
        return rapt_fail(r->err, RAPT_ERR_MEMORY, "out of memory for a tokenizer");
    row->ids[row->count++] = (int32_t)json_integer_value(id);
    return RAPT_OK;
}

/* A special token by name; a name stands for one id or more. */
static rapt_code add_named(const hf_reading *r, id_row *row, const json_t *names, const json_t *item)
{
    const char *name = json_string_value(json_object_get(json_object_get(item, "SpecialToken"), "id"));
    const json_t *ids = json_object_get(name ? json_object_get(names, name) : NULL, "ids");
    rapt_code code = json_is_array(ids) ? RAPT_OK
                                        : rapt_fail(r->err, RAPT_ERR_FORMAT, "%s: post_processor: a token without ids", r->path);
    for (size_t i = 0; i < json_array_size(ids) && code == RAPT_OK; i++)
        code = add_id(r, row, json_array_get(ids, i));
    return code;
}

/* Ids before and after the text, which stands as {"Sequence": {"id": "A"}} among them. */
static rapt_code read_template(const hf_reading *r, const json_t *part)
{
    const json_t *single = json_object_get(part, "single"), *names = json_object_get(part, "special_tokens");
    size_t texts = 0;
    rapt_code code = RAPT_OK;
    if (r->b->before.count + r->b->after.count > 0)
        return hf_refuse(r, "post_processor with a second", part);
    for (size_t i = 0; i < json_array_size(single) && code == RAPT_OK; i++) {
        const json_t *item = json_array_get(single, i);
        if (json_object_get(item, "Sequence"))
            texts++;
        else
            code = add_named(r, texts ? &r->b->after : &r->b->before, names, item);
    }
    return code == RAPT_OK && texts != 1 ? hf_refuse(r, "post_processor without one text:", part) : code;
}

static rapt_code read_post_processor(const hf_reading *r, const json_t *part)
{
    const json_t *list = json_object_get(part, "processors");
    rapt_code code = RAPT_OK;
    if (is_empty(part) || has_type(part, "ByteLevel")) /* which changes offsets only */
        return RAPT_OK;
    if (has_type(part, "TemplateProcessing"))
        return read_template(r, part);
    if (!has_type(part, "Sequence") || !json_is_array(list))
        return hf_refuse(r, "post_processor", part);
    for (size_t i = 0; i < json_array_size(list) && code == RAPT_OK; i++) {
        const json_t *item = json_array_get(list, i);
        code = has_type(item, "Sequence") ? hf_refuse(r, "post_processor Sequence in a", item) : read_post_processor(r, item);
    }
    return code;
}

rapt_code hf_read_ends(const hf_reading *r)
{
    const json_t *decoder = json_object_get(r->root, "decoder");
    if (!is_empty(decoder) && !has_type(decoder, "ByteLevel"))
        return hf_refuse(r, "decoder", decoder);
    return read_post_processor(r, json_object_get(r->root, "post_processor"));
}
