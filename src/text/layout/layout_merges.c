/* text/layout/layout_merges.c: the merges of a BPE model of SentencePiece, which has scores instead: each way to make a piece of
 * two others, the best pieces first. For layout_vocab.c, and GGUF files. */
#include "text/layout/layout.h"

#include <stdlib.h>
#include <string.h>

/* lengths are in characters */
typedef struct layout_merge {
    const char *piece;
    size_t size, left_size;
    double score;
    size_t left_length, right_length, entry;
    int32_t left, right; /* ids of the model */
} layout_merge;

typedef struct merge_list {
    layout_merge *merges;
    size_t count, capacity;
    token_list pieces; /* all of the model, each to be found */
} merge_list;

#define DESCENDING(a, b) (((a) < (b)) - ((a) > (b)))

/* The better piece first, then the longer left part; if these are equal, the order of the vocabulary, and of ids. */
static int compare_merges(const void *a, const void *b)
{
    const layout_merge *x = a, *y = b;
    int order = DESCENDING(x->score, y->score);
    order = order ? order : DESCENDING(x->left_length, y->left_length);
    order = order ? order : DESCENDING(x->right_length, y->right_length);
    order = order ? order : DESCENDING(y->entry, x->entry);
    order = order ? order : DESCENDING(y->left, x->left);
    return order ? order : DESCENDING(y->right, x->right);
}

static bool is_lead_byte(char byte)
{
    return ((unsigned char)byte & 0xC0) != 0x80;
}

static size_t count_leads(const char *text, size_t size)
{
    size_t count = 0;
    for (size_t i = 0; i < size; i++)
        count += is_lead_byte(text[i]);
    return count;
}

static bool push_merge(merge_list *l, const layout_merge *m)
{
    if (l->count == l->capacity) {
        const size_t capacity = l->capacity ? 2 * l->capacity : 1024;
        layout_merge *more = realloc(l->merges, capacity * sizeof *more);
        if (!more)
            return false;
        l->merges = more;
        l->capacity = capacity;
    }
    l->merges[l->count++] = *m;
    return true;
}

static bool push_merges_of(merge_list *l, size_t entry, const char *piece, size_t size, double score)
{
    bool ok = true;
    const size_t length = count_leads(piece, size);
    for (size_t i = 1, left = 1; ok && i < size; i++) {
        if (!is_lead_byte(piece[i]))
            continue;
        const layout_merge m = {piece, size, i, score, left, length - left, entry, token_list_find(&l->pieces, piece, i),
                                token_list_find(&l->pieces, piece + i, size - i)};
        left++;
        ok = m.left < 0 || m.right < 0 || push_merge(l, &m);
    }
    return ok;
}

static bool take_model_pieces(merge_list *l, const token_list *pieces)
{
    bool ok = true;
    for (size_t i = 0, size = 0; ok && i < pieces->size; i++) {
        const char *piece = token_list_at(pieces, (int64_t)i, &size);
        ok = token_list_put(&l->pieces, i, piece, size, token_list_find(&l->pieces, piece, size) < 0);
    }
    return ok;
}

json_t *layout_merges(const token_list *pieces, const json_t *vocab)
{
    merge_list l = {0};
    const json_t *entry;
    size_t i;
    json_t *list = json_array();
    bool ok = list && take_model_pieces(&l, pieces);
    json_array_foreach(vocab, i, entry)
    {
        const json_t *piece = json_array_get(entry, 0);
        ok = ok && push_merges_of(&l, i, json_string_value(piece), json_string_length(piece),
                                  json_real_value(json_array_get(entry, 1)));
    }
    if (ok && l.count > 0)
        qsort(l.merges, l.count, sizeof *l.merges, compare_merges);
    for (i = 0; ok && i < l.count; i++) {
        const layout_merge *m = &l.merges[i];
        ok = json_array_append_new(list, json_pack("[s%, s%]", m->piece, m->left_size, m->piece + m->left_size,
                                                   m->size - m->left_size)) == 0;
    }
    token_list_free(&l.pieces);
    free(l.merges);
    if (ok)
        return list;
    json_decref(list);
    return NULL;
}
