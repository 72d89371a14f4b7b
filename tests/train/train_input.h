/* tests/train/train_input.h: texts to train on, and recipes from a line, for the tests of this folder. To be included after
 * cmocka.h, with _GNU_SOURCE. */
#ifndef TESTS_TRAIN_TRAIN_INPUT_H
#define TESTS_TRAIN_TRAIN_INPUT_H

#include "rapt/recipe.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* `words` words in lower case, of 1 to 7, with some sense: a letter decides what may follow it. */
static inline void put_words(const char *path, size_t words)
{
    FILE *f = fopen(path, "w");
    uint32_t x = 12345, letter = 0;
    assert_non_null(f);
    for (size_t i = 0; i < words; i++) {
        x = x * 1664525 + 1013904223;
        for (uint32_t n = 1 + (x >> 16) % 7; n > 0; n--) {
            x = x * 1664525 + 1013904223;
            letter = (letter * 5 + (x >> 16) % 3) % 26;
            fputc('a' + (int)letter, f);
        }
        fputs(i % 9 == 8 ? ".\n" : " ", f);
    }
    fclose(f);
}

/* `count` Chinese characters of `kinds`, so that most rows of an embedding are used by few steps. */
static inline void put_many_kinds(const char *path, size_t count, uint32_t kinds)
{
    FILE *f = fopen(path, "w");
    uint32_t x = 99;
    assert_non_null(f);
    for (size_t i = 0; i < count; i++) {
        x = x * 1664525 + 1013904223;
        uint32_t code = 0x4E00 + (i < kinds ? (uint32_t)i : (x >> 8) % kinds);
        fprintf(f, "%c%c%c", (int)(0xE0 | code >> 12), (int)(0x80 | (code >> 6 & 63)), (int)(0x80 | (code & 63)));
    }
    fclose(f);
}

/* text.txt, and kinds.txt, of whose rows of the embedding most are used by few steps, or by few shards of a step. */
static inline void put_texts(void)
{
    put_words("text.txt", 600);
    put_many_kinds("kinds.txt", 3000, 700);
}

/* "KEY=VALUE KEY=VALUE ..." */
static inline void set_all(rapt_recipe *r, const char *changes)
{
    char *copy = strdup(changes), *rest = copy;
    rapt_error err = {0};
    for (char *one; (one = strsep(&rest, " "));)
        if (*one)
            rapt_recipe_set(r, one, &err);
    assert_string_equal(err.message, "");
    free(copy);
}

#endif
