/* io/weights/torch_file.c: reads the tensors of a zip archive and its pickle. torch_state.c reads the pickle's contents,
 * torch_older.c the format before archives. */
#include "io/weights/torch_file.h"

#include "io/weights/torch_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PREFIX = 300 };

typedef struct torch_archive {
    torch_state state;
    char prefix[MAX_PREFIX]; /* "NAME/" */
    zip_file zip;
} torch_archive;

/* Sets the prefix from the pickle's entry, "NAME/data.pkl". */
static rapt_code find_pickle(torch_archive *a, const zip_entry **found)
{
    static const char tail[] = "/data.pkl";
    const size_t tail_size = sizeof tail - 1;
    *found = NULL;
    for (size_t i = 0; i < a->zip.count; i++) {
        const zip_entry *e = &a->zip.entries[i];
        if (e->name_size <= tail_size || e->name_size - tail_size >= MAX_PREFIX - 1 ||
            memcmp(e->name + e->name_size - tail_size, tail, tail_size) != 0 ||
            memchr(e->name, '/', e->name_size - tail_size) || memchr(e->name, '\0', e->name_size))
            continue;
        if (*found)
            return torch_state_bad(&a->state, "the archive has more than one data.pkl");
        *found = e;
        snprintf(a->prefix, sizeof a->prefix, "%.*s/", (int)(e->name_size - tail_size), e->name);
    }
    return *found ? RAPT_OK : torch_state_bad(&a->state, "the archive has no NAME/data.pkl: not a file of torch.save");
}

static rapt_code check_byte_order(const torch_archive *a)
{
    char name[MAX_PREFIX + 16];
    int size = snprintf(name, sizeof name, "%sbyteorder", a->prefix);
    const zip_entry *e = zip_find(&a->zip, name, (size_t)size);
    bool little = !e || (e->size == 6 && memcmp(e->data, "little", 6) == 0);
    return little ? RAPT_OK : torch_state_bad(&a->state, "its numbers are not little-endian, says its entry byteorder");
}

/* The entry "NAME/data/KEY". */
static const zip_entry *find_storage(const torch_archive *a, const torch_storage *s)
{
    char name[MAX_PREFIX + 80];
    int size = snprintf(name, sizeof name, "%sdata/%.*s", a->prefix, (int)(s->key_size < 64 ? s->key_size : 64), s->key);
    return s->key_size < 64 ? zip_find(&a->zip, name, (size_t)size) : NULL;
}

static rapt_code place_storage(const torch_archive *a, torch_storage *s)
{
    const zip_entry *entry = find_storage(a, s);
    if (!entry)
        return torch_state_bad(&a->state, "the archive has no storage %s", torch_state_quote(s->key, s->key_size).text);
    if (!torch_storage_holds(s, entry->size))
        return torch_state_bad(&a->state, "storage %s has %zu bytes, and not %zu elements of %s",
                               torch_state_quote(s->key, s->key_size).text, entry->size, s->elements,
                               safetensors_dtype_name(s->dtype));
    s->data = entry->data;
    return RAPT_OK;
}

static rapt_code read_archive(torch_archive *a, torch_file *out)
{
    torch_state *s = &a->state;
    const zip_entry *entry;
    size_t at = 0;
    rapt_code code = find_pickle(a, &entry);
    if (!code)
        code = check_byte_order(a);
    if (!code && entry->size > PICKLE_MAX)
        code = torch_state_bad(s, "the pickle has %zu bytes; at most %zu are read", entry->size, PICKLE_MAX);
    if (!code)
        code = torch_state_read(s, entry->data, entry->size, &at);
    for (size_t i = 0; i < s->storage_count && !code; i++)
        code = place_storage(a, &s->storages[i]);
    return code ? code : torch_state_take(s, out);
}

bool torch_file_begins(const char *bytes, size_t size)
{
    return zip_begins(bytes, size) || torch_older_begins(bytes, size);
}

rapt_code torch_file_read(torch_file *out, const char *path, const char *bytes, size_t size, rapt_error *err)
{
    rapt_error own = {0}; /* one that holds an earlier failure would hide ours */
    torch_archive a = {.state = {.path = path, .err = &own, .older = torch_older_begins(bytes, size)}};
    rapt_code code = RAPT_OK;
    *out = (torch_file){0};
    if (a.state.older)
        code = torch_older_read(&a.state, bytes, size, out);
    else {
        code = zip_read(&a.zip, path, bytes, size, &own);
        if (!code)
            code = read_archive(&a, out);
        zip_free(&a.zip);
    }
    torch_state_free(&a.state);
    if (code)
        torch_file_free(out);
    return code ? rapt_fail(err, code, "%s", own.message) : RAPT_OK;
}

void torch_file_free(torch_file *f)
{
    free(f->tensors);
    free(f->names);
    *f = (torch_file){0};
}
