/* text/pipeline/decode_read.c: the decoder of a tokenizer.json. For pipeline_read.c; decode_steps.h has the meaning. */
#include "text/pipeline/decode_steps.h"

#include "text/pipeline/component.h"
#include "text/pipeline/pretoken_steps.h"

#include <stdlib.h>
#include <string.h>

static decode_step *new_decode_step(decode_steps *d, decode_kind kind, const hf_reading *r)
{
    if (!ARRAY_RESERVE(&d->list, &d->capacity, d->count + 1)) {
        component_no_memory(r);
        return NULL;
    }
    d->list[d->count] = (decode_step){.kind = kind};
    return &d->list[d->count++];
}

static rapt_code read_byte_level_decoder(const hf_reading *r, const json_t *part, void *out)
{
    (void)part;
    return new_decode_step(out, DECODE_BYTE_LEVEL, r) ? RAPT_OK : RAPT_ERR_MEMORY;
}

static rapt_code read_byte_fallback_decoder(const hf_reading *r, const json_t *part, void *out)
{
    (void)part;
    return new_decode_step(out, DECODE_BYTE_FALLBACK, r) ? RAPT_OK : RAPT_ERR_MEMORY;
}

static rapt_code read_fuse(const hf_reading *r, const json_t *part, void *out)
{
    (void)part;
    return new_decode_step(out, DECODE_FUSE, r) ? RAPT_OK : RAPT_ERR_MEMORY;
}

static rapt_code read_metaspace_decoder(const hf_reading *r, const json_t *part, void *out)
{
    pretoken_step metaspace;
    decode_step *s = new_decode_step(out, DECODE_METASPACE, r);
    rapt_code code = s ? pretoken_read_metaspace(r, "decoder Metaspace", part, &metaspace) : RAPT_ERR_MEMORY;
    if (code)
        return code;
    memcpy(s->mark, metaspace.mark, sizeof s->mark);
    s->keeps_first = metaspace.prepend == METASPACE_NEVER;
    return RAPT_OK;
}

static rapt_code read_word_piece_decoder(const hf_reading *r, const json_t *part, void *out)
{
    decode_step *s = new_decode_step(out, DECODE_WORD_PIECE, r);
    if (!s)
        return RAPT_ERR_MEMORY;
    rapt_code code = component_text(r, "decoder WordPiece", part, "prefix", &s->text);
    return code ? code : component_bool(r, "decoder WordPiece", part, "cleanup", true, &s->cleanup);
}

static rapt_code read_suffix_decoder(const hf_reading *r, const json_t *part, void *out)
{
    decode_step *s = new_decode_step(out, DECODE_SUFFIX, r);
    rapt_code code = s ? component_text(r, "decoder BPEDecoder", part, "suffix", &s->text) : RAPT_ERR_MEMORY;
    if (!code && !*s->text) /* would match between all characters */
        return rapt_fail(r->err, RAPT_ERR_FORMAT, "%s: decoder BPEDecoder: the suffix is empty", r->path);
    return code;
}

static rapt_code read_replace_decoder(const hf_reading *r, const json_t *part, void *out)
{
    decode_step *s = new_decode_step(out, DECODE_REPLACE, r);
    if (!s)
        return RAPT_ERR_MEMORY;
    rapt_code code = text_pattern_read(r, "decoder Replace", json_object_get(part, "pattern"), false, &s->pattern);
    return code ? code : component_text(r, "decoder Replace", part, "content", &s->text);
}

static rapt_code read_count(const hf_reading *r, const json_t *value, size_t *out)
{
    if (!json_is_integer(value) || json_integer_value(value) < 0)
        return rapt_fail(r->err, RAPT_ERR_FORMAT, "%s: decoder Strip: start or stop is no count", r->path);
    *out = (size_t)json_integer_value(value);
    return RAPT_OK;
}

static rapt_code read_strip_decoder(const hf_reading *r, const json_t *part, void *out)
{
    decode_step *s = new_decode_step(out, DECODE_STRIP, r);
    rapt_code code = s ? component_character(r, "decoder Strip", part, "content", s->mark) : RAPT_ERR_MEMORY;
    code = code ? code : read_count(r, json_object_get(part, "start"), &s->start);
    return code ? code : read_count(r, json_object_get(part, "stop"), &s->stop);
}

static const component_type DECODERS[] = {
    {"ByteLevel", "add_prefix_space trim_offsets use_regex", read_byte_level_decoder},
    {"Metaspace", "replacement prepend_scheme add_prefix_space split str_rep", read_metaspace_decoder},
    {"WordPiece", "prefix cleanup", read_word_piece_decoder},
    {"BPEDecoder", "suffix", read_suffix_decoder},
    {"Replace", "pattern content", read_replace_decoder},
    {"ByteFallback", "", read_byte_fallback_decoder},
    {"Fuse", "", read_fuse},
    {"Strip", "content start stop", read_strip_decoder},
};

rapt_code decode_steps_read(decode_steps *d, const hf_reading *r, const json_t *part)
{
    d->none = !part || json_is_null(part);
    return component_read(r, "decoder", "decoders", part, DECODERS, sizeof DECODERS / sizeof *DECODERS, d);
}
