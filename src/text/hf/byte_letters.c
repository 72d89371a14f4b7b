/* text/hf/byte_letters.c: bytes as letters, for tokenizer.json. */
#include "text/hf/byte_letters.h"

#include "text/utf8.h"

/* Bytes 0 to ' ', DEL to 0xA0, and 0xAD are not shown: 33, 34 and 1 of them. */
enum { FIRST_EXTRA = 0x100, EXTRAS = 68, LOW = 33, DELETE = 0x7F, SOFT_HYPHEN = 0xAD };

static bool is_shown(unsigned byte)
{
    return (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

static uint32_t byte_letters_letter_of(unsigned byte)
{
    if (is_shown(byte))
        return byte;
    return FIRST_EXTRA + (byte < LOW ? byte : byte < SOFT_HYPHEN ? byte - DELETE + LOW : EXTRAS - 1);
}

/* -1: none. */
static int byte_of_letter(uint32_t letter)
{
    if (letter < FIRST_EXTRA)
        return is_shown(letter) ? (int)letter : -1;
    if (letter >= FIRST_EXTRA + EXTRAS)
        return -1;
    const uint32_t hidden = letter - FIRST_EXTRA;
    return (int)(hidden < LOW ? hidden : hidden < EXTRAS - 1 ? hidden - LOW + DELETE : SOFT_HYPHEN);
}

size_t byte_letters_write(const char *bytes, size_t size, char *letters)
{
    size_t put = 0;
    for (size_t i = 0; i < size; i++)
        put += utf8_put(byte_letters_letter_of((unsigned char)bytes[i]), letters + put);
    return put;
}

bool byte_letters_read(const char *letters, size_t size, char *bytes, size_t *length)
{
    uint32_t letter;
    *length = 0;
    for (size_t at = 0, used; at < size; at += used) {
        letter = (unsigned char)letters[at];
        used = letter < 0x80 ? 1 : utf8_decode(letters + at, size - at, &letter);
        int byte = used ? byte_of_letter(letter) : -1;
        if (byte < 0)
            return false;
        bytes[(*length)++] = (char)byte;
    }
    return true;
}
