/* text/pipeline/normal_read.c: the normalizer of a tokenizer.json. For pipeline_read.c; normal_steps.h has the meaning. */
#include "text/pipeline/normal_steps.h"

#include "text/bpe/base64.h"
#include "text/pipeline/component.h"

#include <stdlib.h>
#include <string.h>

static normal_step *new_normal_step(normal_steps *n, normal_kind kind, const hf_reading *r)
{
    if (!ARRAY_RESERVE(&n->list, &n->capacity, n->count + 1)) {
        component_no_memory(r);
        return NULL;
    }
    n->list[n->count] = (normal_step){.kind = kind};
    return &n->list[n->count++];
}

static rapt_code add_plain_step(void *out, normal_kind kind, const hf_reading *r)
{
    return new_normal_step(out, kind, r) ? RAPT_OK : RAPT_ERR_MEMORY;
}

/* Those without options. */
#define PLAIN_STEP(name, kind)                                                                                         \
    static rapt_code name(const hf_reading *r, const json_t *part, void *out)                                          \
    {                                                                                                                  \
        (void)part;                                                                                                    \
        return add_plain_step(out, kind, r);                                                                           \
    }
PLAIN_STEP(read_nfc, NORMAL_NFC)
PLAIN_STEP(read_nfd, NORMAL_NFD)
PLAIN_STEP(read_nfkc, NORMAL_NFKC)
PLAIN_STEP(read_nfkd, NORMAL_NFKD)
PLAIN_STEP(read_lowercase, NORMAL_LOWERCASE)
PLAIN_STEP(read_nmt, NORMAL_NMT)
PLAIN_STEP(read_strip_accents, NORMAL_STRIP_ACCENTS)
PLAIN_STEP(read_byte_level_normal, NORMAL_BYTE_LEVEL)

static rapt_code read_replace_step(const hf_reading *r, const json_t *part, void *out)
{
    normal_step *s = new_normal_step(out, NORMAL_REPLACE, r);
    if (!s)
        return RAPT_ERR_MEMORY;
    rapt_code code = text_pattern_read(r, "normalizer Replace", json_object_get(part, "pattern"), false, &s->pattern);
    return code ? code : component_text(r, "normalizer Replace", part, "content", &s->text);
}

static rapt_code read_prepend_step(const hf_reading *r, const json_t *part, void *out)
{
    normal_step *s = new_normal_step(out, NORMAL_PREPEND, r);
    return s ? component_text(r, "normalizer Prepend", part, "prepend", &s->text) : RAPT_ERR_MEMORY;
}

static rapt_code read_strip_step(const hf_reading *r, const json_t *part, void *out)
{
    normal_step *s = new_normal_step(out, NORMAL_STRIP, r);
    if (!s)
        return RAPT_ERR_MEMORY;
    rapt_code code = component_bool(r, "normalizer Strip", part, "strip_left", false, &s->left);
    return code ? code : component_bool(r, "normalizer Strip", part, "strip_right", false, &s->right);
}

static rapt_code read_precompiled(const hf_reading *r, const json_t *part, void *out)
{
    const json_t *letters = json_object_get(part, "precompiled_charsmap");
    size_t size = json_string_length(letters);
    normal_step *s = new_normal_step(out, NORMAL_PRECOMPILED, r);
    s = s && (s->text = malloc(size / 4 * 3 + 1)) ? s : NULL;
    if (!s)
        return component_no_memory(r);
    if (!json_is_string(letters) || !base64_decode(json_string_value(letters), size, s->text, &s->length) ||
        !normal_charsmap_is_sound(s->text, s->length))
        return rapt_fail(r->err, RAPT_ERR_FORMAT, "%s: normalizer Precompiled: the precompiled_charsmap is malformed", r->path);
    return RAPT_OK;
}

/* Accents are stripped if letters become lower case, unless the file says otherwise. */
static rapt_code read_bert_steps(const hf_reading *r, const json_t *part, void *out)
{
    static const char what[] = "normalizer BertNormalizer";
    bool clean, chinese, accents, lower;
    rapt_code code = component_bool(r, what, part, "clean_text", true, &clean);
    code = code ? code : component_bool(r, what, part, "handle_chinese_chars", true, &chinese);
    code = code ? code : component_bool(r, what, part, "lowercase", true, &lower);
    code = code ? code : component_bool(r, what, part, "strip_accents", lower, &accents);
    if (!code && clean)
        code = add_plain_step(out, NORMAL_BERT_CLEAN, r);
    if (!code && chinese)
        code = add_plain_step(out, NORMAL_BERT_CHINESE, r);
    if (!code && accents)
        code = add_plain_step(out, NORMAL_NFD, r);
    if (!code && accents)
        code = add_plain_step(out, NORMAL_BERT_ACCENTS, r);
    return !code && lower ? add_plain_step(out, NORMAL_LOWERCASE, r) : code;
}

static const component_type NORMALIZERS[] = {
    {"NFC", "", read_nfc},
    {"NFD", "", read_nfd},
    {"NFKC", "", read_nfkc},
    {"NFKD", "", read_nfkd},
    {"Lowercase", "", read_lowercase},
    {"Nmt", "", read_nmt},
    {"StripAccents", "", read_strip_accents},
    {"ByteLevel", "", read_byte_level_normal},
    {"Precompiled", "precompiled_charsmap", read_precompiled},
    {"Replace", "pattern content", read_replace_step},
    {"Prepend", "prepend", read_prepend_step},
    {"Strip", "strip_left strip_right", read_strip_step},
    {"BertNormalizer", "clean_text handle_chinese_chars strip_accents lowercase", read_bert_steps},
};

rapt_code normal_steps_read(normal_steps *n, const hf_reading *r, const json_t *part)
{
    return component_read(r, "normalizer", "normalizers", part, NORMALIZERS, sizeof NORMALIZERS / sizeof *NORMALIZERS, n);
}
