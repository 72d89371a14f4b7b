/* text/pipeline/pretoken_read.c: the pre_tokenizer of a tokenizer.json. For pipeline_read.c; pretoken_steps.h has the meaning. */
#include "text/pipeline/pretoken_steps.h"

#include "base/quote.h"
#include "text/pipeline/component.h"

#include <stdlib.h>
#include <string.h>

static pretoken_step *new_pretoken_step(pretoken_steps *p, pretoken_kind kind, split_behavior behavior, const hf_reading *r)
{
    if (!ARRAY_RESERVE(&p->list, &p->capacity, p->count + 1)) {
        component_no_memory(r);
        return NULL;
    }
    p->list[p->count] = (pretoken_step){.kind = kind, .behavior = behavior};
    return &p->list[p->count++];
}

static rapt_code add_group_step(void *out, pretoken_kind kind, split_behavior behavior, bool invert, const hf_reading *r)
{
    pretoken_step *s = new_pretoken_step(out, kind, behavior, r);
    if (s)
        s->invert = invert;
    return s ? RAPT_OK : RAPT_ERR_MEMORY;
}

static rapt_code read_white(const hf_reading *r, const json_t *part, void *out)
{
    (void)part;
    return add_group_step(out, PRETOKEN_WHITE, SPLIT_REMOVED, false, r);
}

static rapt_code read_words(const hf_reading *r, const json_t *part, void *out)
{
    (void)part;
    return add_group_step(out, PRETOKEN_WORDS, SPLIT_REMOVED, true, r);
}

static rapt_code read_bert(const hf_reading *r, const json_t *part, void *out)
{
    rapt_code code = read_white(r, part, out);
    return code ? code : add_group_step(out, PRETOKEN_PUNCTUATION, SPLIT_ISOLATED, false, r);
}

static rapt_code read_digits(const hf_reading *r, const json_t *part, void *out)
{
    bool each;
    rapt_code code = component_bool(r, "pre_tokenizer Digits", part, "individual_digits", false, &each);
    return code ? code : add_group_step(out, PRETOKEN_DIGITS, each ? SPLIT_ISOLATED : SPLIT_CONTIGUOUS, false, r);
}

static rapt_code read_behavior(const hf_reading *r, const char *what, const json_t *value, split_behavior *out)
{
    static const char *const names[] = {"Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"};
    const char *name = json_string_value(value) ? json_string_value(value) : "";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0) {
            *out = (split_behavior)i;
            return RAPT_OK;
        }
    return rapt_fail(r->err, RAPT_ERR_FORMAT, "%s: %s: behavior \"%s\" is not supported", r->path, what, quote(name).text);
}

static rapt_code read_punctuation(const hf_reading *r, const json_t *part, void *out)
{
    split_behavior behavior = SPLIT_ISOLATED;
    const json_t *value = json_object_get(part, "behavior");
    rapt_code code = value ? read_behavior(r, "pre_tokenizer Punctuation", value, &behavior) : RAPT_OK;
    return code ? code : add_group_step(out, PRETOKEN_PUNCTUATION, behavior, false, r);
}

static rapt_code read_split(const hf_reading *r, const json_t *part, void *out)
{
    static const char what[] = "pre_tokenizer Split";
    pretoken_step *s = new_pretoken_step(out, PRETOKEN_SPLIT, SPLIT_ISOLATED, r);
    if (!s)
        return RAPT_ERR_MEMORY;
    rapt_code code = read_behavior(r, what, json_object_get(part, "behavior"), &s->behavior);
    code = code ? code : component_bool(r, what, part, "invert", false, &s->invert);
    return code ? code : text_pattern_read(r, what, json_object_get(part, "pattern"), s->behavior == SPLIT_ISOLATED, &s->pattern);
}

/* Its own pattern is GPT-2's. */
static rapt_code read_byte_level(const hf_reading *r, const json_t *part, void *out)
{
    static const char what[] = "pre_tokenizer ByteLevel";
    bool space, regex;
    rapt_code code = component_bool(r, what, part, "add_prefix_space", true, &space);
    code = code ? code : component_bool(r, what, part, "use_regex", true, &regex);
    if (!code && space)
        code = add_group_step(out, PRETOKEN_SPACE_FIRST, SPLIT_ISOLATED, false, r);
    if (!code && regex) {
        pretoken_step *s = new_pretoken_step(out, PRETOKEN_SPLIT, SPLIT_ISOLATED, r);
        code = s && (s->pattern.regex = split_new(SPLIT_GPT2, r->err)) ? RAPT_OK : RAPT_ERR_MEMORY;
    }
    return code ? code : add_group_step(out, PRETOKEN_BYTE_LEVEL, SPLIT_ISOLATED, false, r);
}

/* ---- Metaspace ---------------------------------------------------------------------------------------------- */

static rapt_code read_scheme(const hf_reading *r, const char *what, const json_t *part, metaspace_prepend *out)
{
    static const char *const names[] = {"always", "first", "never"};
    const char *name = json_string_value(json_object_get(part, "prepend_scheme"));
    size_t i = 0;
    while (name && i < 3 && strcmp(name, names[i]) != 0)
        i++;
    *out = (metaspace_prepend)i;
    if (i == 3 || (!name && json_object_get(part, "prepend_scheme")))
        return rapt_fail(r->err, RAPT_ERR_FORMAT, "%s: %s: prepend_scheme is none of always, first, never", r->path, what);
    if (json_is_false(json_object_get(part, "add_prefix_space")) && *out != METASPACE_NEVER)
        return rapt_fail(r->err, RAPT_ERR_FORMAT, "%s: %s: add_prefix_space contradicts prepend_scheme", r->path, what);
    return RAPT_OK;
}

rapt_code pretoken_read_metaspace(const hf_reading *r, const char *what, const json_t *part, pretoken_step *out)
{
    *out = (pretoken_step){.kind = PRETOKEN_METASPACE};
    rapt_code code = component_character(r, what, part, "replacement", out->mark);
    code = code ? code : read_scheme(r, what, part, &out->prepend);
    return code ? code : component_bool(r, what, part, "split", true, &out->split);
}

static rapt_code read_metaspace(const hf_reading *r, const json_t *part, void *out)
{
    pretoken_step *s = new_pretoken_step(out, PRETOKEN_METASPACE, SPLIT_ISOLATED, r);
    return s ? pretoken_read_metaspace(r, "pre_tokenizer Metaspace", part, s) : RAPT_ERR_MEMORY;
}

static const component_type PRE_TOKENIZERS[] = {
    {"ByteLevel", "add_prefix_space trim_offsets use_regex", read_byte_level},
    {"Split", "pattern behavior invert", read_split},
    {"Metaspace", "replacement prepend_scheme add_prefix_space split str_rep", read_metaspace},
    {"Whitespace", "", read_words},
    {"WhitespaceSplit", "", read_white},
    {"Digits", "individual_digits", read_digits},
    {"Punctuation", "behavior", read_punctuation},
    {"BertPreTokenizer", "", read_bert},
};

rapt_code pretoken_steps_read(pretoken_steps *p, const hf_reading *r, const json_t *part)
{
    const size_t count = sizeof PRE_TOKENIZERS / sizeof *PRE_TOKENIZERS;
    return component_read(r, "pre_tokenizer", "pretokenizers", part, PRE_TOKENIZERS, count, p);
}
