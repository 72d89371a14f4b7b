/* base/suggest.c: the nearest known word to one that a person typed.
 * For recipe keys, commands and options: an unknown word is an error, and the message offers the likely one.
 * Not a search in texts: words longer than WORD_MAX are never near anything. */
#include "base/suggest.h"

#include "base/synonyms.h"

#include <string.h>

#define WORD_MAX 64

static int same_letter(char a, char b)
{
    char x = a >= 'A' && a <= 'Z' ? (char)(a + 32) : a;
    char y = b >= 'A' && b <= 'Z' ? (char)(b + 32) : b;
    return x == y;
}

static size_t min3(size_t a, size_t b, size_t c)
{
    size_t m = a < b ? a : b;
    return m < c ? m : c;
}

/* Edits that turn a into b ("optimal string alignment": Levenshtein's distance with swaps of neighbors).
 * Only the last three rows of the table of prefix distances are kept. */
static size_t edit_distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t rows[3][WORD_MAX + 1];
    for (size_t j = 0; j <= b_length; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        size_t *now = rows[i % 3], *last = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            size_t replaced = last[j - 1] + !same_letter(a[i - 1], b[j - 1]);
            now[j] = min3(last[j] + 1, now[j - 1] + 1, replaced);
            if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) && same_letter(a[i - 2], b[j - 1]))
                now[j] = min3(now[j], now[j], before[j - 2] + 1);
        }
    }
    return rows[a_length % 3][b_length];
}

const char *suggest_spelling(const char *word, const char *const *candidates, size_t n)
{
    size_t length = strlen(word);
    if (length == 0 || length > WORD_MAX)
        return NULL;
    size_t best = length < 3 ? 2 : length / 3 + 1; /* one more than the largest distance that counts as near */
    const char *nearest = NULL;
    for (size_t i = 0; i < n; i++) {
        size_t candidate_length = strlen(candidates[i]);
        if (candidate_length > WORD_MAX)
            continue;
        size_t distance = edit_distance(word, length, candidates[i], candidate_length);
        if (distance < best) {
            best = distance;
            nearest = candidates[i];
        }
    }
    return nearest;
}

static bool is_between(char c)
{
    return c == '-' || c == '_' || c == '.';
}

bool suggest_same(const char *a, const char *b)
{
    while (*a && (same_letter(*a, *b) || (is_between(*a) && is_between(*b)))) {
        a++;
        b++;
    }
    return *a == *b;
}

const char *suggest_synonym(const char *word, const char *const *candidates, size_t n)
{
    static const struct {
        const char *other, *ours;
    } synonyms[] = {
#define SYNONYM_ROW(other, ours) {other, ours},
        SYNONYMS(SYNONYM_ROW)};
    for (size_t s = 0; s < sizeof synonyms / sizeof *synonyms; s++)
        for (size_t i = 0; i < n && suggest_same(synonyms[s].other, word); i++)
            if (strcmp(candidates[i], synonyms[s].ours) == 0)
                return candidates[i];
    return NULL;
}

static bool has_part(const char *candidate, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = candidate; (at = strstr(at, word)) != NULL; at++)
        if ((at == candidate || is_between(at[-1])) && (!at[length] || is_between(at[length])))
            return true;
    return false;
}

static const char *only_one_with_part(const char *word, const char *const *candidates, size_t n)
{
    const char *found = NULL;
    for (size_t i = 0; i < n && *word; i++)
        if (has_part(candidates[i], word)) {
            if (found)
                return NULL;
            found = candidates[i];
        }
    return found;
}

const char *suggest_nearest(const char *word, const char *const *candidates, size_t n)
{
    const char *found = suggest_synonym(word, candidates, n);
    found = found ? found : suggest_spelling(word, candidates, n);
    return found ? found : only_one_with_part(word, candidates, n);
}
