/* serve/module/keys.c: reads a file of keys, and compares in constant time. */
#define _GNU_SOURCE /* explicit_bzero */
#include "serve/module/keys.h"

#include "base/buffer.h"
#include "base/file.h"
#include "base/quote.h"

#include <stdio.h>
#include <string.h>

enum { FILE_BYTES_MAX = 1 << 20 };

typedef struct api_key {
    unsigned char bytes[KEYS_MAX_BYTES]; /* padded with zeros */
    size_t size;
    char owner[KEYS_NAME];
} api_key;

struct keys {
    api_key *at;
    size_t count, capacity;
};

static bool is_key_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Removes blanks at both ends, which are invisible in a file and in the value of a header. */
static const char *trim_key(const char *text, size_t *size)
{
    for (; *size && is_key_blank(text[*size - 1]); --*size)
        continue;
    for (; *size && is_key_blank(*text); text++)
        --*size;
    return text;
}

/* The size of the key before " # NAME", or the same with tabs; *name: the text behind "#", or NULL. */
static size_t split_name(const char *line, size_t size, const char **name, size_t *name_size)
{
    *name = NULL;
    for (size_t i = 1; i < size; i++)
        if (line[i] == '#' && is_key_blank(line[i - 1])) {
            *name_size = size - i - 1;
            *name = trim_key(line + i + 1, name_size);
            size = i;
            trim_key(line, &size);
            break;
        }
    return size;
}

static rapt_code add_key(keys *k, const char *line, size_t size, const char *path, size_t number, rapt_error *err)
{
    const char *name;
    size_t name_size = 0;
    size = split_name(line, size, &name, &name_size);
    if (name_size >= KEYS_NAME || (name && memchr(name, '\0', name_size)))
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s:%zu: the name of a key's owner has at most %d bytes", path, number,
                         KEYS_NAME - 1);
    if (size > KEYS_MAX_BYTES || memchr(line, '\0', size))
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s:%zu: a key has at most %d bytes, and no NUL", path, number, KEYS_MAX_BYTES);
    if (!ARRAY_RESERVE(&k->at, &k->capacity, k->count + 1))
        return rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for keys", path);
    api_key *to = &k->at[k->count++];
    *to = (api_key){.size = size};
    memcpy(to->bytes, line, size);
    snprintf(to->owner, sizeof to->owner, "%.*s", (int)name_size, name ? name : "");
    quote_clean(to->owner);
    return RAPT_OK;
}

static rapt_code add_lines(keys *k, const char *text, size_t size, const char *path, rapt_error *err)
{
    size_t number = 1;
    rapt_code code = RAPT_OK;
    for (const char *end = text + size; text < end && !code; number++) {
        const char *newline = memchr(text, '\n', (size_t)(end - text)), *next = newline ? newline + 1 : end;
        size_t length = (size_t)((newline ? newline : end) - text);
        const char *key = trim_key(text, &length);
        if (length && *key != '#')
            code = add_key(k, key, length, path, number, err);
        text = next;
    }
    return code;
}

keys *keys_read(const char *path, rapt_error *err)
{
    char *text;
    size_t size;
    keys *k = calloc(1, sizeof *k);
    if (!k) {
        rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for keys", path);
        return NULL;
    }
    rapt_code code = file_read(path, FILE_BYTES_MAX, &text, &size, err);
    if (!code) {
        code = add_lines(k, text, size, path, err);
        explicit_bzero(text, size);
        free(text);
    }
    if (!code && k->count == 0)
        code = rapt_fail(err, RAPT_ERR_VALUE, "%s: there is no key in it", path);
    if (!code)
        return k;
    keys_free(k);
    return NULL;
}

void keys_free(keys *k)
{
    if (!k)
        return;
    if (k->at)
        explicit_bzero(k->at, k->capacity * sizeof *k->at);
    free(k->at);
    free(k);
}

const char *keys_owner(const keys *k, const char *key)
{
    unsigned char given[KEYS_MAX_BYTES] = {0};
    size_t size = key ? strlen(key) : 0;
    const char *owner = NULL;
    if (key)
        key = trim_key(key, &size);
    if (size == 0 || size > KEYS_MAX_BYTES)
        return NULL;
    memcpy(given, key, size);
    for (size_t i = 0; i < k->count; i++) { /* all bytes of all keys, even after a match, so that the time tells nothing */
        unsigned differs = k->at[i].size != size;
        for (size_t b = 0; b < KEYS_MAX_BYTES; b++)
            differs |= (unsigned)(k->at[i].bytes[b] ^ given[b]);
        owner = differs ? owner : k->at[i].owner;
    }
    explicit_bzero(given, sizeof given);
    return owner;
}
