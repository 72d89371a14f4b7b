/* io/weights/torch_older.c: reads files of torch.save before PyTorch 1.6, as _legacy_load in torch/serialization.py does.
 * torch_state.c reads the dict of tensors. */
#include "io/weights/torch_parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The pickles of the number 0x1950a86a20f9469cfc6c and of version 1001. */
static const char NUMBER[] = "\x80\x02\x8A\x0A\x6C\xFC\x9C\x46\xF9\x20\x6A\xA8\x50\x19.";
static const char VERSION[] = "\x80\x02M\xE9\x03.";
enum { NUMBER_BYTES = sizeof NUMBER - 1, VERSION_BYTES = sizeof VERSION - 1, NUMBER_KNOWN = 5 };
enum { TAR_AT = 257, TAR_BYTES = 5 };

typedef struct older_reader {
    torch_state *state;
    const char *bytes;
    size_t size, at;
    torch_storage **by_key;
} older_reader;

static bool is_tar(const char *bytes, size_t size)
{
    return size >= TAR_AT + TAR_BYTES && memcmp(bytes + TAR_AT, "ustar", TAR_BYTES) == 0;
}

bool torch_older_begins(const char *bytes, size_t size)
{
    return is_tar(bytes, size) || (size >= NUMBER_KNOWN && memcmp(bytes, NUMBER, NUMBER_KNOWN) == 0);
}

/* ---- pickles of plain values ------------------------------------------------------------------------------------------ */

static bool no_name(void *context, const char *name, pickle_value *out)
{
    (void)context, (void)name, (void)out;
    return false;
}

static rapt_code no_storage(void *context, const pickle_value *id, pickle_value *out, rapt_error *err)
{
    const torch_state *s = context;
    (void)id, (void)out, (void)err;
    return torch_state_bad(s, "a storage is described outside the dict of tensors");
}

/* On success the caller frees *p, which owns *value. */
static rapt_code read_plain(older_reader *r, pickle **p, pickle_value *value)
{
    const pickle_caller caller = {r->state, no_name, NULL, no_storage}; /* no names are allowed, so nothing is called */
    return pickle_read(r->state->path, r->bytes, r->size, &r->at, &caller, p, value, r->state->err);
}

static bool says_little_endian(const pickle_value *dict)
{
    bool little = false;
    const pickle_value *values = dict->kind == PICKLE_DICT ? dict->items->values : NULL;
    for (size_t i = 0; values && i < dict->items->count; i += 2)
        if (values[i].kind == PICKLE_TEXT && values[i].size == 13 && memcmp(values[i].text, "little_endian", 13) == 0)
            little = values[i + 1].kind == PICKLE_BOOL && values[i + 1].integer;
    return little;
}

static rapt_code read_older_head(older_reader *r)
{
    if (r->size < NUMBER_BYTES + VERSION_BYTES || memcmp(r->bytes, NUMBER, NUMBER_BYTES) != 0 ||
        memcmp(r->bytes + NUMBER_BYTES, VERSION, VERSION_BYTES) != 0)
        return torch_state_bad(r->state, "it does not begin with the number and version of torch.save before version 1.6");
    r->at = NUMBER_BYTES + VERSION_BYTES;
    pickle *p;
    pickle_value system;
    rapt_code code = read_plain(r, &p, &system);
    if (code)
        return code;
    bool little = says_little_endian(&system);
    pickle_free(p);
    return little ? RAPT_OK : torch_state_bad(r->state, "its third pickle does not say that numbers are little-endian");
}

/* ---- storages --------------------------------------------------------------------------------------------------------- */

static int compare_storages(const torch_storage *a, const torch_storage *b)
{
    size_t common = a->key_size < b->key_size ? a->key_size : b->key_size;
    int order = common > 0 ? memcmp(a->key, b->key, common) : 0;
    return order ? order : (a->key_size > b->key_size) - (a->key_size < b->key_size);
}

static int by_key(const void *left, const void *right)
{
    return compare_storages(*(torch_storage *const *)left, *(torch_storage *const *)right);
}

/* Sorts mentions of storages, so that mentions of one storage are adjacent; they must agree. */
static rapt_code sort_storages(older_reader *r)
{
    torch_state *s = r->state;
    r->by_key = calloc(s->storage_count + 1, sizeof(torch_storage *));
    if (!r->by_key)
        return torch_state_no_memory(s);
    for (size_t i = 0; i < s->storage_count; i++)
        r->by_key[i] = &s->storages[i];
    qsort(r->by_key, s->storage_count, sizeof *r->by_key, by_key);
    for (size_t i = 1; i < s->storage_count; i++) {
        const torch_storage *a = r->by_key[i - 1], *b = r->by_key[i];
        if (compare_storages(a, b) == 0 && (a->dtype != b->dtype || a->elements != b->elements))
            return torch_state_bad(s, "storage %s is described in two ways", torch_state_quote(a->key, a->key_size).text);
    }
    return RAPT_OK;
}

/* The first mention of a key. */
static rapt_code find_mention(const older_reader *r, const pickle_value *key, size_t *found)
{
    if (key->kind != PICKLE_TEXT)
        return torch_state_bad(r->state, "the list of storages has %s, not a key", pickle_kind_name(key->kind));
    const torch_storage wanted = {.key = key->text, .key_size = key->size};
    size_t low = 0, high = r->state->storage_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (compare_storages(r->by_key[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *found = low;
    if (low == r->state->storage_count || compare_storages(r->by_key[low], &wanted) != 0)
        return torch_state_bad(r->state, "storage %s of the list is none of the tensors'",
                               torch_state_quote(key->text, key->size).text);
    return RAPT_OK;
}

/* Takes the data of the next storage of the list from the current place in the file. */
static rapt_code take_storage(older_reader *r, const pickle_value *key)
{
    torch_state *s = r->state;
    size_t first = 0;
    uint64_t elements;
    rapt_code code = find_mention(r, key, &first);
    if (code)
        return code;
    const torch_storage *storage = r->by_key[first];
    const quoted shown = torch_state_quote(key->text, key->size);
    const size_t left = r->size - r->at, width = safetensors_dtype_bytes(storage->dtype);
    if (storage->data)
        return torch_state_bad(s, "storage %s comes twice in the list", shown.text);
    if (left < sizeof elements)
        return torch_state_bad(s, "the file ends before storage %s; is it cut off?", shown.text);
    memcpy(&elements, r->bytes + r->at, sizeof elements);
    if (elements != storage->elements)
        return torch_state_bad(s, "storage %s has %" PRIu64 " elements, and not %zu", shown.text, elements, storage->elements);
    if (storage->elements > (left - sizeof elements) / width)
        return torch_state_bad(s, "the file ends within storage %s; is it cut off?", shown.text);
    for (size_t i = first; i < s->storage_count && compare_storages(storage, r->by_key[i]) == 0; i++)
        r->by_key[i]->data = r->bytes + r->at + sizeof elements;
    r->at += sizeof elements + storage->elements * width;
    return RAPT_OK;
}

static rapt_code take_storages(older_reader *r, const pickle_value *list)
{
    const torch_state *s = r->state;
    rapt_code code = list->kind == PICKLE_LIST ? RAPT_OK : torch_state_bad(s, "it has %s, not a list of storages",
                                                                           pickle_kind_name(list->kind));
    for (size_t i = 0; !code && i < list->items->count; i++)
        code = take_storage(r, &list->items->values[i]);
    for (size_t i = 0; !code && i < s->storage_count; i++)
        if (!s->storages[i].data)
            code = torch_state_bad(s, "storage %s is not in the list of storages",
                                   torch_state_quote(s->storages[i].key, s->storages[i].key_size).text);
    if (!code && r->at < r->size)
        code = torch_state_bad(s, "%zu bytes follow the last storage", r->size - r->at);
    return code;
}

static rapt_code read_storages(older_reader *r)
{
    pickle *p = NULL;
    pickle_value list = {.kind = PICKLE_NONE};
    rapt_code code = read_plain(r, &p, &list);
    if (!code)
        code = sort_storages(r);
    if (!code)
        code = take_storages(r, &list);
    free(r->by_key);
    pickle_free(p);
    return code;
}

rapt_code torch_older_read(torch_state *s, const char *bytes, size_t size, torch_file *out)
{
    older_reader r = {.state = s, .bytes = bytes, .size = size};
    if (is_tar(bytes, size))
        return torch_state_bad(s, "a tar archive, the oldest format of torch.save, which is not read");
    rapt_code code = read_older_head(&r);
    if (!code)
        code = torch_state_read(s, bytes, size, &r.at);
    if (!code)
        code = read_storages(&r);
    return code ? code : torch_state_take(s, out);
}
