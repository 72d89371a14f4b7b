/* text/pipeline/pipeline.c: a text goes through the components as a list of pieces. */
#include "text/pipeline/pipeline.h"

#include "base/rng.h"
#include "text/encode_run.h"
#include "text/pipeline/char_classes.h"
#include "text/utf8.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static void pipeline_frame(const rapt_tokenizer *k, size_t *before, size_t *after)
{
    *before = pipeline_of(k)->before.count;
    *after = pipeline_of(k)->after.count;
}

static const id_pair *pipeline_pair(const rapt_tokenizer *k)
{
    return &pipeline_of(k)->pair;
}

static const tokenizer_ops PIPELINE_OPS;

pipeline *pipeline_new(rapt_error *err)
{
    pipeline *p = calloc(1, sizeof *p);
    if (p) {
        p->base.ops = &PIPELINE_OPS;
        p->classes = malloc(CHAR_CLASSES_SIZE);
    }
    if (p && p->classes) {
        char_classes_fill(p->classes);
        return p;
    }
    free(p);
    rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a tokenizer");
    return NULL;
}

void pipeline_free(pipeline *p)
{
    if (!p)
        return;
    added_tokens_free(&p->added);
    normal_steps_free(&p->normal);
    pretoken_steps_free(&p->cuts);
    pipeline_model_free(&p->model);
    decode_steps_free(&p->decoder);
    free(p->before.ids);
    free(p->after.ids);
    id_pair_free(&p->pair);
    free(p->classes);
    free(p->json);
    free(p);
}

static void pipeline_free_base(rapt_tokenizer *k)
{
    pipeline_free((pipeline *)k);
}

/* ---- encoding ----------------------------------------------------------------------------------------------- */

typedef struct pipeline_encoding {
    const pipeline *p;
    bool specials;
    rapt_error *err;
    piece_list raw, pieces; /* the text cut at added tokens; the pieces after the normalizer */
    normal_text normal;
    model_work work;
} pipeline_encoding;

static rapt_code pipeline_no_memory(const pipeline_encoding *e)
{
    return rapt_fail(e->err, RAPT_ERR_MEMORY, "out of memory to encode a text");
}

/* Normalizes a piece and finds added tokens in the result. */
static rapt_code normalize_piece(pipeline_encoding *e, size_t i)
{
    const text_piece *piece = &e->raw.list[i];
    const char *text = piece_list_text(&e->raw, i);
    if (piece->id >= 0)
        return piece_list_add(&e->pieces, text, piece_list_from(&e->raw, i), piece->size, 0, piece->id) ? RAPT_OK
                                                                                                     : pipeline_no_memory(e);
    rapt_code code = normal_steps_run(&e->p->normal, e->p->classes, text, piece_list_from(&e->raw, i), piece->size,
                                      piece->first_bytes, &e->normal, e->err);
    if (!code && !added_tokens_cut(&e->p->added, true, e->specials, e->p->classes, &e->normal, &e->pieces))
        code = pipeline_no_memory(e);
    return code;
}

static rapt_code encode_pieces_of(pipeline_encoding *e)
{
    rapt_code code = pretoken_steps_run(&e->p->cuts, e->p->classes, &e->pieces, e->err);
    for (size_t i = 0; i < e->pieces.count && !code; i++) {
        const text_piece *piece = &e->pieces.list[i];
        e->work.from = piece_list_from(&e->pieces, i);
        if (piece->id >= 0)
            code = model_work_put(&e->work, piece->id, 0, piece->size, e->err);
        else if (piece->size > 0)
            code = pipeline_model_encode(&e->p->model, piece_list_text(&e->pieces, i), piece->size, &e->work, e->err);
    }
    return code;
}

static rapt_code put_row(pipeline_encoding *e, const id_row *row)
{
    rapt_code code = RAPT_OK;
    for (size_t i = 0; e->specials && i < row->count && !code; i++)
        code = model_work_put(&e->work, row->ids[i], 0, 0, e->err);
    return code;
}

static rapt_code pipeline_encode_whole(pipeline_encoding *e, const char *text, size_t size)
{
    uint32_t first;
    rapt_code code = put_row(e, &e->p->before);
    e->normal.first_bytes = utf8_decode(text, size, &first);
    if (!code && !(buffer_append(&e->normal.text, text, size) &&
                   (!e->work.placed || sources_begin(&e->normal.from, text, size, 0)) &&
                   added_tokens_cut(&e->p->added, false, e->specials, e->p->classes, &e->normal, &e->raw)))
        code = pipeline_no_memory(e);
    for (size_t i = 0; i < e->raw.count && !code; i++)
        code = normalize_piece(e, i);
    code = code ? code : encode_pieces_of(e);
    return code ? code : put_row(e, &e->p->after);
}

static rapt_code run_pipeline(pipeline_encoding *e, const char *text, size_t size)
{
    size_t valid = utf8_valid_prefix(text, size);
    if (valid < size)
        return rapt_fail(e->err, RAPT_ERR_FORMAT, "byte %zu: not UTF-8", valid + 1);
    rapt_code code = pipeline_encode_whole(e, text, size);
    piece_list_free(&e->raw);
    piece_list_free(&e->pieces);
    normal_text_free(&e->normal);
    return code;
}

static rapt_code pipeline_encode_to(const rapt_tokenizer *k, const char *text, size_t size, bool specials, rapt_ids_fn *sink,
                                    void *context, rapt_error *err)
{
    pipeline_encoding e = {.p = pipeline_of(k), .specials = specials, .err = err};
    rapt_code code = run_pipeline(&e, text, size);
    if (!code && e.work.count > 0)
        code = sink(context, e.work.ids, e.work.count, err);
    model_work_free(&e.work);
    return code;
}

static rapt_code pipeline_encode_offsets(const rapt_tokenizer *k, const char *text, size_t size, bool specials, placed_ids *out,
                                         rapt_error *err)
{
    pipeline_encoding e = {.p = pipeline_of(k), .specials = specials, .err = err, .work.placed = out};
    rapt_code code = run_pipeline(&e, text, size);
    model_work_free(&e.work);
    return code;
}

/* ---- decoding ----------------------------------------------------------------------------------------------- */

/* Whether the text equals a special token's, whichever token it comes from. */
static bool is_special_text(const pipeline *p, const char *text)
{
    const added_token *t = added_tokens_find(&p->added, text);
    return t && t->special;
}

static bool take_shown(const pipeline *p, const int32_t *ids, size_t count, bool skip, piece_list *out)
{
    bool ok = buffer_append(&out->text, "", 0);
    for (size_t i = 0; ok && i < count; i++) {
        size_t length;
        const char *token = token_list_at(&p->model.vocab, ids[i], &length);
        const added_token *added = added_tokens_of(&p->added, ids[i]);
        if (added) {
            token = added->shown;
            length = added->shown_length;
        }
        if (token && !(skip && is_special_text(p, token)))
            ok = piece_list_add(out, token, NULL, length, 0, -1);
    }
    return ok;
}

char *pipeline_decode(const pipeline *p, const int32_t *ids, size_t count, bool skip, size_t *size, rapt_error *err)
{
    piece_list tokens = {0};
    buffer text = {0};
    rapt_code code = RAPT_OK;
    if (!take_shown(p, ids, count, skip, &tokens))
        code = rapt_fail(err, RAPT_ERR_MEMORY, "out of memory to decode");
    code = code ? code : decode_steps_run(&p->decoder, &tokens, err);
    bool ok = !code && buffer_append(&text, "", 0);
    for (size_t i = 0; ok && i < tokens.count; i++)
        ok = buffer_append(&text, piece_list_text(&tokens, i), tokens.list[i].size);
    piece_list_free(&tokens);
    if (!ok)
        buffer_free(&text);
    if (ok && size)
        *size = text.size;
    return ok ? text.data : NULL;
}

static char *pipeline_decode_all(const rapt_tokenizer *k, const int32_t *ids, size_t count, size_t *size)
{
    return pipeline_decode(pipeline_of(k), ids, count, false, size, NULL);
}

/* ---- what it is --------------------------------------------------------------------------------------------- */

static size_t pipeline_size(const rapt_tokenizer *k)
{
    return pipeline_of(k)->model.vocab.size;
}

static const char *pipeline_token(const rapt_tokenizer *k, int32_t id, size_t *size)
{
    return token_list_at(&pipeline_of(k)->model.vocab, id, size);
}

static int32_t pipeline_special(const rapt_tokenizer *k, const char *text)
{
    const added_token *t = added_tokens_find(&pipeline_of(k)->added, text);
    return t ? t->id : -1;
}

static uint64_t pipeline_hash(const rapt_tokenizer *k)
{
    const char *json = pipeline_of(k)->json;
    return rng_mix(rng_hash_text("pipeline"), XXH3_64bits(json, strlen(json)));
}

static json_t *pipeline_to_json(const rapt_tokenizer *k)
{
    return json_loads(pipeline_of(k)->json, JSON_ALLOW_NUL, NULL);
}

static bool pipeline_lowercases(const rapt_tokenizer *k)
{
    const normal_steps *n = &pipeline_of(k)->normal;
    for (size_t i = 0; i < n->count; i++)
        if (n->list[i].kind == NORMAL_LOWERCASE)
            return true;
    return false;
}

static const tokenizer_ops PIPELINE_OPS = {
    RAPT_TOKENIZER_PIPELINE, pipeline_free_base,  pipeline_size,       pipeline_token,   pipeline_special,   pipeline_hash,
    /* a component's result at one place can depend on the whole text, so the text is encoded as a whole */
    pipeline_encode_to,      encode_run_whole,    pipeline_decode_all, pipeline_to_json, pipeline_lowercases,
    pipeline_frame, .encode_offsets = pipeline_encode_offsets, .pair = pipeline_pair};
