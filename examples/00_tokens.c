/* examples/00_tokens.c: chapter 0 of docs/book: from text to tokens: characters, words, and byte pairs that are learned from
 * ten words.  Usage: 00_tokens [--table] */
#include "show.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 256, WORDS = 10, MERGES = 4 };

static const char TEXT[] = "the cat sat in the hat and the rat ate";
static const char *const words[WORDS] = {"the", " cat", " sat", " in", " the", " hat", " and", " the", " rat", " ate"};

/* A tokenizer, or the reason why there is none; free it. */
static rapt_tokenizer *made(rapt_tokenizer *k, const rapt_error *err)
{
    if (!k)
        fprintf(stderr, "%s\n", err->message);
    return k;
}

/* Byte pairs of `text`, with at most this many merges. */
static rapt_tokenizer *byte_pairs(const char *text, size_t merges)
{
    rapt_error err = {0};
    rapt_bpe_options o = rapt_bpe_options_default();
    o.vocab_size = BYTES + merges;
    return made(rapt_tokenizer_train_bpe(text, strlen(text), &o, &err), &err);
}

/* ---- showing ------------------------------------------------------------------------------------------------------ */

/* A token's bytes between bars; those that are no character in hexadecimal. */
static void show_token(const rapt_tokenizer *k, int32_t id)
{
    size_t size;
    const char *bytes = rapt_tokenizer_token(k, id, &size);
    for (size_t i = 0; i < size; i++)
        if ((unsigned char)bytes[i] < 0x80)
            putchar(bytes[i]);
        else
            printf("<%02x>", (unsigned char)bytes[i]);
}

/* "the bath: 4 tokens  |the| |b|at|h|   258 32 ..."; returns how many tokens, 0 if it failed. */
static size_t show_tokens(const rapt_tokenizer *k, const char *text)
{
    rapt_error err = {0};
    int32_t *ids;
    size_t count;
    if (!k || rapt_tokenizer_encode(k, text, &ids, &count, &err) != RAPT_OK) {
        printf("%s: %s\n", text, k ? err.message : "no tokenizer");
        return 0;
    }
    printf("%s: %zu token%s\n  |", text, count, count == 1 ? "" : "s");
    for (size_t i = 0; i < count; i++) {
        show_token(k, ids[i]);
        putchar('|');
    }
    printf("\n ");
    for (size_t i = 0; i < count; i++)
        printf(" %d", ids[i]);
    putchar('\n');
    free(ids);
    return count;
}

static size_t tokens_of(const rapt_tokenizer *k, const char *text)
{
    int32_t *ids;
    size_t count;
    if (!k || rapt_tokenizer_encode(k, text, &ids, &count, NULL) != RAPT_OK)
        return 0;
    free(ids);
    return count;
}

/* Whether decoding the text's ids gives its bytes. */
static bool comes_back(const rapt_tokenizer *k, const char *text)
{
    int32_t *ids;
    size_t count, size;
    if (!k || rapt_tokenizer_encode(k, text, &ids, &count, NULL) != RAPT_OK)
        return false;
    char *back = rapt_tokenizer_decode(k, ids, count, &size);
    const bool same = back && size == strlen(text) && memcmp(back, text, size) == 0;
    free(back);
    free(ids);
    return same;
}

/* ---- the chapter -------------------------------------------------------------------------------------------------- */

static void characters(void)
{
    rapt_error err = {0};
    rapt_tokenizer *k = made(rapt_tokenizer_train_characters(TEXT, strlen(TEXT), &err), &err);
    printf("-- a token a character --\n");
    if (k)
        printf("vocabulary: %zu characters\n", rapt_tokenizer_size(k));
    show_check("38 tokens for 10 words", show_tokens(k, TEXT) == 38);
    show_check("a character that the text lacks cannot be encoded", show_tokens(k, "the dog") == 0);
    rapt_tokenizer_free(k);
}

static void whole_words(void)
{
    rapt_error err = {0};
    const char *const lines[] = {TEXT};
    rapt_tokenizer *k = made(rapt_tokenizer_train_words(lines, 1, NULL, &err), &err);
    printf("\n-- a token a word --\n");
    if (k)
        printf("vocabulary: %zu, of which 4 are special\n", rapt_tokenizer_size(k));
    show_check("10 tokens for 10 words", show_tokens(k, TEXT) == WORDS);
    show_check("words that the text lacks are lost", show_tokens(k, "the dog ate") == 3 && !comes_back(k, "the dog ate"));
    rapt_tokenizer_free(k);
}

/* Whether the last of `merges` merges made what was expected. */
static bool show_merge(const rapt_tokenizer *k, size_t merges, const char *expected)
{
    const int32_t id = (int32_t)(BYTES + merges - 1);
    const char *token = rapt_tokenizer_token(k, id, NULL);
    if (!token) {
        printf("merge %zu: no pair occurs twice\n", merges);
        return false;
    }
    printf("merge %zu: token %d is |", merges, id);
    show_token(k, id);
    printf("|\n");
    return strcmp(token, expected) == 0;
}

/* What each merge joins, and into how many tokens it cuts the text. */
static void on_paper(void)
{
    static const char *const expected[MERGES] = {"at", "he", "the", " the"};
    bool as_on_paper = true;
    printf("\n-- byte pairs on paper --\n");
    for (size_t merges = 0; merges <= MERGES; merges++) {
        rapt_tokenizer *k = byte_pairs(TEXT, merges);
        if (merges > 0 && k)
            as_on_paper = show_merge(k, merges, expected[merges - 1]) && as_on_paper;
        printf("after %zu merges: %zu tokens\n", merges, tokens_of(k, TEXT));
        rapt_tokenizer_free(k);
    }
    rapt_tokenizer *more = byte_pairs(TEXT, 100);
    show_check("as on paper: at, he, the, and the with its space", as_on_paper);
    show_check("then no pair occurs twice, and no merge is left", more && rapt_tokenizer_size(more) == BYTES + MERGES);
    rapt_tokenizer_free(more);
}

static void other_texts(void)
{
    rapt_tokenizer *k = byte_pairs(TEXT, MERGES);
    printf("\n-- texts that it has not seen --\n");
    show_check("that: t, h and at, because at was merged first", show_tokens(k, "that") == 3);
    show_check("weather: w, e, at, he, r", show_tokens(k, "weather") == 5);
    show_check("Chinese: three bytes a character", show_tokens(k, "猫坐") == 6);
    show_check("all of them come back", comes_back(k, "that") && comes_back(k, "weather") && comes_back(k, "猫坐"));
    rapt_tokenizer_free(k);
    rapt_tokenizer *chinese = byte_pairs("猫坐，猫吃，狗坐，狗吃", 100);
    show_check("learned from Chinese, a character is a token", show_tokens(chinese, "吃狗") == 2);
    rapt_tokenizer_free(chinese);
}

static void chapter(rapt_tape *t, rapt_params *set)
{
    (void)t, (void)set; /* text only */
    characters();
    whole_words();
    on_paper();
    other_texts();
}

/* How many tokens each word has after 0 to 4 merges. */
static void picture(rapt_tape *t, rapt_params *set)
{
    static const char *const columns[MERGES + 1] = {"bytes", "at", "he", "the", "_the"};
    rapt_real counts[WORDS][MERGES + 1];
    char names[WORDS][24];
    const char *rows[WORDS];
    (void)t, (void)set;
    for (size_t merges = 0; merges <= MERGES; merges++) {
        rapt_tokenizer *k = byte_pairs(TEXT, merges);
        for (size_t i = 0; i < WORDS; i++)
            counts[i][merges] = (rapt_real)tokens_of(k, words[i]);
        rapt_tokenizer_free(k);
    }
    for (size_t i = 0; i < WORDS; i++) {
        snprintf(names[i], sizeof names[i], "%zu %s", i, words[i] + (*words[i] == ' '));
        rows[i] = names[i];
    }
    show_table(WORDS, MERGES + 1, *counts, rows, columns);
}

int main(int argc, char **argv)
{
    return show_run(argc, argv, chapter, picture);
}
