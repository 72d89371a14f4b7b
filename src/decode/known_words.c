/* decode/known_words.c: finds the words, characters or pieces that a tokenizer reads as <unk>. */
#include "decode/known_words.h"

#include "base/buffer.h"
#include "base/chars.h"
#include "base/quote.h"
#include "text/bpe/token_list.h"
#include "text/tokenizer.h"
#include "text/utf8.h"
#include "text/words/words_prepare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A list while it is made. */
typedef struct unknown_search {
    const rapt_tokenizer *k;
    rapt_text text;
    bool specials;
    const int32_t *ids; /* [count] of the text */
    size_t count;
    token_list found;
    unknown_list *list;
    rapt_error *err;
} unknown_search;

static rapt_code known_words_fail_memory(rapt_error *err)
{
    return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for unknown words");
}

/* The list is of strings. */
static rapt_code list_unknown(unknown_search *s, const char *word, size_t size)
{
    static const char replacement[] = "\xEF\xBF\xBD";
    buffer visible = {0};
    bool ok = true;
    for (size_t at = 0, end; ok && at < size; at = end) {
        const char *zero = memchr(word + at, '\0', size - at);
        end = zero == word + at ? at + 1 : zero ? (size_t)(zero - word) : size;
        ok = zero == word + at ? buffer_append(&visible, replacement, sizeof replacement - 1)
                               : buffer_append(&visible, word + at, end - at);
    }
    ok = ok && token_list_add(&s->found, visible.data, visible.size) >= 0;
    buffer_free(&visible);
    s->list->unknown++;
    return ok ? RAPT_OK : known_words_fail_memory(s->err);
}

/* The word from *at on, without the spaces before it; *at is then behind it. A word of 0 bytes: there is none. */
static rapt_text next_word(rapt_text text, size_t *at)
{
    while (*at < text.size && text.data[*at] && strchr(WORDS_SPACES, text.data[*at]))
        ++*at;
    const size_t begin = *at;
    while (*at < text.size && !(text.data[*at] && strchr(WORDS_SPACES, text.data[*at])))
        ++*at;
    return (rapt_text){text.data + begin, *at - begin};
}

/* The tokenizer cuts the sentence into the same words, and has refused zero bytes. */
static rapt_code find_unknown_words(unknown_search *s)
{
    rapt_code code = RAPT_OK;
    char *text = chars_copy_part(s->text.data, s->text.size), *memory = text ? words_prepare_sentence(text, false) : NULL;
    const rapt_text sentence = rapt_text_of(memory);
    size_t at = 0;
    s->list->total = s->count;
    for (size_t i = 0; memory && i < s->count && !code; i++) {
        const rapt_text word = next_word(sentence, &at);
        if (word.size > 0 && s->ids[i] == RAPT_UNK)
            code = list_unknown(s, word.data, word.size);
    }
    code = memory ? code : rapt_fail(s->err, RAPT_ERR_MEMORY, "out of memory for the words of a text");
    free(memory);
    free(text);
    return code;
}

/* Each id is one character; line feeds have no id. */
static rapt_code find_unknown_characters(unknown_search *s)
{
    rapt_code code = RAPT_OK;
    const char *const text = s->text.data;
    size_t size = s->text.size, used;
    uint32_t character;
    s->list->unit = "character";
    s->list->total = s->count;
    for (size_t i = 0, at = 0; !code && i < s->count && (used = utf8_decode(text + at, size - at, &character)) > 0; at += used)
        if (character != '\n' && s->ids[i++] == RAPT_UNK)
            code = list_unknown(s, text + at, used);
    return code;
}

static bool has_id(const int32_t *ids, size_t count, int32_t id)
{
    for (size_t i = 0; i < count; i++)
        if (ids[i] == id)
            return true;
    return false;
}

/* Finds words that, encoded alone, have an unknown piece. */
static rapt_code find_unknown_pieces(unknown_search *s)
{
    const int32_t unknown = known_words_id(s->k);
    const bool some = has_id(s->ids, s->count, unknown);
    rapt_code code = RAPT_OK;
    size_t at = 0;
    for (rapt_text word; !code && (word = next_word(s->text, &at)).size > 0; s->list->total++) {
        int32_t *own = NULL;
        size_t own_count = 0;
        if (some)
            code = tokenizer_encode_within(s->k, word.data, word.size, s->specials, &own, &own_count, s->err);
        if (!code && has_id(own, own_count, unknown))
            code = list_unknown(s, word.data, word.size);
        free(own);
    }
    return code;
}

int32_t known_words_id(const rapt_tokenizer *k)
{
    switch (rapt_tokenizer_kind_of(k)) {
    case RAPT_TOKENIZER_WORDS: return RAPT_UNK;
    case RAPT_TOKENIZER_CHARACTERS: return rapt_tokenizer_has_specials(k) ? RAPT_UNK : -1;
    case RAPT_TOKENIZER_BYTE_BPE: return -1;
    default: return rapt_tokenizer_special(k, "<unk>");
    }
}

static rapt_code find_unknown(unknown_search *s)
{
    s->list->unit = "word";
    switch (rapt_tokenizer_kind_of(s->k)) {
    case RAPT_TOKENIZER_WORDS: return find_unknown_words(s);
    case RAPT_TOKENIZER_CHARACTERS: return find_unknown_characters(s);
    default: return find_unknown_pieces(s);
    }
}

/* Copies the words into the list: pointers, followed by the words. */
static rapt_code pack_words(unknown_search *s)
{
    const token_list *found = &s->found;
    size_t size = found->size * sizeof *s->list->words;
    if (found->size == 0)
        return RAPT_OK;
    char **words = malloc(size + found->used), *to = (char *)(words + found->size);
    if (!words)
        return known_words_fail_memory(s->err);
    for (size_t i = 0; i < found->size; i++) {
        words[i] = to;
        const char *word = token_list_at(found, (int64_t)i, NULL);
        const size_t length = strlen(word) + 1;
        memcpy(to, word, length);
        to += length;
    }
    s->list->words = words;
    s->list->count = found->size;
    return RAPT_OK;
}

rapt_code known_words_find(const rapt_tokenizer *k, rapt_text text, bool specials, unknown_list *list, rapt_error *err)
{
    int32_t *ids = NULL;
    unknown_search s = {.k = k, .text = text, .specials = specials, .list = list, .err = err};
    *list = (unknown_list){.count = 0};
    if (known_words_id(k) < 0)
        return RAPT_OK;
    rapt_code code = tokenizer_encode_within(k, text.data, text.size, specials, &ids, &s.count, err);
    s.ids = ids;
    code = code ? code : find_unknown(&s);
    code = code ? code : pack_words(&s);
    token_list_free(&s.found);
    free(ids);
    return code;
}

void known_words_free(unknown_list *list)
{
    free(list->words);
    *list = (unknown_list){.count = 0};
}

void known_words_write(const char *const *words, size_t count, char text[KNOWN_WORDS_TEXT])
{
    size_t used = 0, i = 0;
    text[0] = '\0';
    for (; i < count && i < KNOWN_WORDS_LISTED; i++) {
        quoted word = quote(words[i]);
        if (used + strlen(word.text) + sizeof ", \"\", ..." > KNOWN_WORDS_TEXT)
            break;
        used += (size_t)snprintf(text + used, KNOWN_WORDS_TEXT - used, "%s\"%s\"", i ? ", " : "", word.text);
    }
    if (i < count)
        snprintf(text + used, KNOWN_WORDS_TEXT - used, "%s...", i ? ", " : "");
}
