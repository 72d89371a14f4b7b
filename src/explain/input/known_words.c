/* explain/input/known_words.c: see known_words.h. */
#define _GNU_SOURCE /* strdup, strtok_r */
#include "explain/input/known_words.h"

#include "base/quote.h"
#include "text/tokenizer.h"
#include "text/utf8.h"
#include "text/words/words_prepare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SPACES " \t\r\n\v\f"
#define UNKNOWN "<unk>"

static bool is_among(const char *word, char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(word, words[i]) == 0)
            return true;
    return false;
}

static void list_unknown(unknown_list *list, char *word)
{
    list->unknown++;
    if (list->count <= KNOWN_WORDS_LISTED && !is_among(word, list->words, list->count))
        list->words[list->count++] = word;
}

/* The tokenizer cuts the sentence into the same words. */
static rapt_code find_unknown_words(const char *text, const int32_t *ids, size_t count, unknown_list *list, rapt_error *err)
{
    list->unit = "word";
    char *rest = list->memory = words_prepare_sentence(text, false);
    if (!rest)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the words of a text");
    list->total = count;
    for (size_t i = 0; i < count; i++) {
        char *word = strtok_r(rest, SPACES, &rest);
        if (word && ids[i] == RAPT_UNK)
            list_unknown(list, word);
    }
    return RAPT_OK;
}

/* An id is one character; line feeds have none. */
static rapt_code find_unknown_characters(const char *text, const int32_t *ids, size_t count, unknown_list *list, rapt_error *err)
{
    enum { CHARACTER = 5 }; /* UTF-8, with a NUL */
    size_t size = strlen(text), used;
    uint32_t code;
    char *to = list->memory = calloc(count + 1, CHARACTER);
    if (!to)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the characters of a text");
    list->unit = "character";
    list->total = count;
    for (size_t i = 0, at = 0; i < count && (used = utf8_decode(text + at, size - at, &code)) > 0; at += used) {
        if (code == '\n' || ids[i++] != RAPT_UNK)
            continue;
        memcpy(to, text + at, used);
        list_unknown(list, to);
        to += CHARACTER;
    }
    return RAPT_OK;
}

static bool has_id(const int32_t *ids, size_t count, int32_t id)
{
    for (size_t i = 0; i < count; i++)
        if (ids[i] == id)
            return true;
    return false;
}

/* Words of which a piece, encoded alone, is the unknown one. */
static rapt_code find_unknown_pieces(const rapt_tokenizer *k, const char *text, bool specials, const int32_t *ids, size_t count,
                                     unknown_list *list, rapt_error *err)
{
    const int32_t unknown = rapt_tokenizer_special(k, UNKNOWN);
    const bool some = has_id(ids, count, unknown);
    rapt_code code = RAPT_OK;
    list->unit = "word";
    char *rest = list->memory = strdup(text);
    if (!rest)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the words of a text");
    for (char *word; !code && (word = strtok_r(rest, SPACES, &rest)) != NULL; list->total++) {
        int32_t *own = NULL;
        size_t own_count = 0;
        if (some)
            code = tokenizer_encode_within(k, word, strlen(word), specials, &own, &own_count, err);
        if (!code && has_id(own, own_count, unknown))
            list_unknown(list, word);
        free(own);
    }
    return code;
}

/* Whether unknown words, characters or pieces are <unk>. */
static bool has_unknown(const rapt_tokenizer *k)
{
    switch (rapt_tokenizer_kind_of(k)) {
    case RAPT_TOKENIZER_WORDS: return true;
    case RAPT_TOKENIZER_CHARACTERS: return rapt_tokenizer_has_specials(k);
    case RAPT_TOKENIZER_BYTE_BPE: return false;
    default: return rapt_tokenizer_special(k, UNKNOWN) >= 0;
    }
}

static rapt_code find_unknown(const rapt_tokenizer *k, const char *text, bool specials, const int32_t *ids, size_t count,
                              unknown_list *list, rapt_error *err)
{
    switch (rapt_tokenizer_kind_of(k)) {
    case RAPT_TOKENIZER_WORDS: return find_unknown_words(text, ids, count, list, err);
    case RAPT_TOKENIZER_CHARACTERS: return find_unknown_characters(text, ids, count, list, err);
    default: return find_unknown_pieces(k, text, specials, ids, count, list, err);
    }
}

void known_words_free(unknown_list *list)
{
    free(list->memory);
    list->memory = NULL;
}

void known_words_write(const unknown_list *list, char text[KNOWN_WORDS_TEXT])
{
    size_t used = 0, i = 0;
    text[0] = '\0';
    for (; i < list->count && i < KNOWN_WORDS_LISTED; i++) {
        quoted word = quote(list->words[i]);
        if (used + strlen(word.text) + sizeof ", \"\", ..." > KNOWN_WORDS_TEXT)
            break;
        used += (size_t)snprintf(text + used, KNOWN_WORDS_TEXT - used, "%s\"%s\"", i ? ", " : "", word.text);
    }
    if (i < list->count)
        snprintf(text + used, KNOWN_WORDS_TEXT - used, ", ...");
}

rapt_code known_words_find(const rapt_tokenizer *k, const char *text, bool specials, unknown_list *list, rapt_error *err)
{
    int32_t *ids = NULL;
    size_t count;
    *list = (unknown_list){.count = 0};
    if (!has_unknown(k))
        return RAPT_OK;
    rapt_code code = tokenizer_encode_within(k, text, strlen(text), specials, &ids, &count, err);
    if (!code)
        code = find_unknown(k, text, specials, ids, count, list, err);
    free(ids);
    return code;
}

rapt_code known_words_check(const rapt_tokenizer *k, const char *what, const char *text, bool specials, const int32_t *ids,
                            size_t count, rapt_error *err)
{
    char words[KNOWN_WORDS_TEXT];
    unknown_list list = {.count = 0};
    if (!has_unknown(k))
        return RAPT_OK;
    rapt_code code = find_unknown(k, text, specials, ids, count, &list, err);
    if (code) {
        known_words_free(&list);
        return code;
    }
    known_words_write(&list, words);
    known_words_free(&list);
    return list.count ? rapt_fail(err, RAPT_ERR_VALUE, "%s: the model does not know %s", what, words) : RAPT_OK;
}
