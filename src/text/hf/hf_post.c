/* text/hf/hf_post.c: the post_processor of a Hugging Face tokenizer.json: ids that a text gets before and after its own, and two
 * texts that become one row. For hf_components.c and pipelines. */
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
    id_pair *pair;
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

/* ---- two texts ---------------------------------------------------------------------------------------------- */

/* How far a row of two texts has been read. */
typedef struct pair_reading {
    id_pair pair;
    size_t texts;
    bool fits;
} pair_reading;

/* The first id of type 1 is in `between`, or the second text itself; none of type 0 follows. */
static void take_pair_type(pair_reading *row, const json_t *item)
{
    const json_t *type = json_object_get(item, "type_id");
    const json_int_t is = type ? json_integer_value(type) : 0;
    if (is < 0 || is > 1 || (type && !json_is_integer(type)) || (is == 0 && row->pair.typed) ||
        (is == 1 && !row->pair.typed && row->texts != 1))
        row->fits = false;
    if (is == 1 && !row->pair.typed)
        row->pair.first_type = row->pair.between.count;
    row->pair.typed = row->pair.typed || is == 1;
}

static rapt_code take_pair_item(const post_reading *p, pair_reading *row, const json_t *names, const json_t *item)
{
    static const char *const texts[] = {"A", "B"};
    id_row *const rows[] = {&row->pair.before, &row->pair.between, &row->pair.after};
    const json_t *text = json_object_get(item, "Sequence");
    const char *id = json_string_value(json_object_get(text, "id"));
    take_pair_type(row, text ? text : json_object_get(item, "SpecialToken"));
    if (!text)
        return add_named(p, rows[row->texts], names, item);
    row->fits = row->fits && row->texts < 2 && id && strcmp(id, texts[row->texts]) == 0;
    row->texts += row->texts < 2;
    return RAPT_OK;
}

/* Keeps a row if it is one that rapt has. Typed rows must begin with an id of type 0, even if the first text is empty. */
static void keep_pair(const post_reading *p, pair_reading *row, bool fits)
{
    const bool second = p->pair->known, all_typed = row->pair.typed && row->pair.before.count + row->pair.first_type == 0;
    id_pair_free(p->pair);
    if (!fits || second || all_typed) {
        id_pair_free(&row->pair);
        return;
    }
    *p->pair = row->pair;
    p->pair->known = true;
}

/* Reads the ids about two texts, {"Sequence": {"id": "A"}} and B. */
static rapt_code read_pair_template(const post_reading *p, const json_t *part)
{
    const hf_reading silent = {.root = p->r->root, .path = p->r->path, .b = p->r->b};
    const post_reading own = {&silent, p->tokens, p->before, p->after, p->pair};
    const json_t *list = json_object_get(part, "pair"), *names = json_object_get(part, "special_tokens");
    pair_reading row = {.fits = true};
    rapt_code code = RAPT_OK;
    for (size_t i = 0; i < json_array_size(list) && !code && row.fits; i++)
        code = take_pair_item(&own, &row, names, json_array_get(list, i));
    keep_pair(p, &row, !code && row.fits && row.texts == 2);
    return code == RAPT_ERR_MEMORY ? rapt_fail(p->r->err, code, "out of memory for a tokenizer") : RAPT_OK;
}

/* "cls A sep B sep", the second text of type 1, or of RoBERTa "cls A sep sep B sep". */
static rapt_code make_pair(const post_reading *p, const json_t *cls, const json_t *sep, bool roberta)
{
    pair_reading row = {.pair = {.typed = !roberta, .first_type = 1}};
    rapt_code code = add_id(p, &row.pair.before, cls);
    code = code ? code : add_id(p, &row.pair.between, sep);
    code = code || !roberta ? code : add_id(p, &row.pair.between, sep);
    code = code ? code : add_id(p, &row.pair.after, sep);
    keep_pair(p, &row, !code);
    return code;
}

/* ---- one text ----------------------------------------------------------------------------------------------- */

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
    if (code == RAPT_OK && texts != 1)
        return hf_refuse(p->r, "post_processor without one text:", part);
    return code ? code : read_pair_template(p, part);
}

/* Reads "cls": [text, id], which goes before a text, and "sep", which goes after it. */
static rapt_code read_cls_and_sep(const post_reading *p, const json_t *part)
{
    const json_t *cls = json_array_get(json_object_get(part, "cls"), 1), *sep = json_array_get(json_object_get(part, "sep"), 1);
    rapt_code code = refuse_second(p, part);
    code = code ? code : add_id(p, p->before, cls);
    code = code ? code : add_id(p, p->after, sep);
    return code ? code : make_pair(p, cls, sep, strcmp(hf_type(part), "RobertaProcessing") == 0);
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

rapt_code hf_read_post_processor(const hf_reading *r, const token_list *tokens, id_row *before, id_row *after, id_pair *pair)
{
    const post_reading p = {r, tokens, before, after, pair};
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
