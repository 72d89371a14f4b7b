/* data/tokens/token_file.c: token files as read-only memory, opened and checked, or made from ids; and their splits. For training
 * and evaluation of language models. token_make.c writes them. */
#include "data/tokens/token_file.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { DECODED = 4096 }; /* tokens that are decoded at a time */

static rapt_token_file *token_file_no_memory(rapt_token_file *f, const char *of, rapt_error *err)
{
    rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for a token file", of);
    rapt_token_file_close(f);
    return NULL;
}

/* Largest of `count` ids as they lie in the file. */
static uint32_t token_file_largest_of(const void *ids, size_t count, size_t width)
{
    const uint16_t *narrow = ids;
    const uint32_t *wide = ids;
    uint32_t largest = 0;
    for (size_t i = 0; width == 2 && i < count; i++)
        largest = narrow[i] > largest ? narrow[i] : largest;
    for (size_t i = 0; width == 4 && i < count; i++)
        largest = wide[i] > largest ? wide[i] : largest;
    return largest;
}

/* Hash and largest id in one pass: a file larger than memory is read once. */
static uint32_t scan_ids(const rapt_token_file *f, XXH3_state_t *hash)
{
    size_t width = f->header.width, count = (size_t)f->header.count;
    uint32_t largest = 0;
    XXH3_64bits_reset(hash);
    for (size_t first = 0; first < count; first += TOKEN_PORTION) {
        size_t n = count - first < TOKEN_PORTION ? count - first : TOKEN_PORTION;
        const char *ids = f->ids + first * width;
        XXH3_64bits_update(hash, ids, n * width);
        uint32_t here = token_file_largest_of(ids, n, width);
        largest = here > largest ? here : largest;
        file_map_forget(&f->map, sizeof f->header + first * width, sizeof f->header + (first + n) * width);
    }
    return largest;
}

static rapt_code token_file_check_ids(const rapt_token_file *f, rapt_error *err)
{
    XXH3_state_t *hash = XXH3_createState();
    if (!hash)
        return rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for its checksum", f->path);
    uint32_t largest = scan_ids(f, hash);
    unsigned long long found = XXH3_64bits_digest(hash), wanted = f->header.ids_hash;
    XXH3_freeState(hash);
    if (found != wanted)
        return rapt_fail(err, RAPT_ERR_FORMAT,
                         "%s: the file is damaged: the checksum of its ids is %016llx, and should be %016llx",
                         f->path, found, wanted);
    if (largest != f->header.largest)
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: malformed header: the largest id is %u, not %u", f->path, largest,
                         f->header.largest);
    return RAPT_OK;
}

rapt_token_file *rapt_token_file_open(const char *path, rapt_error *err)
{
    return token_file_open((token_place){path, path}, err);
}

rapt_token_file *token_file_open(token_place place, rapt_error *err)
{
    rapt_token_file *f = calloc(1, sizeof *f);
    if (f)
        f->path = file_join("", place.name);
    if (!f || !f->path)
        return token_file_no_memory(f, place.name, err);
    rapt_code code = file_map_open(&f->map, place.at, err);
    if (code == RAPT_OK)
        code = token_header_check(f->map.data, f->map.size, place.name, &f->header, err);
    if (code == RAPT_OK) {
        f->ids = f->map.data + sizeof f->header;
        code = token_file_check_ids(f, err);
    }
    if (code == RAPT_OK)
        return f;
    rapt_token_file_close(f);
    return NULL;
}

static rapt_code token_file_check_given(const int32_t *ids, size_t count, size_t vocab, rapt_error *err)
{
    if (count == 0)
        return rapt_fail(err, RAPT_ERR_VALUE, "there are no tokens");
    if (vocab == 0 || vocab > TOKEN_MAX_VOCAB)
        return rapt_fail(err, RAPT_ERR_VALUE, "a vocabulary of %zu entries is not possible; 1 to 2^31 are", vocab);
    for (size_t i = 0; i < count; i++)
        if (ids[i] < 0 || (size_t)ids[i] >= vocab)
            return rapt_fail(err, RAPT_ERR_VALUE, "token %zu is %d, which is outside the vocabulary of %zu", i, (int)ids[i],
                             vocab);
    return RAPT_OK;
}

rapt_token_file *rapt_token_file_from_ids(const int32_t *ids, size_t count, size_t vocab, rapt_error *err)
{
    if (token_file_check_given(ids, count, vocab, err) != RAPT_OK)
        return NULL;
    rapt_token_file *f = calloc(1, sizeof *f);
    if (!f)
        return token_file_no_memory(f, "ids", err);
    f->header = token_header_new(vocab, false);
    f->header.count = count;
    f->ids = f->own = malloc(count * f->header.width);
    if (!f->own)
        return token_file_no_memory(f, "ids", err);
    f->header.largest = token_pack(ids, count, f->header.width, f->own, 0);
    f->header.ids_hash = XXH3_64bits(f->own, count * f->header.width);
    return f;
}

void rapt_token_file_close(rapt_token_file *f)
{
    if (!f)
        return;
    file_map_close(&f->map);
    free(f->own);
    free(f->path);
    free(f);
}

size_t rapt_token_file_count(const rapt_token_file *f)
{
    return (size_t)f->header.count;
}

size_t rapt_token_file_vocab(const rapt_token_file *f)
{
    return f->header.vocab;
}

int32_t rapt_token_file_max_id(const rapt_token_file *f)
{
    return (int32_t)f->header.largest;
}

size_t rapt_token_file_text_bytes(const rapt_token_file *f)
{
    return (size_t)f->header.text_bytes;
}

uint64_t rapt_token_file_tokenizer_hash(const rapt_token_file *f)
{
    return f->header.tokenizer_hash;
}

rapt_code token_file_hash(const rapt_token_file *f, size_t vocab, uint64_t *hash, rapt_error *err)
{
    const size_t largest = f->header.largest, width = token_width(largest < vocab ? vocab : largest + 1);
    int32_t ids[DECODED], packed[DECODED];
    *hash = f->header.ids_hash;
    if (width == f->header.width)
        return RAPT_OK;
    XXH3_state_t *state = XXH3_createState();
    if (!state)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a checksum of tokens");
    XXH3_64bits_reset(state);
    for (size_t at = 0, all = rapt_token_file_count(f), n; at < all; at += n) {
        n = all - at < DECODED ? all - at : DECODED;
        rapt_token_file_ids(f, at, n, ids);
        token_pack(ids, n, width, packed, 0);
        XXH3_64bits_update(state, packed, n * width);
        token_file_forget(f, at, n);
    }
    *hash = XXH3_64bits_digest(state);
    XXH3_freeState(state);
    return RAPT_OK;
}

void rapt_token_file_ids(const rapt_token_file *f, size_t first, size_t count, int32_t *ids)
{
    token_unpack(f->ids + first * f->header.width, count, f->header.width, ids);
}

void token_file_forget(const rapt_token_file *f, size_t first, size_t count)
{
    const size_t begin = sizeof f->header + first * f->header.width;
    if (f->map.size > TOKEN_MAPPED) /* to the end of the folio that the last one is in */
        file_map_forget(&f->map, begin, begin + count * f->header.width + FILE_FOLIO);
}

static size_t decoded_bytes(const rapt_tokenizer *k, const int32_t *ids, size_t count)
{
    size_t size = 0;
    char *text = rapt_tokenizer_decode(k, ids, count, &size);
    free(text);
    return text ? size : 0;
}

/* The bytes that the tokens add after the token before them, because a pipeline decodes the first token of a text differently. */
static size_t pipeline_bytes(const rapt_token_file *f, const rapt_tokenizer *k, size_t begin, size_t end)
{
    int32_t ids[DECODED + 1];
    size_t bytes = 0;
    for (size_t at = begin, count; at < end; at += count) {
        size_t before = at > 0;
        count = end - at < DECODED ? end - at : DECODED;
        rapt_token_file_ids(f, at - before, count + before, ids);
        size_t all = decoded_bytes(k, ids, count + before), first = decoded_bytes(k, ids, before);
        bytes += all > first ? all - first : 0;
        token_file_forget(f, at, count);
    }
    return bytes;
}

size_t rapt_token_file_bytes(const rapt_token_file *f, const rapt_tokenizer *k, size_t begin, size_t end)
{
    size_t bytes = 0;
    if (rapt_tokenizer_kind_of(k) == RAPT_TOKENIZER_PIPELINE)
        return pipeline_bytes(f, k, begin, end);
    for (size_t i = begin; i < end; i++) {
        int32_t id;
        size_t size = 0;
        rapt_token_file_ids(f, i, 1, &id);
        bytes += rapt_tokenizer_token(k, id, &size) ? size : 0;
        if (i % DECODED == DECODED - 1)
            token_file_forget(f, i - i % DECODED, DECODED);
    }
    return bytes;
}

static size_t split_at(const rapt_token_file *f, double fraction)
{
    double at = (double)f->header.count * fraction;
    if (!(at > 0))
        return 0;
    return at < (double)f->header.count ? (size_t)at : (size_t)f->header.count;
}

rapt_token_range rapt_token_range_training(const rapt_token_file *f, double fraction)
{
    return (rapt_token_range){0, split_at(f, fraction), "training split"};
}

rapt_token_range rapt_token_range_validation(const rapt_token_file *f, double fraction)
{
    return (rapt_token_range){split_at(f, fraction), rapt_token_file_count(f), "validation split"};
}

rapt_token_range rapt_token_range_all(const rapt_token_file *f)
{
    return (rapt_token_range){0, rapt_token_file_count(f), "text"};
}
