/* tests/io/torch_image.h: files as torch.save writes them, assembled byte by byte from PKWARE's APPNOTE.TXT and Python's
 * pickletools.py, for tests that damage them and for the fuzzer. It shares nothing with the reader. */
#ifndef IO_TORCH_IMAGE_H
#define IO_TORCH_IMAGE_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Bytes that grow; a zeroed one is empty. */
typedef struct image {
    char *bytes;
    size_t size;
} image;

static inline void image_put(image *m, const void *bytes, size_t size)
{
    m->bytes = realloc(m->bytes, m->size + size + 1);
    if (!m->bytes)
        abort();
    if (size > 0)
        memcpy(m->bytes + m->size, bytes, size);
    m->size += size;
}

/* `value` as `width` bytes, the lowest first. */
static inline void image_number(image *m, size_t width, uint64_t value)
{
    for (size_t i = 0; i < width; i++)
        image_put(m, &(char){(char)(value >> 8 * i)}, 1);
}

static inline void image_free(image *m)
{
    free(m->bytes);
    *m = (image){NULL, 0};
}

/* ---- zip archives ------------------------------------------------------------------------------------------- */

/* What can be wrong with an entry; all zero: nothing. */
typedef struct zip_wrongs {
    uint16_t flags, method;
    const char *local_name;
    uint32_t more;   /* bytes that its size is too large by */
    bool sized_64;   /* not wrong: its sizes stand in the 64-bit field */
    bool cut_64;     /* that field is too short */
} zip_wrongs;

typedef struct zip_image {
    image archive, directory;
    unsigned count;
} zip_image;

/* Adds an entry of this name. */
static inline void zip_put(zip_image *z, const char *name, const void *data, size_t size, const zip_wrongs *wrongs)
{
    static const zip_wrongs none;
    const zip_wrongs *w = wrongs ? wrongs : &none;
    const char *local = w->local_name ? w->local_name : name;
    const size_t at = z->archive.size, extra = w->sized_64 ? (w->cut_64 ? 12 : 20) : 0;
    const uint32_t said = w->sized_64 ? UINT32_MAX : (uint32_t)size + w->more;
    image *a = &z->archive, *d = &z->directory;
    image_put(a, "PK\3\4", 4);
    image_number(a, 2, 0);
    image_number(a, 2, w->flags);
    image_number(a, 2, w->method);
    image_number(a, 8, 0); /* time, date, checksum */
    image_number(a, 4, size);
    image_number(a, 4, size);
    image_number(a, 2, strlen(local));
    image_number(a, 2, 3); /* an extra field: torch.save aligns data by it */
    image_put(a, local, strlen(local));
    image_put(a, "xyz", 3);
    image_put(a, data, size);
    image_put(d, "PK\1\2", 4);
    image_number(d, 4, 0);
    image_number(d, 2, w->flags);
    image_number(d, 2, w->method);
    image_number(d, 8, 0);
    image_number(d, 4, said);
    image_number(d, 4, said);
    image_number(d, 2, strlen(name));
    image_number(d, 2, extra);
    image_number(d, 2, 0);
    image_number(d, 8, 0);
    image_number(d, 4, at);
    image_put(d, name, strlen(name));
    if (extra) {
        image_number(d, 2, 1);
        image_number(d, 2, extra - 4);
        image_number(d, 8, size + w->more);
        image_number(d, extra - 12, size + w->more);
    }
    z->count++;
}

/* The whole archive; `count` entries are stated, or, with 0, as many as there are. Frees the image. */
static inline image zip_end(zip_image *z, unsigned count)
{
    image a = z->archive;
    const size_t at = a.size;
    image_put(&a, z->directory.bytes, z->directory.size);
    image_put(&a, "PK\5\6\0\0\0\0", 8);
    image_number(&a, 2, count ? count : z->count);
    image_number(&a, 2, count ? count : z->count);
    image_number(&a, 4, z->directory.size);
    image_number(&a, 4, at);
    image_number(&a, 2, 0);
    image_free(&z->directory);
    *z = (zip_image){.count = 0};
    return a;
}

/* ---- pickles ------------------------------------------------------------------------------------------------ */

static inline void pickle_put(image *p, const char *text)
{
    image_put(p, text, strlen(text));
}

static inline void pickle_text(image *p, const char *text)
{
    pickle_put(p, "X");
    image_number(p, 4, strlen(text));
    pickle_put(p, text);
}

static inline void pickle_integer(image *p, int64_t value)
{
    image_put(p, "\x8A\x08", 2);
    image_number(p, 8, (uint64_t)value);
}

static inline void pickle_sizes(image *p, const int64_t *sizes, size_t count)
{
    pickle_put(p, "(");
    for (size_t i = 0; i < count; i++)
        pickle_integer(p, sizes[i]);
    pickle_put(p, "t");
}

/* A tensor of a storage. */
typedef struct tensor_image {
    const char *type, *key; /* "FloatStorage"; "0" */
    int64_t elements, offset;
    size_t ndim, strides;
    int64_t shape[10], stride[10];
    const char *sixth; /* of its id, in the format before PyTorch 1.6: "N"; NULL: it has none */
} tensor_image;

/* The call that rebuilds it. */
static inline void pickle_tensor(image *p, const tensor_image *t)
{
    pickle_put(p, "ctorch._utils\n_rebuild_tensor_v2\n((");
    pickle_text(p, "storage");
    pickle_put(p, "ctorch\n");
    pickle_put(p, t->type);
    pickle_put(p, "\n");
    pickle_text(p, t->key);
    pickle_text(p, "cpu");
    pickle_integer(p, t->elements);
    pickle_put(p, t->sixth ? t->sixth : "");
    pickle_put(p, "tQ");
    pickle_integer(p, t->offset);
    pickle_sizes(p, t->shape, t->ndim);
    pickle_sizes(p, t->stride, t->strides);
    pickle_put(p, "\x89" "ccollections\nOrderedDict\n)RtR");
}

/* The archive of torch.save with this pickle and the storage 0 of these bytes. Frees the pickle. */
static inline image torch_image(image *pickle, const void *storage, size_t size)
{
    zip_image z = {.count = 0};
    zip_put(&z, "archive/data.pkl", pickle->bytes, pickle->size, NULL);
    zip_put(&z, "archive/byteorder", "little", 6, NULL);
    zip_put(&z, "archive/data/0", storage, size, NULL);
    zip_put(&z, "archive/version", "3\n", 2, NULL);
    image_free(pickle);
    return zip_end(&z, 0);
}

/* ---- the format before PyTorch 1.6 -------------------------------------------------------------------------- */

/* What stands before the pickle of the dict: number, version, system information. */
static inline void older_head(image *m)
{
    image_put(m, "\x80\x02\x8A\x0A\x6C\xFC\x9C\x46\xF9\x20\x6A\xA8\x50\x19.\x80\x02M\xE9\x03.", 21);
    pickle_put(m, "\x80\x02}");
    pickle_text(m, "little_endian");
    pickle_put(m, "\x88s.");
}

/* The file with this pickle and the storage "0" of `count` elements of `width` bytes. Frees the pickle. */
static inline image older_image(image *pickle, const void *storage, size_t count, size_t width)
{
    image m = {NULL, 0};
    older_head(&m);
    image_put(&m, pickle->bytes, pickle->size);
    pickle_put(&m, "\x80\x02]");
    pickle_text(&m, "0");
    pickle_put(&m, "a.");
    image_number(&m, 8, count);
    image_put(&m, storage, count * width);
    image_free(pickle);
    return m;
}

#endif
