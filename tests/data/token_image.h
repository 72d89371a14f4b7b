/* tests/data/token_image.h: a token file assembled byte by byte from the table in rapt/stream.h, for tests that
 * compare with it or damage it. It shares nothing with the writer but xxHash. */
#ifndef DATA_TOKEN_IMAGE_H
#define DATA_TOKEN_IMAGE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <xxhash.h>

enum { IMAGE_HEADER = 64, IMAGE_ROOM = 256 };

typedef struct token_image {
    unsigned char bytes[IMAGE_ROOM];
    size_t size;
} token_image;

/* `value` as `width` bytes, the lowest first. */
static inline void image_put(token_image *m, size_t at, size_t width, uint64_t value)
{
    for (size_t i = 0; i < width; i++)
        m->bytes[at + i] = (unsigned char)(value >> 8 * i);
}

/* Makes the header's checksum right again. */
static inline void image_seal(token_image *m)
{
    image_put(m, 12, 4, 0);
    image_put(m, 12, 4, XXH3_64bits(m->bytes, IMAGE_HEADER) & 0xFFFFFFFFu);
}

/* "hello" by the characters e h l o. The two hashes are from Python's xxhash:
 * xxh3_64(b"hello") and xxh3_64(struct.pack("<5H", 1, 0, 2, 2, 3)). */
static inline token_image image_of_hello(uint64_t tokenizer_hash)
{
    static const uint64_t ids[] = {1, 0, 2, 2, 3};
    token_image m = {.size = IMAGE_HEADER + 10};
    memcpy(m.bytes, "RAPTTOK1", 8);
    image_put(&m, 8, 2, 1);
    image_put(&m, 10, 2, 2);
    image_put(&m, 16, 8, 5);
    image_put(&m, 24, 8, 5);
    image_put(&m, 32, 8, 0x9555e8555c62dcfd);
    image_put(&m, 40, 8, tokenizer_hash);
    image_put(&m, 48, 8, 0xf20226250428ce45);
    image_put(&m, 56, 4, 4);
    image_put(&m, 60, 4, 3);
    for (size_t i = 0; i < 5; i++)
        image_put(&m, IMAGE_HEADER + 2 * i, 2, ids[i]);
    image_seal(&m);
    return m;
}

#endif
