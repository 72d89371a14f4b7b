/* text/normalizer_cut.c: places between two letters where a text can be cut before it is normalized. For long texts, which are
 * normalized in parts, on all threads; normalizer.c has the steps.
 *
 * No step removes one of these letters, makes white space of it or treats it together with a neighbor of these kinds: they are no
 * marks, they never compose with a character before them (Unicode's NFC_Quick_Check is Yes for all, and their canonical combining
 * class is 0), and they have no compatibility form. A text cannot be cut if a step replaces one of them. */
#include "text/normalizer.h"

#include "text/utf8.h"

#include <string.h>

typedef struct letters {
    uint32_t first, last;
} letters;

static const letters LETTERS[] = {
    {0x0030, 0x0039}, {0x0041, 0x005A}, {0x0061, 0x007A},                   /* ASCII */
    {0x00C0, 0x00D6}, {0x00D8, 0x00F6}, {0x00F8, 0x00FF},                   /* Latin-1 */
    {0x0391, 0x03A1}, {0x03A3, 0x03C9}, {0x0410, 0x044F},                   /* Greek, Cyrillic */
    {0x05D0, 0x05EA}, {0x0621, 0x063A}, {0x0641, 0x064A},                   /* Hebrew, Arabic */
    {0x0905, 0x0928}, {0x092A, 0x0930}, {0x0E01, 0x0E2E},                   /* Devanagari, Thai */
    {0x3041, 0x3093}, {0x30A1, 0x30F3}, {0x4E00, 0x9FA5}, {0xAC00, 0xD7A3}, /* kana, Chinese characters, Hangul */
};

static bool is_plain_letter(uint32_t code)
{
    for (size_t i = 0; i < sizeof LETTERS / sizeof *LETTERS; i++)
        if (code >= LETTERS[i].first && code <= LETTERS[i].last)
            return true;
    return false;
}

/* The size in bytes of the letter at `text`; 0: not such a letter. */
static size_t letter_at(const char *text, size_t size)
{
    uint32_t code;
    size_t used = utf8_decode(text, size, &code);
    return used > 0 && is_plain_letter(code) ? used : 0;
}

static bool replaces_letters(const normalizer *n)
{
    for (size_t i = 0; i < n->count; i++)
        for (const char *at = n->steps[i].from; at && *at; at++)
            if (letter_at(at, strlen(at)) > 0)
                return true;
    return false;
}

size_t normalizer_cut(const normalizer *n, const char *text, size_t size, size_t from)
{
    size_t at = from;
    if (replaces_letters(n))
        return size;
    while (at < size && (text[at] & 0xC0) == 0x80)
        at++;
    for (size_t length = 0, next; at < size; at += next ? next : 1, length = next) {
        next = letter_at(text + at, size - at);
        if (length > 0 && next > 0)
            return at;
    }
    return size;
}
