/* text/hf/hf_write.c: byte-level BPE with a list of merges as a Hugging Face tokenizer.json, which `tokenizers` loads with
 * the same ids. For rapt_tokenizer_save; hf_read.c reads it back. */
#include "base/chars.h"
#include "text/bpe/byte_bpe.h"

#include "text/hf/byte_letters.h"

#include <stdlib.h>
#include <string.h>

/* A token in letters of bytes, or unchanged if it is special or no text becomes it; NULL: out of memory. The caller frees it. */
static char *hf_write_letters_of(const byte_bpe *b, int32_t id)
{
    size_t length;
    const special *s = special_list_of(&b->specials, id);
    const char *token = token_list_at(&b->tokens, id, &length);
    if (s)
        return chars_copy(s->text);
    char *letters = malloc(2 * length + 1);
    if (!letters)
        return NULL;
    size_t size = length;
    if (token_list_find(&b->tokens, token, length) == id)
        size = byte_letters_write(token, length, letters);
    else
        memcpy(letters, token, length);
    letters[size] = '\0';
    return letters;
}

/* ---- what stands around the model --------------------------------------------------------------------------- */

static json_t *byte_level_json(bool use_regex)
{
    return json_pack("{s:s, s:b, s:b, s:b}", "type", "ByteLevel", "add_prefix_space", 0, "trim_offsets", 1, "use_regex",
                     (int)use_regex);
}

/* ByteLevel has GPT-2's pattern built in. */
static json_t *pre_tokenizer_json(const byte_bpe *b)
{
    const char *pattern = split_pattern(b->cut);
    if (strcmp(pattern, SPLIT_GPT2) == 0)
        return byte_level_json(true);
    return json_pack("{s:s, s:[{s:s, s:{s:s}, s:s, s:b}, o]}", "type", "Sequence", "pretokenizers", "type", "Split",
                     "pattern", "Regex", pattern, "behavior", "Isolated", "invert", 0, byte_level_json(false));
}

static int by_id(const void *a, const void *b)
{
    const special *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

/* By id: `tokenizers` numbers them in the order of the file. */
static json_t *added_json(const byte_bpe *b)
{
    size_t count = b->specials.count;
    json_t *list = json_array();
    special *order = malloc((count + 1) * sizeof *order);
    bool ok = list && order;
    if (ok && count)
        memcpy(order, b->specials.list, count * sizeof *order);
    if (ok)
        qsort(order, count, sizeof *order, by_id);
    for (size_t i = 0; ok && i < count; i++)
        ok = json_array_append_new(list, json_pack("{s:i, s:s, s:b, s:b, s:b, s:b, s:b}", "id", (int)order[i].id, "content",
                                                   order[i].text, "single_word", 0, "lstrip", 0, "rstrip", 0,
                                                   "normalized", 0, "special", !order[i].always)) == 0;
    free(order);
    if (!ok)
        json_decref(list);
    return ok ? list : NULL;
}

/* ---- ids before and after a text ---------------------------------------------------------------------------- */

static bool add_name(const byte_bpe *b, int32_t id, json_t *single, json_t *names)
{
    char *name = hf_write_letters_of(b, id);
    bool ok = name && json_array_append_new(single, json_pack("{s:{s:s, s:i}}", "SpecialToken", "id", name, "type_id", 0)) == 0 &&
              json_object_set_new(names, name, json_pack("{s:s, s:[i], s:[s]}", "id", name, "ids", (int)id, "tokens", name)) == 0;
    free(name);
    return ok;
}

static bool hf_write_add_row(const byte_bpe *b, const id_row *row, json_t *single, json_t *names)
{
    bool ok = true;
    for (size_t i = 0; ok && i < row->count; i++)
        ok = add_name(b, row->ids[i], single, names);
    return ok;
}

static json_t *template_json(const byte_bpe *b)
{
    json_t *single = json_array(), *names = json_object();
    bool ok = single && names && hf_write_add_row(b, &b->before, single, names) &&
              json_array_append_new(single, json_pack("{s:{s:s, s:i}}", "Sequence", "id", "A", "type_id", 0)) == 0 &&
              hf_write_add_row(b, &b->after, single, names);
    json_t *part = ok ? json_pack("{s:s, s:O, s:[{s:{s:s, s:i}}, {s:{s:s, s:i}}], s:O}", "type", "TemplateProcessing",
                                  "single", single, "pair", "Sequence", "id", "A", "type_id", 0, "Sequence", "id", "B",
                                  "type_id", 1, "special_tokens", names)
                      : NULL;
    json_decref(single);
    json_decref(names);
    return part;
}

static json_t *post_processor_json(const byte_bpe *b)
{
    return b->before.count + b->after.count ? template_json(b) : json_null();
}

/* ---- the model ---------------------------------------------------------------------------------------------- */

static bool is_in_model(const byte_bpe *b, int32_t id)
{
    const special *s = special_list_of(&b->specials, id);
    return token_list_at(&b->tokens, id, NULL) && (!s || s->in_model);
}

/* `tokenizers` numbers special tokens that the vocabulary lacks from the vocabulary's size on, regardless of the file's ids. */
static bool specials_follow(const byte_bpe *b)
{
    size_t count = 0;
    for (size_t i = 0; i < b->tokens.size; i++)
        count += is_in_model(b, (int32_t)i);
    for (size_t i = count; i < b->tokens.size; i++)
        if (is_in_model(b, (int32_t)i) || !token_list_at(&b->tokens, (int64_t)i, NULL))
            return false;
    return true;
}

static json_t *vocab_json(const byte_bpe *b)
{
    const bool all = !specials_follow(b);
    json_t *vocab = json_object();
    bool ok = vocab != NULL;
    for (size_t i = 0; ok && i < b->tokens.size; i++) {
        if (!(all ? token_list_at(&b->tokens, (int64_t)i, NULL) != NULL : is_in_model(b, (int32_t)i)))
            continue;
        char *letters = hf_write_letters_of(b, (int32_t)i);
        ok = letters && json_object_set_new(vocab, letters, json_integer((json_int_t)i)) == 0;
        free(letters);
    }
    if (!ok)
        json_decref(vocab);
    return ok ? vocab : NULL;
}

static int by_rank(const void *a, const void *b)
{
    const pair_slot *x = a, *y = b;
    return (x->merge.rank > y->merge.rank) - (x->merge.rank < y->merge.rank);
}

static bool add_merge(const byte_bpe *b, uint64_t key, json_t *list)
{
    char *left = hf_write_letters_of(b, (int32_t)((key - 1) >> 32)), *right = hf_write_letters_of(b, (int32_t)(key - 1));
    bool ok = left && right && json_array_append_new(list, json_sprintf("%s %s", left, right)) == 0;
    free(left);
    free(right);
    return ok;
}

static json_t *merges_json(const byte_bpe *b)
{
    json_t *list = json_array();
    pair_slot *order = malloc((b->pairs.size + 1) * sizeof *order);
    bool ok = list && order;
    size_t count = 0;
    for (size_t i = 0; ok && i < b->pairs.slot_count; i++)
        if (b->pairs.slots[i].key)
            order[count++] = b->pairs.slots[i];
    if (ok)
        qsort(order, count, sizeof *order, by_rank);
    for (size_t i = 0; ok && i < count; i++)
        ok = add_merge(b, order[i].key, list);
    free(order);
    if (!ok)
        json_decref(list);
    return ok ? list : NULL;
}

static json_t *hf_write_model_json(const byte_bpe *b, json_t *vocab, json_t *merges)
{
    return json_pack("{s:s, s:n, s:n, s:n, s:n, s:b, s:b, s:b, s:o, s:o}", "type", "BPE", "dropout", "unk_token",
                     "continuing_subword_prefix", "end_of_word_suffix", "fuse_unk", 0, "byte_fallback", 0,
                     "ignore_merges", (int)b->whole_pieces, "vocab", vocab, "merges", merges);
}

/* Takes the lists over. */
static json_t *hf_write_around(const byte_bpe *b, json_t *added, json_t *vocab, json_t *merges)
{
    return json_pack("{s:s, s:n, s:n, s:o, s:o, s:o, s:o, s:o, s:o}", "version", "1.0", "truncation", "padding",
                     "added_tokens", added, "normalizer", normalizer_to_json(&b->normal), "pre_tokenizer",
                     pre_tokenizer_json(b), "post_processor", post_processor_json(b), "decoder", byte_level_json(true),
                     "model", hf_write_model_json(b, vocab, merges));
}

json_t *hf_to_json(const byte_bpe *b)
{
    return hf_write_around(b, added_json(b), vocab_json(b), merges_json(b));
}

rapt_code hf_is_own(const byte_bpe *b, const json_t *root, bool *own, rapt_error *err)
{
    const json_t *model = json_object_get(root, "model");
    json_t *lists[] = {json_object_get(root, "added_tokens"), json_object_get(model, "vocab"), json_object_get(model, "merges")};
    *own = lists[0] && lists[1] && lists[2];
    if (!*own)
        return RAPT_OK;
    json_t *written = hf_write_around(b, json_incref(lists[0]), json_incref(lists[1]), json_incref(lists[2]));
    *own = written && json_equal(written, root);
    rapt_code code = written ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the tokenizer");
    json_decref(written);
    return code;
}
