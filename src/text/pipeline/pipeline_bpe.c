/* text/pipeline/pipeline_bpe.c: BPE over characters: a piece begins as its characters; the pair with the lowest rank merges
 * first, the leftmost of equal ones (Sennrich et al. 2016). For pipeline_model.c. A heap of candidates makes it n log n, because
 * with SentencePiece's models a whole text is one piece. */
#include "text/pipeline/pipeline_model.h"

#include "base/buffer.h"
#include "text/utf8.h"

#include <stdlib.h>
#include <string.h>

static rapt_code bpe_work_no_memory(rapt_error *err)
{
    return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory to merge a piece of text");
}

static bool find_pair(void *context, const piece_symbol *left, const piece_symbol *right, uint32_t *key, int32_t *id)
{
    const pair_merge merge = pair_table_find(context, left->id, right->id);
    *key = merge.rank;
    *id = merge.id;
    return merge.rank != PAIR_NEVER;
}

/* ---- the symbols that a piece begins as --------------------------------------------------------------------- */

/* Bytes begin .. end - 1 of the piece; at least one, since a symbol of none has been merged. */
static bool add_symbol(model_work *w, int32_t id, size_t begin, size_t end)
{
    return piece_merge_add(&w->merge, id, begin, end > begin ? end - begin : 1);
}

/* Writes a character, with the prefix unless it begins the piece, and with the suffix if it ends it. */
static bool write_letters(const pipeline_model *m, model_work *w, const char *text, size_t size, bool first, bool last)
{
    w->letters.size = 0;
    return (first || !m->prefix || buffer_append(&w->letters, m->prefix, strlen(m->prefix))) &&
           buffer_append(&w->letters, text, size) &&
           (!last || !m->suffix || buffer_append(&w->letters, m->suffix, strlen(m->suffix)));
}

/* Whether the letters have a token for each byte. */
static bool has_byte_tokens(const pipeline_model *m, const buffer *letters)
{
    for (size_t i = 0; m->byte_fallback && i < letters->size; i++)
        if (m->bytes[(unsigned char)letters->data[i]] < 0)
            return false;
    return m->byte_fallback;
}

/* A character of the piece, and the unknown characters before it that wait: tokens of bytes go before them, as in
 * `tokenizers`. */
typedef struct bpe_place {
    size_t begin, end, waiting_begin, waiting_end;
    int32_t waiting; /* -1: none */
} bpe_place;

static bool flush_unknown(model_work *w, bpe_place *p)
{
    bool ok = p->waiting < 0 || add_symbol(w, p->waiting, p->waiting_begin, p->waiting_end);
    p->waiting = -1;
    return ok;
}

/* A character without a token counts with the symbol before it. */
static void leave_out(model_work *w, const bpe_place *p)
{
    if (w->merge.count > 0)
        w->merge.symbols[w->merge.count - 1].size += (uint32_t)(p->end - p->begin);
}

static rapt_code add_letters(const pipeline_model *m, model_work *w, bpe_place *p, rapt_error *err)
{
    const buffer *l = &w->letters;
    int32_t id = token_list_find(&m->vocab, l->data, l->size);
    bool ok = true;
    if (id >= 0) {
        ok = flush_unknown(w, p) && add_symbol(w, id, p->begin, p->end);
    } else if (has_byte_tokens(m, l)) {
        for (size_t i = 0, at; ok && i < l->size; i++) {
            at = p->begin + i < p->end ? p->begin + i : p->end - 1; /* letters of a prefix have no bytes */
            ok = add_symbol(w, m->bytes[(unsigned char)l->data[i]], at, at + 1);
        }
    } else if (m->unk_token) {
        if (pipeline_model_unknown(m, err) < 0)
            return RAPT_ERR_VALUE;
        ok = m->fuse_unk || flush_unknown(w, p);
        p->waiting_begin = p->waiting < 0 ? p->begin : p->waiting_begin;
        p->waiting_end = p->end;
        p->waiting = m->unk;
    } else {
        leave_out(w, p);
    }
    return ok ? RAPT_OK : bpe_work_no_memory(err);
}

static rapt_code add_all_letters(const pipeline_model *m, const char *text, size_t size, model_work *w, rapt_error *err)
{
    bpe_place place = {.waiting = -1};
    uint32_t code;
    rapt_code result = RAPT_OK;
    w->merge.count = 0;
    for (size_t at = 0, used; at < size && !result; at += used) {
        used = utf8_decode(text + at, size - at, &code);
        place.begin = at, place.end = at + used;
        result = write_letters(m, w, text + at, used, at == 0, at + used == size) ? add_letters(m, w, &place, err)
                                                                                  : bpe_work_no_memory(err);
    }
    return !result && !flush_unknown(w, &place) ? bpe_work_no_memory(err) : result;
}

rapt_code pipeline_bpe_encode(const pipeline_model *m, const char *text, size_t size, model_work *w, rapt_error *err)
{
    int32_t whole = m->ignore_merges ? token_list_find(&m->vocab, text, size) : -1;
    if (whole >= 0)
        return model_work_put(w, whole, 0, size, err);
    if (size > INT32_MAX / 8)
        return rapt_fail(err, RAPT_ERR_VALUE, "a piece of %zu bytes is too long to merge", size);
    rapt_code code = add_all_letters(m, text, size, w, err);
    const piece_merge_rule rule = {find_pair, (void *)&m->pairs};
    if (!code && !piece_merge_all(&w->merge, &rule))
        code = bpe_work_no_memory(err);
    for (uint32_t i = w->merge.count > 0 ? 0 : PIECE_MERGE_NONE; i != PIECE_MERGE_NONE && !code; i = w->merge.symbols[i].next) {
        const piece_symbol *s = &w->merge.symbols[i];
        const size_t end = s->start + s->size; /* tokens of a suffix's bytes count bytes that the text does not have */
        code = model_work_put(w, s->id, s->start, end < size ? end : size, err);
    }
    return code;
}
