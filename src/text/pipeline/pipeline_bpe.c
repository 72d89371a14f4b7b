/* text/pipeline/pipeline_bpe.c: BPE over characters: a piece begins as its characters; the pair with the lowest rank merges
 * first, the leftmost of equal ones (Sennrich et al. 2016). For pipeline_model.c. A heap of candidates makes it n log n, because
 * with SentencePiece's models a whole text is one piece. */
#include "text/pipeline/pipeline_model.h"

#include "base/buffer.h"
#include "text/utf8.h"

#include <stdlib.h>
#include <string.h>

typedef struct bpe_symbol {
    int32_t id; /* -1: merged into the symbol before it */
    int32_t before, after; /* neighbors; -1: none */
} bpe_symbol;

typedef struct bpe_candidate {
    uint64_t order; /* rank, then place */
    int32_t id;     /* the token that the symbol at this place and the next one become */
} bpe_candidate;

static rapt_code bpe_work_no_memory(rapt_error *err)
{
    return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory to merge a piece of text");
}

/* ---- the heap ----------------------------------------------------------------------------------------------- */

static bool heap_push(model_work *w, bpe_candidate c)
{
    if (!ARRAY_RESERVE(&w->heap, &w->heap_capacity, w->heap_count + 1))
        return false;
    size_t i = w->heap_count++;
    for (; i > 0 && w->heap[(i - 1) / 2].order > c.order; i = (i - 1) / 2)
        w->heap[i] = w->heap[(i - 1) / 2];
    w->heap[i] = c;
    return true;
}

static bpe_candidate heap_pop(model_work *w)
{
    bpe_candidate top = w->heap[0], last = w->heap[--w->heap_count];
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < w->heap_count; i = child) {
        child += child + 1 < w->heap_count && w->heap[child + 1].order < w->heap[child].order;
        if (w->heap[child].order >= last.order)
            break;
        w->heap[i] = w->heap[child];
    }
    w->heap[i] = last;
    return top;
}

/* ---- merging ------------------------------------------------------------------------------------------------ */

/* Queues the symbol at `left` with its neighbor, if they merge. */
static bool queue_pair(const pipeline_model *m, model_work *w, int32_t left)
{
    int32_t right = left >= 0 ? w->symbols[left].after : -1;
    if (right < 0)
        return true;
    pair_merge merge = pair_table_find(&m->pairs, w->symbols[left].id, w->symbols[right].id);
    return merge.rank == PAIR_NEVER || heap_push(w, (bpe_candidate){(uint64_t)merge.rank << 32 | (uint32_t)left, merge.id});
}

/* Whether a candidate is still valid: its symbols still become the same token. */
static bool still_merges(const pipeline_model *m, const model_work *w, int32_t left, int32_t id)
{
    const bpe_symbol *s = &w->symbols[left];
    if (s->id < 0 || s->after < 0)
        return false;
    pair_merge merge = pair_table_find(&m->pairs, s->id, w->symbols[s->after].id);
    return merge.rank != PAIR_NEVER && merge.id == id;
}

static bool merge_all_symbols(const pipeline_model *m, model_work *w)
{
    bool ok = true;
    w->heap_count = 0;
    for (size_t i = 0; ok && i < w->symbol_count; i++)
        ok = queue_pair(m, w, (int32_t)i);
    while (ok && w->heap_count > 0) {
        bpe_candidate top = heap_pop(w);
        int32_t left = (int32_t)(uint32_t)top.order;
        if (!still_merges(m, w, left, top.id))
            continue;
        bpe_symbol *s = &w->symbols[left], *right = &w->symbols[s->after];
        s->id = top.id;
        s->after = right->after;
        right->id = -1;
        if (s->after >= 0)
            w->symbols[s->after].before = left;
        ok = queue_pair(m, w, s->before) && queue_pair(m, w, left);
    }
    return ok;
}

/* ---- the symbols that a piece begins as --------------------------------------------------------------------- */

static bool add_symbol(model_work *w, int32_t id)
{
    if (!ARRAY_RESERVE(&w->symbols, &w->symbol_capacity, w->symbol_count + 1))
        return false;
    int32_t at = (int32_t)w->symbol_count++;
    w->symbols[at] = (bpe_symbol){id, at - 1, -1};
    if (at > 0)
        w->symbols[at - 1].after = at;
    return true;
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

/* Unknown characters that wait: tokens of bytes go before them, as in `tokenizers`. */
static bool flush_unknown(model_work *w, int32_t *waiting)
{
    bool ok = *waiting < 0 || add_symbol(w, *waiting);
    *waiting = -1;
    return ok;
}

static rapt_code add_letters(const pipeline_model *m, model_work *w, int32_t *waiting, rapt_error *err)
{
    const buffer *l = &w->letters;
    int32_t id = token_list_find(&m->vocab, l->data, l->size);
    bool ok = true;
    if (id >= 0) {
        ok = flush_unknown(w, waiting) && add_symbol(w, id);
    } else if (has_byte_tokens(m, l)) {
        for (size_t i = 0; ok && i < l->size; i++)
            ok = add_symbol(w, m->bytes[(unsigned char)l->data[i]]);
    } else if (m->unk_token) {
        if (pipeline_model_unknown(m, err) < 0)
            return RAPT_ERR_VALUE;
        ok = m->fuse_unk || flush_unknown(w, waiting);
        *waiting = m->unk;
    }
    return ok ? RAPT_OK : bpe_work_no_memory(err);
}

static rapt_code add_all_letters(const pipeline_model *m, const char *text, size_t size, model_work *w, rapt_error *err)
{
    int32_t waiting = -1;
    uint32_t code;
    rapt_code result = RAPT_OK;
    w->symbol_count = 0;
    for (size_t at = 0, used; at < size && !result; at += used) {
        used = utf8_decode(text + at, size - at, &code);
        result = write_letters(m, w, text + at, used, at == 0, at + used == size) ? add_letters(m, w, &waiting, err)
                                                                                  : bpe_work_no_memory(err);
    }
    return !result && !flush_unknown(w, &waiting) ? bpe_work_no_memory(err) : result;
}

rapt_code pipeline_bpe_encode(const pipeline_model *m, const char *text, size_t size, model_work *w, rapt_error *err)
{
    int32_t whole = m->ignore_merges ? token_list_find(&m->vocab, text, size) : -1;
    if (whole >= 0)
        return model_work_put(w, whole, err);
    if (size > INT32_MAX / 8)
        return rapt_fail(err, RAPT_ERR_VALUE, "a piece of %zu bytes is too long to merge", size);
    rapt_code code = add_all_letters(m, text, size, w, err);
    if (!code && !merge_all_symbols(m, w))
        code = bpe_work_no_memory(err);
    for (int32_t i = w->symbol_count > 0 ? 0 : -1; i >= 0 && !code; i = w->symbols[i].after)
        code = model_work_put(w, w->symbols[i].id, err);
    return code;
}
