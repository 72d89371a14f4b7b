/* text/hf/hf_read.c: a Hugging Face tokenizer.json with a byte-level BPE model. For rapt_tokenizer_load. The ids are the same as
 * from `tokenizers`, or the file is refused; hf_components.c reads the parts around the model. */
#include "text/hf/hf_read.h"

#include "base/quote.h"
#include "text/hf/byte_letters.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_IDS = 1 << 22, MAX_LETTERS = 1 << 20, SHORT_TOKEN = 256 };

static rapt_code hf_read_fail_memory(const hf_reading *r)
{
    return rapt_fail(r->err, RAPT_ERR_MEMORY, "%s: out of memory for the tokenizer", r->path);
}

/* Keys that are not among those that we know must be null, false, 0 or "". */
static rapt_code check_keys(const hf_reading *r, const json_t *object, const char *const *known, size_t count)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value)
    {
        bool found = hf_is_off(value);
        for (size_t i = 0; i < count && !found; i++)
            found = strcmp(key, known[i]) == 0;
        if (!found)
            return hf_refuse(r, quote(key).text, value);
    }
    return RAPT_OK;
}

/* unk_token, fuse_unk and byte_fallback have no effect: they are for bytes without a token, and here every byte has one. */
static rapt_code hf_read_check_model(const hf_reading *r, const json_t *model)
{
    static const char *const outer[] = {"version",       "added_tokens",   "normalizer", "pre_tokenizer",
                                        "post_processor", "decoder",        "model",      "truncation", "padding"};
    static const char *const inner[] = {"type",   "vocab",        "merges",        "unk_token",
                                        "fuse_unk", "byte_fallback", "ignore_merges"};
    if (*hf_type(model) && strcmp(hf_type(model), "BPE") != 0)
        return hf_refuse(r, "model", model);
    if (!json_is_object(json_object_get(model, "vocab")) || !json_is_array(json_object_get(model, "merges")))
        return rapt_fail(r->err, RAPT_ERR_FORMAT, "%s: the model has no vocab, or no merges", r->path);
    rapt_code code = check_keys(r, r->root, outer, sizeof outer / sizeof *outer);
    return code ? code : check_keys(r, model, inner, sizeof inner / sizeof *inner);
}

/* ---- vocabulary --------------------------------------------------------------------------------------------- */

/* A message about a token; the file need not have a NUL behind it. */
RAPT_PRINTF(4, 5)
static rapt_code refuse_token(const hf_reading *r, const char *letters, size_t size, const char *format, ...)
{
    char name[sizeof(quoted) + 1], reason[80];
    va_list arguments;
    const size_t shown = size < sizeof name - 1 ? size : sizeof name - 1;
    memcpy(name, letters, shown);
    name[shown] = '\0';
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    return rapt_fail(r->err, RAPT_ERR_FORMAT, "%s: token \"%s\"%s", r->path, quote(name).text, reason);
}

/* Puts a token that is written in letters of bytes, or else is kept unchanged, but then no text becomes it. `bytes` has capacity
 * for `size`. */
static rapt_code put_letters(const hf_reading *r, size_t id, const char *letters, size_t size, char *bytes)
{
    size_t length = 0;
    const bool written = byte_letters_read(letters, size, bytes, &length) && length > 0;
    token_list *of = written ? &r->b->tokens : r->others;
    if (token_list_find(of, written ? bytes : letters, written ? length : size) >= 0)
        return refuse_token(r, letters, size, " is there twice");
    bool ok = token_list_put(&r->b->tokens, id, written ? bytes : letters, written ? length : size, written);
    ok = ok && (written || token_list_add(r->others, letters, size) >= 0);
    return ok ? RAPT_OK : hf_read_fail_memory(r);
}

rapt_code hf_take_token(const hf_reading *r, int64_t id, const char *letters, size_t size)
{
    char small[SHORT_TOKEN];
    if (id < 0 || id >= MAX_IDS || size > MAX_LETTERS)
        return refuse_token(r, letters, size, " has no sensible id");
    if (token_list_at(&r->b->tokens, id, NULL))
        return refuse_token(r, letters, size, ": id %lld is another token's", (long long)id);
    char *bytes = size > sizeof small ? malloc(size) : small;
    rapt_code code = bytes ? put_letters(r, (size_t)id, letters, size, bytes) : hf_read_fail_memory(r);
    if (bytes != small)
        free(bytes);
    return code;
}

static rapt_code take_json_tokens(const hf_reading *r)
{
    json_t *vocab = json_object_get(json_object_get(r->root, "model"), "vocab"), *id;
    const char *letters;
    if (!token_list_reserve(&r->b->tokens, json_object_size(vocab), 0))
        return hf_read_fail_memory(r);
    json_object_foreach(vocab, letters, id)
    {
        rapt_code code = hf_take_token(r, json_is_integer(id) ? json_integer_value(id) : -1, letters, strlen(letters));
        if (code)
            return code;
    }
    return RAPT_OK;
}

static rapt_code take_vocabulary(const hf_reading *r)
{
    rapt_error why = {0};
    rapt_code code = r->lists->tokens(r);
    if (code)
        return code;
    code = byte_bpe_find_bytes(r->b, &why);
    return code ? rapt_fail(r->err, code, "%s: %s", r->path, why.message) : RAPT_OK;
}

/* ---- merges ------------------------------------------------------------------------------------------------- */

/* The token with these letters, or -1. `buffer` has capacity for `size` bytes. */
static int32_t find_letters(const hf_reading *r, const char *letters, size_t size, char *buffer)
{
    size_t length;
    return byte_letters_read(letters, size, buffer, &length) ? token_list_find(&r->b->tokens, buffer, length) : -1;
}

rapt_code hf_take_merge(const hf_reading *r, size_t i, const char *left, size_t left_size, const char *right, size_t right_size)
{
    rapt_error why = {0};
    char small[SHORT_TOKEN], *buffer = small;
    const size_t size = left_size > right_size ? left_size : right_size;
    if (size > sizeof small && !(buffer = malloc(size)))
        return hf_read_fail_memory(r);
    int32_t x = find_letters(r, left, left_size, buffer), y = find_letters(r, right, right_size, buffer);
    if (buffer != small)
        free(buffer);
    if (x < 0 || y < 0)
        return rapt_fail(r->err, RAPT_ERR_FORMAT, "%s: merge %zu names a token that is not in the vocabulary", r->path, i);
    rapt_code code = byte_bpe_add_merge(r->b, x, y, (uint32_t)i, &why);
    return code ? rapt_fail(r->err, code, "%s: merge %zu: %s", r->path, i, why.message) : RAPT_OK;
}

rapt_code hf_take_merge_text(const hf_reading *r, size_t i, const char *text, size_t size)
{
    const char *space = size ? memchr(text, ' ', size) : NULL;
    const size_t left = space ? (size_t)(space - text) : 0, right = space ? size - left - 1 : 0;
    if (!space || memchr(space + 1, ' ', right))
        return rapt_fail(r->err, RAPT_ERR_FORMAT, "%s: merge %zu is not two tokens", r->path, i);
    return hf_take_merge(r, i, text, left, space + 1, right);
}

/* "a b" or ["a", "b"]. */
static rapt_code take_json_merge(const hf_reading *r, size_t i, const json_t *merge)
{
    const json_t *x = json_array_get(merge, 0), *y = json_array_get(merge, 1);
    const char *text = json_string_value(merge);
    if (json_array_size(merge) == 2 && json_is_string(x) && json_is_string(y))
        return hf_take_merge(r, i, json_string_value(x), json_string_length(x), json_string_value(y), json_string_length(y));
    return hf_take_merge_text(r, i, text, text ? strlen(text) : 0);
}

static rapt_code take_json_merges(const hf_reading *r)
{
    const json_t *merges = json_object_get(json_object_get(r->root, "model"), "merges");
    rapt_code code = pair_table_reserve(&r->b->pairs, json_array_size(merges)) ? RAPT_OK : hf_read_fail_memory(r);
    for (size_t i = 0; i < json_array_size(merges) && code == RAPT_OK; i++)
        code = take_json_merge(r, i, json_array_get(merges, i));
    return code;
}

/* ---- added tokens ------------------------------------------------------------------------------------------- */

/* The id that `tokenizers` gives to an added token, regardless of the file: the vocabulary's, or the next free id. */
static json_int_t id_of_added(const hf_reading *r, const json_t *vocab, const char *content)
{
    const json_t *there = json_object_get(vocab, content);
    json_int_t next = (json_int_t)json_object_size(vocab);
    for (size_t i = 0; i < r->b->specials.count; i++)
        if (r->b->specials.list[i].id >= next)
            next = r->b->specials.list[i].id + 1;
    return there ? json_integer_value(there) : next;
}

/* Whether normalization could change a text around the token: `tokenizers` searches for "normalized" tokens in the normalized
 * text. White space composes with no character. */
static bool may_change(const normalizer *n, const char *content)
{
    bool composes = content[strspn(content, " \t\r\n")] != '\0', other = false;
    for (size_t i = 0; i < n->count; i++)
        other = other || n->steps[i].kind != NORMALIZER_NFC;
    return other || (n->count > 0 && composes);
}

static rapt_code check_added(const hf_reading *r, const json_t *added, const json_t *vocab, const char *content)
{
    static const char *const flags[] = {"single_word", "lstrip", "rstrip"};
    json_int_t id = json_integer_value(json_object_get(added, "id")), expected = id_of_added(r, vocab, content);
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (json_is_true(json_object_get(added, flags[i])))
            return rapt_fail(r->err, RAPT_ERR_FORMAT, "%s: added token \"%s\": %s is not supported", r->path,
                             quote(content).text, flags[i]);
    if (json_is_true(json_object_get(added, "normalized")) && may_change(&r->b->normal, content))
        return rapt_fail(r->err, RAPT_ERR_FORMAT, "%s: added token \"%s\": normalized is not supported with a normalizer",
                         r->path,
                         quote(content).text);
    if (id != expected || (!json_object_get(vocab, content) && token_list_at(&r->b->tokens, id, NULL)))
        return rapt_fail(r->err, RAPT_ERR_FORMAT, "%s: added token \"%s\": id %lld, where tokenizers would give it %lld", r->path,
                         quote(content).text, (long long)id, (long long)expected);
    return RAPT_OK;
}

static rapt_code take_added(const hf_reading *r, const json_t *added, const json_t *vocab)
{
    rapt_error why = {0};
    const json_t *text = json_object_get(added, "content");
    const char *content = json_string_value(text);
    if (!content || !*content || strlen(content) != json_string_length(text))
        return rapt_fail(r->err, RAPT_ERR_FORMAT, "%s: an added token without content", r->path);
    rapt_code code = check_added(r, added, vocab, content);
    if (code)
        return code;
    bool always = !json_is_true(json_object_get(added, "special"));
    code = byte_bpe_add_special(r->b, (size_t)json_integer_value(json_object_get(added, "id")), content, strlen(content),
                                always, &why);
    return code ? rapt_fail(r->err, code, "%s: %s", r->path, why.message) : RAPT_OK;
}

/* `tokenizers` searches for tokens that are not "normalized" before the others. Here all are searched together, which is the same
 * if the two kinds have no byte in common. */
static rapt_code hf_read_check_kinds(const hf_reading *r, const json_t *list)
{
    bool of[2][256] = {{false}};
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *added = json_array_get(list, i);
        const char *content = json_string_value(json_object_get(added, "content"));
        bool normalized = json_is_true(json_object_get(added, "normalized"));
        for (const char *at = content; at && *at; at++) {
            of[normalized][(unsigned char)*at] = true;
            if (of[!normalized][(unsigned char)*at])
                return rapt_fail(r->err, RAPT_ERR_FORMAT,
                                 "%s: added token \"%s\": normalized, which others like it aren't, or the "
                                 "other way round, is not supported", r->path, quote(content).text);
        }
    }
    return RAPT_OK;
}

static rapt_code take_all_added(const hf_reading *r, const json_t *list, const json_t *vocab)
{
    rapt_code code = hf_read_check_kinds(r, list);
    for (size_t i = 0; i < json_array_size(list) && code == RAPT_OK; i++)
        code = take_added(r, json_array_get(list, i), vocab);
    return code;
}

/* ---- all ---------------------------------------------------------------------------------------------------- */

static rapt_code hf_read_parts(const hf_reading *r)
{
    const json_t *model = json_object_get(r->root, "model");
    json_t *vocab = json_object_get(model, "vocab");
    r->b->whole_pieces = json_is_true(json_object_get(model, "ignore_merges"));
    rapt_code code = take_vocabulary(r);
    code = code ? code : r->lists->merges(r);
    code = code ? code : hf_read_normalizer(r); /* before added tokens, which depend on it */
    code = code ? code : take_all_added(r, json_object_get(r->root, "added_tokens"), vocab);
    code = code ? code : hf_read_ends(r);
    bool own = false;
    code = code ? code : hf_is_own(r->b, r->root, &own, r->err);
    r->b->foreign = !own;
    return code;
}

rapt_tokenizer *hf_from_lists(const json_t *root, const hf_lists *lists, const char *path, rapt_error *err)
{
    rapt_error why = {0};
    token_list others = {0};
    hf_reading r = {.root = root, .path = path, .err = err, .lists = lists, .others = &others};
    const char *pattern = hf_read_check_model(&r, json_object_get(root, "model")) == RAPT_OK ? hf_pattern(&r) : NULL;
    if (!pattern)
        return NULL;
    r.b = byte_bpe_new(pattern, &why);
    if (!r.b)
        rapt_fail(err, why.code, "%s: %s", path, why.message);
    const bool ok = r.b && hf_read_parts(&r) == RAPT_OK;
    token_list_free(&others);
    if (ok)
        return &r.b->base;
    byte_bpe_free(r.b);
    return NULL;
}

/* Byte-level BPE takes any bytes and is faster; a pipeline may have the parts that it lacks. */
rapt_tokenizer *hf_from_json(const json_t *root, const char *path, rapt_error *err)
{
    static const hf_lists lists = {.tokens = take_json_tokens, .merges = take_json_merges};
    rapt_error why = {0};
    rapt_tokenizer *k = hf_from_lists(root, &lists, path, &why);
    if (k || why.code == RAPT_OK || why.code == RAPT_ERR_FORMAT)
        return k ? k : pipeline_from_json(root, path, err);
    rapt_fail(err, why.code, "%s", why.message);
    return NULL;
}
