/* text/hf/hf_components.c: the parts around the model in a Hugging Face tokenizer.json: normalizer, pre_tokenizer,
 * post_processor, decoder. For hf_read.c. A part that would change ids in a way that byte-level BPE lacks is refused by name. */
#include "text/hf/hf_read.h"

#include "text/split/split_known.h"

#include <stdlib.h>
#include <string.h>

/* Matches all of a text as one piece, for a ByteLevel that does not split. */
#define WHOLE_TEXT "[\\s\\S]+"

static bool has_type(const json_t *value, const char *type)
{
    return strcmp(hf_type(value), type) == 0;
}

static bool is_empty(const json_t *value)
{
    return !value || json_is_null(value);
}

/* ---- pre_tokenizer ------------------------------------------------------------------------------------------ */

/* NULL: refused. *splits: whether it has its own pattern. */
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

/* Cuts around each match ("Isolated"), or keeps only matches, which is the same if all text matches, as with known patterns. */
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

/* ---- the ends ----------------------------------------------------------------------------------------------- */

rapt_code hf_read_ends(const hf_reading *r)
{
    const json_t *decoder = json_object_get(r->root, "decoder");
    if (!is_empty(decoder) && !has_type(decoder, "ByteLevel"))
        return hf_refuse(r, "decoder", decoder);
    return hf_read_post_processor(r, &r->b->tokens, &r->b->before, &r->b->after, &r->b->pair);
}
