/* text/tokenizer.c: the public functions of every tokenizer, dispatched to its kind: words_tokenizer.c, characters.c,
 * byte_bpe.c. For training, data and decoding. Files are in tokenizer_file.c. */
#include "text/tokenizer.h"

#include "base/buffer.h"
#include "base/sized.h"
#include "text/token_trie.h"

#include <stdlib.h>
#include <string.h>

void rapt_tokenizer_free(rapt_tokenizer *k)
{
    if (!k)
        return;
    token_trie_free(atomic_load(&k->trie));
    k->ops->free(k);
}

rapt_tokenizer_kind rapt_tokenizer_kind_of(const rapt_tokenizer *k)
{
    return k->ops->kind;
}

size_t rapt_tokenizer_size(const rapt_tokenizer *k)
{
    return k->ops->size(k);
}

const char *rapt_tokenizer_token(const rapt_tokenizer *k, int32_t id, size_t *size)
{
    return k->ops->token(k, id, size);
}

int32_t rapt_tokenizer_special(const rapt_tokenizer *k, const char *text)
{
    return k->ops->special(k, text);
}

uint64_t rapt_tokenizer_hash(const rapt_tokenizer *k)
{
    return k->ops->hash(k);
}

SIZED_ENDS_WITH(rapt_encode_options, reserved);

void rapt_encode_options_init(rapt_encode_options *o, size_t size)
{
    sized_init(o, size, &(rapt_encode_options){.size = sizeof(rapt_encode_options)}, sizeof *o);
}

rapt_code tokenizer_take_options(const rapt_encode_options *given, rapt_encode_options *out, rapt_error *err)
{
    *out = rapt_encode_options_default();
    return sized_take(out, given, out->reserved, sizeof out->reserved, "encode_options", err);
}

rapt_code rapt_tokenizer_encode_to(const rapt_tokenizer *k, const char *text, size_t size, const rapt_encode_options *options,
                                   rapt_ids_fn *sink, void *context, rapt_error *err)
{
    rapt_encode_options o;
    rapt_code code = tokenizer_take_options(options, &o, err);
    return code ? code : k->ops->encode_to(k, text, size, o.specials, sink, context, err);
}

rapt_code id_list_append(void *context, const int32_t *ids, size_t count, rapt_error *err)
{
    id_list *list = context;
    if (!ARRAY_RESERVE(&list->ids, &list->capacity, list->count + count))
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu ids", list->count + count);
    memcpy(list->ids + list->count, ids, count * sizeof *ids);
    list->count += count;
    return RAPT_OK;
}

rapt_code tokenizer_encode_bytes(const rapt_tokenizer *k, const char *text, size_t size, bool specials, int32_t **ids,
                                 size_t *count, rapt_error *err)
{
    id_list list = {0};
    size_t expected = size / 4 + 16;
    rapt_code code = ARRAY_RESERVE(&list.ids, &list.capacity, expected)
                         ? k->ops->encode_to(k, text, size, specials, id_list_append, &list, err)
                         : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu ids", expected);
    if (code)
        free(list.ids);
    *ids = code ? NULL : list.ids;
    *count = code ? 0 : list.count;
    return code;
}

rapt_code rapt_tokenizer_encode_bytes(const rapt_tokenizer *k, const char *text, size_t size,
                                      const rapt_encode_options *options, int32_t **ids, size_t *count, rapt_error *err)
{
    rapt_encode_options o;
    *ids = NULL;
    *count = 0;
    rapt_code code = tokenizer_take_options(options, &o, err);
    return code ? code : tokenizer_encode_bytes(k, text, size, o.specials, ids, count, err);
}

rapt_code rapt_tokenizer_encode(const rapt_tokenizer *k, const char *text, int32_t **ids, size_t *count, rapt_error *err)
{
    return tokenizer_encode_bytes(k, text, strlen(text), false, ids, count, err);
}

rapt_code tokenizer_encode_within(const rapt_tokenizer *k, const char *text, size_t size, bool specials, int32_t **ids,
                                  size_t *count, rapt_error *err)
{
    size_t before = 0, after = 0;
    rapt_code code = tokenizer_encode_bytes(k, text, size, specials, ids, count, err);
    if (code || !specials || !k->ops->frame)
        return code;
    k->ops->frame(k, &before, &after);
    *count -= before + after;
    memmove(*ids, *ids + before, *count * sizeof **ids);
    return RAPT_OK;
}

const char *const tokenizer_specials[RAPT_SPECIALS] = {"<unk>", "<pad>", "<bos>", "<eos>"};

bool rapt_tokenizer_has_specials(const rapt_tokenizer *k)
{
    for (int32_t i = 0; i < RAPT_SPECIALS; i++)
        if (k->ops->special(k, tokenizer_specials[i]) != i)
            return false;
    return true;
}

bool tokenizer_lowercases(const rapt_tokenizer *k)
{
    return k->ops->lowercases && k->ops->lowercases(k);
}

bool tokenizer_is_foreign(const rapt_tokenizer *k)
{
    return k->ops->is_foreign && k->ops->is_foreign(k);
}

char *rapt_tokenizer_decode(const rapt_tokenizer *k, const int32_t *ids, size_t count, size_t *size)
{
    return k->ops->decode(k, ids, count, size);
}

char *tokenizer_join(const rapt_tokenizer *k, const int32_t *ids, size_t count, size_t *size)
{
    size_t capacity = 1, length;
    for (size_t i = 0; i < count; i++)
        capacity += k->ops->token(k, ids[i], &length) ? length : 0;
    char *text = malloc(capacity), *to = text;
    for (size_t i = 0; text && i < count; i++) {
        const char *token = k->ops->token(k, ids[i], &length);
        if (!token)
            continue;
        memcpy(to, token, length);
        to += length;
    }
    if (text)
        *to = '\0';
    if (text && size)
        *size = (size_t)(to - text);
    return text;
}
