/* text/spm/spm_read.c: SentencePiece's model file (sentencepiece_model.proto, ModelProto): pieces, and the settings of training
 * that change ids or texts. For spm_tokenizer.c. Unknown fields are skipped, as protobuf does; an unknown type of model or piece
 * is refused. */
#include "text/spm/spm.h"

#include "text/spm/protobuf.h"

#include <string.h>

/* Numbers of fields. */
enum { MODEL_PIECE = 1, MODEL_TRAINER, MODEL_NORMALIZER, MODEL_DENORMALIZER = 5 };
enum { PIECE_TEXT = 1, PIECE_SCORE, PIECE_TYPE };
enum { TRAINER_TYPE = 3, TRAINER_SUFFIX = 24, TRAINER_BYTE_FALLBACK = 35, TRAINER_UNKNOWN_TEXT = 44 };
enum { RULES_NAME = 1, RULES_CHARSMAP, RULES_DUMMY_PREFIX, RULES_SQUEEZES, RULES_ESCAPES };

/* Whether a field has this number and this type; one of another type is passed over. */
static bool is_field(const protobuf_field *f, uint32_t number, protobuf_type type)
{
    return f->number == number && f->type == type;
}

/* Call it when protobuf_next has found no field: tells the end from an error. */
static rapt_code check_end(const spm *k, const protobuf *p, rapt_error *err)
{
    return p->at == p->end ? RAPT_OK : rapt_fail(err, RAPT_ERR_FORMAT, "byte %zu: a field that is cut off or has no known form",
                                                 (size_t)(p->at - k->file) + 1);
}

static protobuf message_of(const protobuf_field *f)
{
    return (protobuf){f->data, f->data + f->size};
}

static float float_of(uint64_t bits)
{
    const uint32_t low = (uint32_t)bits;
    float value;
    memcpy(&value, &low, sizeof value);
    return value;
}

static rapt_code read_piece(spm *k, const protobuf_field *of, rapt_error *err)
{
    protobuf p = message_of(of);
    protobuf_field f, text = {.data = ""};
    float score = 0;
    uint64_t kind = SPM_NORMAL;
    while (protobuf_next(&p, &f)) {
        text = is_field(&f, PIECE_TEXT, PROTOBUF_BYTES) ? f : text;
        score = is_field(&f, PIECE_SCORE, PROTOBUF_FIXED32) ? float_of(f.value) : score;
        kind = is_field(&f, PIECE_TYPE, PROTOBUF_VARINT) ? f.value : kind;
    }
    rapt_code code = check_end(k, &p, err);
    if (!code && (kind < SPM_NORMAL || kind > SPM_BYTE))
        code = rapt_fail(err, RAPT_ERR_FORMAT, "piece %zu has type %llu; 1 to 6 are known", k->pieces.size,
                         (unsigned long long)kind);
    return code ? code : spm_add_piece(k, text.data, text.size, score, (spm_kind)kind, err);
}

static rapt_code read_trainer(spm *k, const protobuf_field *of, rapt_error *err)
{
    protobuf p = message_of(of);
    for (protobuf_field f; protobuf_next(&p, &f);) {
        if (is_field(&f, TRAINER_TYPE, PROTOBUF_VARINT) && (f.value < SPM_UNIGRAM || f.value > SPM_CHAR))
            return rapt_fail(err, RAPT_ERR_FORMAT, "model type %llu; 1 to 4 are known: unigram, BPE, words, characters",
                             (unsigned long long)f.value);
        if (is_field(&f, TRAINER_TYPE, PROTOBUF_VARINT))
            k->type = (spm_type)f.value;
        if (is_field(&f, TRAINER_SUFFIX, PROTOBUF_VARINT))
            k->rules.suffix = f.value != 0;
        if (is_field(&f, TRAINER_BYTE_FALLBACK, PROTOBUF_VARINT))
            k->byte_fallback = f.value != 0;
        if (is_field(&f, TRAINER_UNKNOWN_TEXT, PROTOBUF_BYTES)) {
            k->unknown_text = f.data;
            k->unknown_size = f.size;
        }
    }
    return check_end(k, &p, err);
}

static rapt_code take_rule(spm_rules *r, const protobuf_field *f, rapt_error *err)
{
    if (is_field(f, RULES_CHARSMAP, PROTOBUF_BYTES)) {
        r->map = (charsmap){0};
        return f->size ? charsmap_open(&r->map, f->data, f->size, err) : RAPT_OK;
    }
    if (is_field(f, RULES_NAME, PROTOBUF_BYTES)) {
        r->name = f->data;
        r->name_size = f->size;
    }
    if (is_field(f, RULES_DUMMY_PREFIX, PROTOBUF_VARINT))
        r->dummy_prefix = f->value != 0;
    if (is_field(f, RULES_SQUEEZES, PROTOBUF_VARINT))
        r->squeezes = f->value != 0;
    if (is_field(f, RULES_ESCAPES, PROTOBUF_VARINT))
        r->escapes = f->value != 0;
    return RAPT_OK;
}

static rapt_code read_rules(const spm *k, spm_rules *r, const protobuf_field *of, rapt_error *err)
{
    protobuf p = message_of(of);
    rapt_code code = RAPT_OK;
    for (protobuf_field f; !code && protobuf_next(&p, &f);)
        code = take_rule(r, &f, err);
    return code ? code : check_end(k, &p, err);
}

/* The settings that the file has. */
typedef struct settings_found {
    bool trainer, normalizer;
} settings_found;

static rapt_code read_settings(spm *k, const protobuf_field *f, settings_found *found, rapt_error *err)
{
    if (is_field(f, MODEL_TRAINER, PROTOBUF_BYTES)) {
        found->trainer = true;
        return read_trainer(k, f, err);
    }
    if (is_field(f, MODEL_NORMALIZER, PROTOBUF_BYTES)) {
        found->normalizer = true;
        return read_rules(k, &k->rules, f, err);
    }
    return is_field(f, MODEL_DENORMALIZER, PROTOBUF_BYTES) ? read_rules(k, &k->back, f, err) : RAPT_OK;
}

/* sentencepiece writes both after the pieces, so that a file that is truncated between two fields lacks one. */
static rapt_code check_settings(const settings_found *found, rapt_error *err)
{
    if (found->trainer && found->normalizer)
        return RAPT_OK;
    return rapt_fail(err, RAPT_ERR_FORMAT, "there is no %s: is the file truncated?",
                     found->trainer ? "normalizer_spec" : "trainer_spec");
}

rapt_code spm_read(spm *k, rapt_error *err)
{
    static const spm_rules rules = {.dummy_prefix = true, .squeezes = true, .escapes = true, .name = ""};
    static const char unknown[] = " \xE2\x81\x87 ";
    protobuf settings = {k->file, k->file + k->file_size}, pieces = settings;
    settings_found found = {false, false};
    rapt_code code = RAPT_OK;
    k->type = SPM_UNIGRAM;
    k->rules = k->back = rules;
    k->unknown_text = unknown;
    k->unknown_size = sizeof unknown - 1;
    for (protobuf_field f; !code && protobuf_next(&settings, &f);)
        code = read_settings(k, &f, &found, err);
    if (!code)
        code = check_end(k, &settings, err);
    for (protobuf_field f; !code && protobuf_next(&pieces, &f);)
        code = is_field(&f, MODEL_PIECE, PROTOBUF_BYTES) ? read_piece(k, &f, err) : RAPT_OK; /* pieces come after the settings,
                                                                                                which decide what a piece may
                                                                                                be */
    k->has_back = k->back.map.count > 0;
    code = code ? code : spm_finish_pieces(k, err);
    return code ? code : check_settings(&found, err);
}
