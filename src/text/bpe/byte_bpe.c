/* text/bpe/byte_bpe.c: byte-level BPE as a tokenizer: making one, and its operations except encoding. For language models.
 * Its files are in ranks.c, hf_read.c and hf_write.c, its encoder in bpe_encode.c, its trainer in bpe_train.c. */
#include "text/bpe/byte_bpe.h"

#include "base/buffer.h"
#include "base/quote.h"
#include "base/rng.h"
#include "base/sized.h"
#include "base/spares.h"
#include "text/bpe/bpe_train.h"
#include "text/training_defaults.h"
#include "text/utf8.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { SHORT_TOKEN = 256 };

static void bpe_frame(const rapt_tokenizer *k, size_t *before, size_t *after)
{
    *before = byte_bpe_of(k)->before.count;
    *after = byte_bpe_of(k)->after.count;
}

static const id_pair *bpe_pair(const rapt_tokenizer *k)
{
    return &byte_bpe_of(k)->pair;
}

static const tokenizer_ops BYTE_BPE_OPS;

void id_pair_free(id_pair *p)
{
    free(p->before.ids);
    free(p->between.ids);
    free(p->after.ids);
    *p = (id_pair){.known = false};
}

byte_bpe *byte_bpe_new(const char *pattern, rapt_error *err)
{
    byte_bpe *b = calloc(1, sizeof *b);
    if (!b) {
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a tokenizer");
        return NULL;
    }
    b->base.ops = &BYTE_BPE_OPS;
    b->encoders = spares_new();
    b->cut = b->encoders ? split_new(pattern, err) : NULL;
    if (b->cut)
        return b;
    if (!b->encoders)
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a tokenizer");
    byte_bpe_free(b);
    return NULL;
}

void byte_bpe_free(byte_bpe *b)
{
    if (!b)
        return;
    token_list_free(&b->tokens);
    pair_table_free(&b->pairs);
    bpe_encoders_free(b->encoders); /* before what they use */
    split_free(b->cut);
    special_list_free(&b->specials);
    normalizer_free(&b->normal);
    free(b->before.ids);
    free(b->after.ids);
    id_pair_free(&b->pair);
    free(b);
}

static void free_base(rapt_tokenizer *k)
{
    byte_bpe_free((byte_bpe *)k);
}

rapt_code byte_bpe_find_bytes(byte_bpe *b, rapt_error *err)
{
    for (int i = 0; i < 256; i++) {
        b->bytes[i] = token_list_find(&b->tokens, &(char){(char)i}, 1);
        if (b->bytes[i] < 0)
            return rapt_fail(err, RAPT_ERR_FORMAT, "there is no token for the byte 0x%02X", i);
    }
    return RAPT_OK;
}

rapt_code byte_bpe_add_special(byte_bpe *b, size_t id, const char *text, size_t length, bool always, rapt_error *err)
{
    const char *there = token_list_at(&b->tokens, (int64_t)id, NULL);
    if (length == 0 || length > INT32_MAX || id > INT32_MAX - 1)
        return rapt_fail(err, RAPT_ERR_FORMAT, "a special token is empty or too long");
    if (special_list_find(&b->specials, text, length) || special_list_of(&b->specials, (int32_t)id))
        return rapt_fail(err, RAPT_ERR_FORMAT, "special token \"%s\" is there twice", quote(text).text);
    if (!there && !token_list_put(&b->tokens, id, text, length, false))
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a token");
    if (!special_list_add(&b->specials, (special){text, length, (int32_t)id, always, there != NULL}))
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a special token");
    return RAPT_OK;
}

/* The token that has the bytes of both, or -1; -2 on out-of-memory. */
static int32_t find_joined(const byte_bpe *b, int32_t left, int32_t right)
{
    char small[SHORT_TOKEN], *both = small;
    size_t n, m;
    const char *x = token_list_at(&b->tokens, left, &n), *y = token_list_at(&b->tokens, right, &m);
    if (n + m > sizeof small && !(both = malloc(n + m)))
        return -2;
    memcpy(both, x, n);
    memcpy(both + n, y, m);
    int32_t found = token_list_find(&b->tokens, both, n + m);
    if (both != small)
        free(both);
    return found;
}

rapt_code byte_bpe_add_merge(byte_bpe *b, int32_t left, int32_t right, uint32_t rank, rapt_error *err)
{
    int32_t merged = find_joined(b, left, right);
    if (rank >= PAIR_RANKS)
        return rapt_fail(err, RAPT_ERR_VALUE, "more than %d merges", PAIR_RANKS);
    if (merged == -1)
        return rapt_fail(err, RAPT_ERR_FORMAT, "no token has the bytes of tokens %d and %d", left, right);
    if (pair_table_find(&b->pairs, left, right).rank != PAIR_NEVER)
        return rapt_fail(err, RAPT_ERR_FORMAT, "tokens %d and %d merge twice", left, right);
    if (merged == -2 || !pair_table_put(&b->pairs, left, right, (pair_merge){rank, merged}))
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a merge");
    return RAPT_OK;
}

/* ---- training ----------------------------------------------------------------------------------------------- */

static rapt_code byte_bpe_put_bytes(byte_bpe *b, size_t first, rapt_error *err)
{
    for (size_t i = 0; i < 256; i++)
        if (!token_list_put(&b->tokens, first + i, &(char){(char)i}, 1, true))
            return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a token");
    return byte_bpe_find_bytes(b, err);
}

/* Bytes are tokens from `first` on; merge i makes token first + 256 + i. */
static rapt_code put_merge(byte_bpe *b, size_t first, size_t i, bpe_merge merge, rapt_error *err)
{
    size_t n, m, id = first + 256 + i;
    int32_t left = merge.left + (int32_t)first, right = merge.right + (int32_t)first;
    const char *x = token_list_at(&b->tokens, left, &n), *y = token_list_at(&b->tokens, right, &m);
    char *both = malloc(n + m);
    bool ok = both != NULL;
    if (ok) {
        memcpy(both, x, n);
        memcpy(both + n, y, m);
        ok = token_list_put(&b->tokens, id, both, n + m, true) &&
             pair_table_put(&b->pairs, left, right, (pair_merge){(uint32_t)i, (int32_t)id});
    }
    free(both);
    return ok ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a token");
}

static rapt_code put_specials(byte_bpe *b, const rapt_bpe_options *o, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    for (size_t i = 0; i < o->special_count && code == RAPT_OK; i++) {
        size_t length = strlen(o->specials[i]);
        if (utf8_valid_prefix(o->specials[i], length) < length)
            return rapt_fail(err, RAPT_ERR_VALUE, "special token \"%s\" is not UTF-8", quote(o->specials[i]).text);
        code = byte_bpe_add_special(b, b->tokens.size, o->specials[i], length, false, err);
    }
    return code;
}

/* <unk> <pad> <bos> <eos>. They are tokens of the model as well: otherwise `tokenizers` would number them after all others. */
static rapt_code put_four_specials(byte_bpe *b, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    for (size_t i = 0; i < RAPT_SPECIALS && code == RAPT_OK; i++) {
        const char *text = tokenizer_specials[i];
        code = token_list_put(&b->tokens, i, text, strlen(text), true)
                   ? byte_bpe_add_special(b, i, text, strlen(text), false, err)
                   : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a token");
    }
    return code;
}

static rapt_code put_tokens(byte_bpe *b, const bpe_merge *merges, size_t count, const rapt_bpe_options *o, rapt_error *err)
{
    rapt_code code = o->specials_first ? put_four_specials(b, err) : RAPT_OK;
    size_t first = b->tokens.size;
    code = code ? code : byte_bpe_put_bytes(b, first, err);
    for (size_t i = 0; i < count && code == RAPT_OK; i++)
        code = put_merge(b, first, i, merges[i], err);
    return code || o->specials_first ? code : put_specials(b, o, err);
}

static void forget_searched(void *map, size_t begin, size_t end)
{
    if (map)
        file_map_forget(map, begin, end);
}

/* Where special tokens occur in a text; the caller frees *found, also after a failure. */
static rapt_code find_specials(learn_text text, const special_list *l, text_special **found, size_t *count, rapt_error *err)
{
    size_t capacity = 0, at;
    const special *s;
    for (size_t from = 0; (s = special_list_search(l, text.data, text.size, from, true, &at, forget_searched, (void *)text.map));
         from = at + s->length) {
        if (!ARRAY_RESERVE(found, &capacity, *count + 1))
            return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the places of special tokens");
        (*found)[(*count)++] = (text_special){at, at + s->length};
    }
    return RAPT_OK;
}

/* A language model does not learn from special tokens in a text. A translator's special tokens are ordinary text in a
 * sentence. */
static rapt_code leave_out_specials(learn_text *text, const rapt_bpe_options *o, text_special **found, rapt_error *err)
{
    special_list l = {0};
    bool ok = true;
    for (size_t i = 0; i < o->special_count && !o->specials_first; i++)
        if (*o->specials[i])
            ok = ok && special_list_add(&l, (special){.text = o->specials[i], .length = strlen(o->specials[i])});
    rapt_code code = ok ? find_specials(*text, &l, found, &text->special_count, err)
                        : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for special tokens");
    text->specials = *found;
    special_list_free(&l);
    return code;
}

static rapt_code byte_bpe_learn(byte_bpe *b, learn_text text, const rapt_bpe_options *o, rapt_error *err)
{
    bpe_merge *merges = NULL;
    text_special *found = NULL;
    size_t count = 0;
    rapt_code code = leave_out_specials(&text, o, &found, err);
    if (code == RAPT_OK)
        code = bpe_train(text, b->cut, o, &merges, &count, err);
    free(found);
    if (code == RAPT_OK && count > PAIR_RANKS)
        code = rapt_fail(err, RAPT_ERR_VALUE, "more than %d merges", PAIR_RANKS);
    if (code == RAPT_OK)
        code = put_tokens(b, merges, count, o, err);
    free(merges);
    return code;
}

static rapt_code byte_bpe_train(byte_bpe *b, learn_text text, const rapt_bpe_options *o, rapt_error *err)
{
    char *normal = NULL;
    rapt_code code = normalizer_add_all(&b->normal, o->normalization, err);
    if (!code && b->normal.count > 0) {
        size_t size;
        code = normalizer_apply_lines(&b->normal, text.data, text.size, &normal, &size, err);
        text = (learn_text){.data = normal, .size = size};
    }
    if (!code)
        code = byte_bpe_learn(b, text, o, err);
    free(normal);
    return code;
}

SIZED_ENDS_WITH(rapt_bpe_options, reserved);

void rapt_bpe_options_init(rapt_bpe_options *o, size_t size)
{
    sized_init(o, size, &(rapt_bpe_options){BPE_DEFAULTS}, sizeof *o);
}

static rapt_tokenizer *byte_bpe_train_text(learn_text text, const rapt_bpe_options *options, rapt_error *err)
{
    rapt_bpe_options o = {BPE_DEFAULTS};
    if (sized_take(&o, options, o.reserved, sizeof o.reserved, "bpe_options", err) != RAPT_OK)
        return NULL;
    byte_bpe *b = byte_bpe_new(o.pattern ? o.pattern : SPLIT_GPT2, err);
    if (o.specials_first) {
        o.specials = tokenizer_specials;
        o.special_count = RAPT_SPECIALS;
    }
    if (b && byte_bpe_train(b, text, &o, err) == RAPT_OK)
        return &b->base;
    byte_bpe_free(b);
    return NULL;
}

rapt_tokenizer *rapt_tokenizer_train_bpe(const char *text, size_t size, const rapt_bpe_options *options, rapt_error *err)
{
    return byte_bpe_train_text((learn_text){.data = text, .size = size}, options, err);
}

rapt_tokenizer *byte_bpe_train_file(const file_map *file, size_t size, const rapt_bpe_options *options, rapt_error *err)
{
    return byte_bpe_train_text((learn_text){.data = file->data, .size = size, .map = file}, options, err);
}

/* ---- what it is --------------------------------------------------------------------------------------------- */

static size_t bpe_size(const rapt_tokenizer *k)
{
    return byte_bpe_of(k)->tokens.size;
}

static const char *bpe_token(const rapt_tokenizer *k, int32_t id, size_t *size)
{
    return token_list_at(&byte_bpe_of(k)->tokens, id, size);
}

static int32_t bpe_special(const rapt_tokenizer *k, const char *text)
{
    const special *s = special_list_find(&byte_bpe_of(k)->specials, text, strlen(text));
    return s ? s->id : -1;
}

static uint64_t hash_tokens(const byte_bpe *b, uint64_t h)
{
    for (size_t i = 0; i < b->tokens.size; i++) {
        size_t length = 0;
        const char *token = token_list_at(&b->tokens, (int64_t)i, &length);
        h = rng_mix(h, token ? XXH3_64bits(token, length) : 0);
    }
    return h;
}

/* Sums, because the order in these tables depends on the order in which pairs and special tokens were added. */
static uint64_t hash_merges(const byte_bpe *b)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < b->pairs.slot_count; i++)
        if (b->pairs.slots[i].key)
            sum += rng_mix(b->pairs.slots[i].key, b->pairs.slots[i].merge.rank);
    return sum;
}

static uint64_t hash_specials(const special_list *l)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < l->count; i++)
        sum += rng_mix(XXH3_64bits(l->list[i].text, l->list[i].length), (uint64_t)(2 * l->list[i].id + l->list[i].always));
    return sum;
}

static uint64_t hash_row(uint64_t h, const id_row *row)
{
    for (size_t i = 0; i < row->count; i++)
        h = rng_mix(h, (uint64_t)row->ids[i]);
    return rng_mix(h, row->count);
}

static uint64_t bpe_hash(const rapt_tokenizer *k)
{
    const byte_bpe *b = byte_bpe_of(k);
    uint64_t h = rng_mix(rng_hash_text(split_pattern(b->cut)), rng_mix(hash_merges(b), hash_specials(&b->specials)));
    h = hash_row(hash_row(h, &b->before), &b->after);
    return hash_tokens(b, rng_mix(h, 2 * (uint64_t)b->whole_pieces + normalizer_hash(&b->normal)));
}

static json_t *bpe_to_json(const rapt_tokenizer *k)
{
    const byte_bpe *b = byte_bpe_of(k);
    return b->to_json ? b->to_json(b) : hf_to_json(b);
}

/* Byte tokens in any order need not be a line of text: bytes that are not UTF-8 become U+FFFD; ends of lines, NULs and tabs,
 * which separate columns, become spaces. */
static char *line_of(const char *bytes, size_t size, size_t *length)
{
    static const char replacement[] = "\xEF\xBF\xBD";
    char *line = malloc(3 * size + 1), *to = line;
    for (size_t at = 0; line && at < size;) {
        size_t valid = utf8_valid_prefix(bytes + at, size - at);
        for (size_t i = at; i < at + valid; i++)
            *to++ = strchr("\n\r\t", bytes[i]) ? ' ' : bytes[i];
        at += valid;
        if (at < size) {
            memcpy(to, replacement, sizeof replacement - 1);
            to += sizeof replacement - 1;
            at++;
        }
    }
    if (line)
        *to = '\0';
    if (line && length)
        *length = (size_t)(to - line);
    return line;
}

/* Translations are lines: they end at <eos>, and show none of the special tokens. */
static char *bpe_decode(const rapt_tokenizer *k, const int32_t *ids, size_t count, size_t *size)
{
    if (!rapt_tokenizer_has_specials(k))
        return tokenizer_join(k, ids, count, size);
    int32_t *shown = malloc((count + 1) * sizeof *shown);
    size_t kept = 0, length = 0;
    for (size_t i = 0; shown && i < count && ids[i] != RAPT_EOS; i++)
        if (ids[i] >= RAPT_SPECIALS)
            shown[kept++] = ids[i];
    char *bytes = shown ? tokenizer_join(k, shown, kept, &length) : NULL;
    char *line = bytes ? line_of(bytes, length, size) : NULL;
    free(bytes);
    free(shown);
    return line;
}

static bool bpe_lowercases(const rapt_tokenizer *k)
{
    return normalizer_lowercases(&byte_bpe_of(k)->normal);
}

static bool bpe_is_foreign(const rapt_tokenizer *k)
{
    return byte_bpe_of(k)->foreign;
}

static const tokenizer_ops BYTE_BPE_OPS = {
    RAPT_TOKENIZER_BYTE_BPE, free_base, bpe_size, bpe_token, bpe_special, bpe_hash, bpe_encode_to, bpe_encode_run, bpe_decode,
    bpe_to_json, bpe_lowercases, bpe_frame, bpe_is_foreign, bpe_encode_offsets, bpe_pair};
