/* text/token_trie.c: sorts the tokens by their bytes and writes the nodes in one pass. Sorting is by digits of the first eight
 * bytes, because comparing 150,000 tokens takes longer than all the rest. */
#include "text/token_trie.h"

#include "text/pipeline/pipeline.h"
#include "text/spm/spm.h"
#include "text/tokenizer.h"
#include "text/utf8.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

typedef struct sorted_token {
    uint64_t first; /* eight bytes, the first one highest */
    const char *bytes;
    uint32_t size;
    int32_t id;
} sorted_token;

/* ---- the bytes of a token ------------------------------------------------------------------------------------- */

#define MARK "\xE2\x96\x81"

typedef struct token_bytes {
    const rapt_tokenizer *k;
    bool marked;   /* MARK is a space */
    bool fallback; /* <0x0A> is a byte */
    char *memory;  /* of such tokens */
    size_t used;
} token_bytes;

static bool decoder_has(const decode_steps *d, size_t before, decode_kind kind)
{
    for (size_t i = 0; i < before; i++)
        if (d->list[i].kind == kind)
            return true;
    return false;
}

/* Whether the tokens have a text of their own behind step `at`, whatever stands beside them: Llama 2's steps, and Metaspace with
 * its usual mark. Spaces may be stripped at the beginning of all tokens as one, which are not part of a JSON value. */
static bool step_marks(const decode_steps *d, size_t at)
{
    const decode_step *s = &d->list[at];
    switch (s->kind) {
    case DECODE_METASPACE: return strcmp(s->mark, MARK) == 0;
    case DECODE_REPLACE: return strcmp(s->text, " ") == 0 && s->pattern.text && strcmp(s->pattern.text, MARK) == 0;
    case DECODE_BYTE_FALLBACK: case DECODE_FUSE: return true;
    default: return s->kind == DECODE_STRIP && s->stop == 0 && strcmp(s->mark, " ") == 0 && decoder_has(d, at, DECODE_FUSE);
    }
}

static bool pipeline_marks(const rapt_tokenizer *k)
{
    const decode_steps *d = &pipeline_of(k)->decoder;
    for (size_t i = 0; i < d->count; i++)
        if (!step_marks(d, i))
            return false;
    return !d->none && (decoder_has(d, d->count, DECODE_METASPACE) || decoder_has(d, d->count, DECODE_REPLACE));
}

static bool pipeline_loses_first(const rapt_tokenizer *k)
{
    const decode_steps *d = &pipeline_of(k)->decoder;
    for (size_t i = 0; i < d->count; i++)
        if (d->list[i].kind == DECODE_METASPACE && !d->list[i].keeps_first)
            return true;
    return false;
}

/* Whether the text of a token depends on the tokens beside it, or is changed behind it. */
static bool trie_is_impossible(const rapt_tokenizer *k)
{
    switch (k->ops->kind) {
    case RAPT_TOKENIZER_WORDS: return true;
    case RAPT_TOKENIZER_PIPELINE: return !pipeline_marks(k);
    case RAPT_TOKENIZER_SENTENCEPIECE: return k->ops->decode != spm_decode || spm_of(k)->has_back;
    default: return false;
    }
}

static token_bytes token_bytes_in(const rapt_tokenizer *k, char *memory)
{
    const bool marked = k->ops->kind == RAPT_TOKENIZER_PIPELINE;
    const decode_steps *d = marked ? &pipeline_of(k)->decoder : NULL;
    const bool fallback = marked && decoder_has(d, d->count, DECODE_BYTE_FALLBACK);
    return (token_bytes){k, marked, fallback, memory, 0};
}

/* NULL: the id has no bytes in a text. */
static const char *token_bytes_of(token_bytes *b, int32_t id, size_t *size)
{
    const char *bytes = b->k->ops->token(b->k, id, size);
    if (!bytes || *size == 0 || *size > TRIE_LONGEST)
        return NULL;
    if (strlen(bytes) == *size && b->k->ops->special(b->k, bytes) == id)
        return NULL;
    if (!b->marked)
        return bytes;
    char *to = b->memory + b->used, *at = to;
    const int byte = b->fallback ? decode_byte_of(bytes, *size) : -1;
    if (byte >= 0)
        *at++ = (char)byte;
    else
        for (size_t i = 0; i < *size; at++) {
            const bool mark = *size - i >= 3 && memcmp(bytes + i, MARK, 3) == 0;
            *at = mark ? ' ' : bytes[i];
            i += mark ? 3 : 1;
        }
    *size = (size_t)(at - to);
    b->used += *size;
    return to;
}

size_t token_trie_bytes(const rapt_tokenizer *k, int32_t id, char *out)
{
    size_t size = 0;
    token_bytes b = token_bytes_in(k, out);
    const char *bytes = token_bytes_of(&b, id, &size);
    if (bytes && bytes != out)
        memcpy(out, bytes, size);
    return bytes ? size : 0;
}

/* ---- sorting -------------------------------------------------------------------------------------------------- */

static int by_token_bytes(const void *a, const void *b)
{
    const sorted_token *p = a, *q = b;
    const int order = memcmp(p->bytes, q->bytes, p->size < q->size ? p->size : q->size);
    return order ? order : p->size != q->size ? (p->size < q->size ? -1 : 1) : (p->id > q->id) - (p->id < q->id);
}

/* `other` [count] and `counts` [65536] are scratch memory. The result is in *list, because the passes are four. */
static void sort_tokens(sorted_token *list, sorted_token *other, size_t *counts, size_t count)
{
    for (int shift = 0; shift < 64; shift += 16) {
        size_t sum = 0;
        memset(counts, 0, 65536 * sizeof *counts);
        for (size_t i = 0; i < count; i++)
            counts[list[i].first >> shift & 0xFFFF]++;
        for (size_t d = 0; d < 65536; d++) {
            const size_t own = counts[d];
            counts[d] = sum;
            sum += own;
        }
        for (size_t i = 0; i < count; i++)
            other[counts[list[i].first >> shift & 0xFFFF]++] = list[i];
        sorted_token *swap = list;
        list = other;
        other = swap;
    }
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && list[end].first == list[i].first; end++)
            ;
        if (end - i > 1)
            qsort(list + i, end - i, sizeof *list, by_token_bytes);
    }
}

/* Drops parts of characters, unless every byte that may follow them is a token: a text would get stuck. */
static size_t keep_whole(sorted_token *list, size_t count)
{
    bool single[256] = {false}, all = true;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (list[i].size == 1)
            single[(uint8_t)*list[i].bytes] = true;
    for (size_t byte = 0x80; byte <= 0xBF; byte++)
        all = all && single[byte];
    for (size_t i = 0; i < count && !all; i++)
        if (utf8_valid_prefix(list[i].bytes, list[i].size) == list[i].size)
            list[kept++] = list[i];
    return all ? count : kept;
}

static size_t collect_tokens(token_bytes *b, size_t vocab, sorted_token *list)
{
    size_t count = 0;
    for (size_t id = 0; id < vocab; id++) {
        size_t size;
        const char *bytes = token_bytes_of(b, (int32_t)id, &size);
        if (!bytes)
            continue;
        uint64_t first = 0;
        for (size_t i = 0; i < 8; i++)
            first = first << 8 | (i < size ? (uint8_t)bytes[i] : 0);
        list[count++] = (sorted_token){first, bytes, (uint32_t)size, (int32_t)id};
    }
    return keep_whole(list, count);
}

/* ---- the nodes ------------------------------------------------------------------------------------------------ */

static size_t common_bytes(const sorted_token *a, const sorted_token *b)
{
    size_t i = 0;
    while (i < a->size && i < b->size && a->bytes[i] == b->bytes[i])
        i++;
    return i;
}

static size_t count_trie_nodes(const sorted_token *list, size_t count)
{
    size_t nodes = 0;
    for (size_t i = 0; i < count; i++)
        nodes += list[i].size - (i > 0 ? common_bytes(&list[i - 1], &list[i]) : 0);
    return nodes;
}

static bool put_quotes(token_trie *t)
{
    size_t capacity = 0;
    for (uint32_t i = 0; i < t->count; i++) {
        if (t->nodes[i].byte != '"')
            continue;
        if (!ARRAY_RESERVE(&t->quotes, &capacity, t->quote_count + 1))
            return false;
        t->quotes[t->quote_count++] = i;
    }
    return true;
}

static void put_nodes(token_trie *t, const sorted_token *list, size_t count)
{
    uint32_t open[TRIE_LONGEST + 1], depth = 0;
    for (size_t i = 0; i < count; i++) {
        const sorted_token *k = &list[i];
        const size_t common = i > 0 ? common_bytes(&list[i - 1], k) : 0;
        for (; depth > common; depth--)
            t->nodes[open[depth - 1]].end = t->count;
        for (; depth < k->size; depth++) {
            open[depth] = t->count;
            t->nodes[t->count++] = (trie_node){0, -1, (uint8_t)k->bytes[depth], (uint8_t)(depth + 1), 0};
        }
        trie_node *n = &t->nodes[open[depth - 1]];
        n->more = n->token >= 0;
        t->same[k->id] = n->token;
        n->token = k->id;
        t->single[n->byte] = t->single[n->byte] || k->size == 1;
    }
    for (; depth > 0; depth--)
        t->nodes[open[depth - 1]].end = t->count;
}

static bool fill_trie(token_trie *t, token_bytes *b, sorted_token *list, sorted_token *other, size_t *counts)
{
    const size_t count = collect_tokens(b, t->vocab, list);
    sort_tokens(list, other, counts, count);
    const size_t nodes = count_trie_nodes(list, count);
    t->nodes = nodes < UINT32_MAX ? malloc((nodes + 1) * sizeof *t->nodes) : NULL;
    if (!t->nodes)
        return false;
    put_nodes(t, list, count);
    t->hash = XXH3_64bits_withSeed(t->nodes, t->count * sizeof *t->nodes, XXH3_64bits(t->same, t->vocab * sizeof *t->same));
    return put_quotes(t);
}

static size_t token_text_bytes(const rapt_tokenizer *k, size_t vocab)
{
    size_t sum = 1, size;
    for (size_t id = 0; id < vocab; id++)
        sum += k->ops->token(k, (int32_t)id, &size) ? size : 0;
    return sum;
}

static token_trie *token_trie_new(const rapt_tokenizer *k)
{
    const size_t vocab = k->ops->size(k);
    token_trie *t = calloc(1, sizeof *t);
    token_bytes b = token_bytes_in(k, NULL);
    sorted_token *lists = calloc(2 * vocab + 2, sizeof *lists);
    size_t *counts = malloc(65536 * sizeof *counts);
    b.memory = b.marked ? malloc(token_text_bytes(k, vocab)) : NULL;
    bool ok = t && lists && counts && (b.memory || !b.marked);
    if (ok) {
        t->vocab = vocab;
        t->bare_start = b.marked && pipeline_loses_first(k);
        ok = (t->same = calloc(vocab + 1, sizeof *t->same)) != NULL &&
             fill_trie(t, &b, lists, lists + vocab, counts);
    }
    free(lists);
    free(counts);
    free(b.memory);
    if (ok)
        return t;
    token_trie_free(t);
    return NULL;
}

static void trie_span_free(trie_span *s)
{
    if (s) {
        free(s->chars);
        free(s->exits);
    }
    free(s);
}

void token_trie_free(token_trie *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < 2; i++)
        for (size_t s = 0; s < JSON_CHAR_STATES; s++)
            trie_span_free(atomic_load(&t->spans[i][s]));
    free(t->nodes);
    free(t->same);
    free(t->quotes);
    free(t);
}

int64_t token_trie_find(const token_trie *t, const char *bytes, size_t size)
{
    uint32_t at = 0, end = t->count, found = 0;
    for (size_t i = 0; i < size; i++) {
        while (at < end && t->nodes[at].byte != (uint8_t)bytes[i])
            at = t->nodes[at].end;
        if (at >= end)
            return -1;
        found = at++;
        end = t->nodes[found].end;
    }
    return found;
}

const token_trie *token_trie_of(const rapt_tokenizer *k, rapt_error *err)
{
    rapt_tokenizer *owner = (rapt_tokenizer *)k; /* its one member that is filled in later */
    token_trie *found = atomic_load(&owner->trie), *made;
    if (found)
        return found;
    if (trie_is_impossible(k)) {
        rapt_fail(err, RAPT_ERR_VALUE, "the text of a token depends on the tokens beside it in this tokenizer, or its decoder "
                  "changes texts: its model cannot be constrained");
        return NULL;
    }
    if (!(made = token_trie_new(k))) {
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the trie of a tokenizer");
        return NULL;
    }
    if (atomic_compare_exchange_strong(&owner->trie, &found, made))
        return made;
    token_trie_free(made); /* another thread was faster */
    return found;
}

/* ---- strings -------------------------------------------------------------------------------------------------- */

static bool fill_span(const token_trie *t, trie_span *s, uint8_t state, bool escapes)
{
    struct { uint8_t state, chars; } at[TRIE_LONGEST + 1] = {{state, 0}};
    size_t capacity = 0;
    s->chars = malloc(t->vocab + 1);
    if (!s->chars)
        return false;
    memset(s->chars, TRIE_LEAVES, t->vocab + 1);
    for (uint32_t i = 0; i < t->count;) {
        const trie_node *n = &t->nodes[i];
        const uint8_t before = at[n->depth - 1].state, next = json_char_next(before, n->byte, escapes);
        if (next == JSON_CHAR_QUOTE) {
            if (!ARRAY_RESERVE(&s->exits, &capacity, s->exit_count + 1))
                return false;
            s->exits[s->exit_count++] = (struct trie_exit){i, at[n->depth - 1].chars};
        }
        if (next >= JSON_CHAR_QUOTE) {
            i = n->end;
            continue;
        }
        at[n->depth].state = next;
        at[n->depth].chars = (uint8_t)(at[n->depth - 1].chars + (before == JSON_CHAR_GROUND));
        for (int32_t id = n->token; id >= 0; id = t->same[id])
            s->chars[id] = at[n->depth].chars;
        i++;
    }
    return true;
}

const trie_span *token_trie_span(const token_trie *t, uint8_t state, bool escapes)
{
    _Atomic(trie_span *) *place = (_Atomic(trie_span *) *)&t->spans[escapes][state];
    trie_span *found = atomic_load(place), *made;
    if (found)
        return found;
    made = calloc(1, sizeof *made);
    if (!made || !fill_span(t, made, state, escapes)) {
        trie_span_free(made);
        return NULL;
    }
    if (atomic_compare_exchange_strong(place, &found, made))
        return made;
    trie_span_free(made);
    return found;
}
