/* decode/known_words.c: finds the words, characters or pieces that a tokenizer reads as <unk>. */
#define _GNU_SOURCE /* strdup, strtok_r */
#include "decode/known_words.h"

#include "base/quote.h"
#include "text/bpe/token_list.h"
#include "text/tokenizer.h"
#include "text/utf8.h"
#include "text/words/words_prepare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SPACES " \t\r\n\v\f"

/* A list while it is made. */
typedef struct unknown_search {
    const rapt_tokenizer *k;
    const char *text;
    bool specials;
    const int32_t *ids; /* [count] of the text */
    size_t count;
    token_list found;
    unknown_list *list;
    rapt_error *err;
} unknown_search;

static rapt_code list_unknown(unknown_search *s, const char *word, size_t size)
{
    s->list->unknown++;
    return token_list_add(&s->found, word, size) >= 0 ? RAPT_OK
                                                      : rapt_fail(s->err, RAPT_ERR_MEMORY, "out of memory for unknown words");
}

/* The tokenizer cuts the sentence into the same words. */
static rapt_code find_unknown_words(unknown_search *s)
{
    rapt_code code = RAPT_OK;
    char *memory = words_prepare_sentence(s->text, false), *rest = memory;
    if (!memory)
        return rapt_fail(s->err, RAPT_ERR_MEMORY, "out of memory for the words of a text");
    s->list->total = s->count;
    for (size_t i = 0; i < s->count && !code; i++) {
        char *word = strtok_r(rest, SPACES, &rest);
        if (word && s->ids[i] == RAPT_UNK)
            code = list_unknown(s, word, strlen(word));
    }
    free(memory);
    return code;
}

/* Each id is one character; line feeds have no id. */
static rapt_code find_unknown_characters(unknown_search *s)
{
    rapt_code code = RAPT_OK;
    size_t size = strlen(s->text), used;
    uint32_t character;
    s->list->unit = "character";
    s->list->total = s->count;
    for (size_t i = 0, at = 0; !code && i < s->count && (used = utf8_decode(s->text + at, size - at, &character)) > 0; at += used)
        if (character != '\n' && s->ids[i++] == RAPT_UNK)
            code = list_unknown(s, s->text + at, used);
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
    char *memory = strdup(s->text), *rest = memory;
    if (!memory)
        return rapt_fail(s->err, RAPT_ERR_MEMORY, "out of memory for the words of a text");
    for (char *word; !code && (word = strtok_r(rest, SPACES, &rest)) != NULL; s->list->total++) {
        int32_t *own = NULL;
        size_t own_count = 0;
        if (some)
            code = tokenizer_encode_within(s->k, word, strlen(word), s->specials, &own, &own_count, s->err);
        if (!code && has_id(own, own_count, unknown))
            code = list_unknown(s, word, strlen(word));
        free(own);
    }
    free(memory);
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
        return rapt_fail(s->err, RAPT_ERR_MEMORY, "out of memory for unknown words");
    for (size_t i = 0; i < found->size; i++) {
        words[i] = to;
        to = stpcpy(to, token_list_at(found, (int64_t)i, NULL)) + 1;
    }
    s->list->words = words;
    s->list->count = found->size;
    return RAPT_OK;
}

rapt_code known_words_find(const rapt_tokenizer *k, const char *text, bool specials, unknown_list *list, rapt_error *err)
{
    int32_t *ids = NULL;
    unknown_search s = {.k = k, .text = text, .specials = specials, .list = list, .err = err};
    *list = (unknown_list){.count = 0};
    if (known_words_id(k) < 0)
        return RAPT_OK;
    rapt_code code = tokenizer_encode_within(k, text, strlen(text), specials, &ids, &s.count, err);
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
