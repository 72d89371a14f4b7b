/* data/tokens/token_format.c: checks the header of a token file, and converts ids of 2 or 4 bytes. For token_file.c and
 * token_make.c. Neither reads nor writes files. */
#include "data/tokens/token_format.h"

#include <string.h>
#include <xxhash.h>

#if !defined(__BYTE_ORDER__) || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "token files are little-endian, and this code maps them as they are"
#endif

_Static_assert(sizeof(token_header) == 64, "the header is copied as it lies in the file");

static const char magic[8] = {'R', 'A', 'P', 'T', 'T', 'O', 'K', '1'};

uint16_t token_width(size_t vocab)
{
    return vocab <= TOKEN_NARROW_VOCAB ? 2 : 4;
}

token_header token_header_new(size_t vocab, bool specials)
{
    token_header h = {.version = specials ? TOKEN_SPECIALS : TOKEN_ORDINARY, .width = token_width(vocab),
                      .vocab = (uint32_t)vocab};
    memcpy(h.magic, magic, sizeof magic);
    return h;
}

bool token_is_ours(const char *bytes, size_t size)
{
    return size == 0 || memcmp(bytes, magic, size < sizeof magic ? size : sizeof magic) == 0;
}

uint32_t token_header_checksum(const token_header *h)
{
    token_header bare = *h;
    bare.checksum = 0;
    return (uint32_t)XXH3_64bits(&bare, sizeof bare);
}

/* A field of an intact header that contradicts another, or NULL. Another program may have written the header. */
static const char *contradiction(const token_header *h)
{
    if (h->count == 0)
        return "it has no tokens";
    if (h->vocab == 0 || h->vocab > TOKEN_MAX_VOCAB)
        return "the size of its vocabulary is not 1 to 2^31";
    if (h->width != token_width(h->vocab))
        return "its bytes per id are not those of its vocabulary";
    if (h->largest >= h->vocab)
        return "its largest id is outside its vocabulary";
    return NULL;
}

/* Division, because a false count can make the product wrap. */
static rapt_code token_format_check_length(const token_header *h, size_t size, const char *path, rapt_error *err)
{
    size_t ids = (size - sizeof *h) / h->width;
    if (ids < h->count)
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: byte %zu: the file ends after %zu of %llu tokens; is it cut off?", path,
                         size, ids, (unsigned long long)h->count);
    size_t end = sizeof *h + (size_t)h->count * h->width;
    if (size > end)
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: byte %zu: something follows the last token", path, end);
    return RAPT_OK;
}

rapt_code token_header_check(const char *bytes, size_t size, const char *path, token_header *h, rapt_error *err)
{
    if (!token_is_ours(bytes, size))
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: byte 0: it does not begin with RAPTTOK1; no token file?", path);
    if (size < sizeof *h)
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: byte %zu: the file ends within the 64 bytes of its header", path, size);
    memcpy(h, bytes, sizeof *h);
    if (token_header_checksum(h) != h->checksum)
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: the file is damaged: the checksum of its header is %08x, and should be %08x",
                         path, token_header_checksum(h), h->checksum);
    if (h->version != TOKEN_ORDINARY && h->version != TOKEN_SPECIALS)
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: it has version %d of the format; this program reads versions %d and %d", path,
                         h->version, TOKEN_ORDINARY, TOKEN_SPECIALS);
    const char *reason = contradiction(h);
    if (reason)
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: malformed header: %s", path, reason);
    return token_format_check_length(h, size, path, err);
}

uint32_t token_pack(const int32_t *ids, size_t count, size_t width, void *to, uint32_t largest)
{
    uint16_t *narrow = to;
    for (size_t i = 0; i < count; i++)
        largest = (uint32_t)ids[i] > largest ? (uint32_t)ids[i] : largest;
    if (width == 4)
        memcpy(to, ids, count * sizeof *ids);
    else
        for (size_t i = 0; i < count; i++)
            narrow[i] = (uint16_t)ids[i];
    return largest;
}

void token_unpack(const void *from, size_t count, size_t width, int32_t *ids)
{
    const uint16_t *narrow = from;
    if (width == 4)
        memcpy(ids, from, count * sizeof *ids);
    else
        for (size_t i = 0; i < count; i++)
            ids[i] = narrow[i];
}
