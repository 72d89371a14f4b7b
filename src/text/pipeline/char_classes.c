/* text/pipeline/char_classes.c: looks up classes. tools/make_unicode.py makes the table. */
#include "text/pipeline/char_classes.h"

#include "text/pipeline/char_classes_table.h"
#include "text/unicode/unicode.h"
#include "text/utf8.h"

#include <string.h>

enum { CAPITAL_I_DOT = 0x130, CLASS_BITS = 8 };

void char_classes_fill(uint8_t classes[CHAR_CLASSES_SIZE])
{
    const size_t count = sizeof CHAR_RUNS / sizeof *CHAR_RUNS;
    for (size_t i = 0; i < count; i++) {
        uint32_t first = CHAR_RUNS[i] >> CLASS_BITS, end = i + 1 < count ? CHAR_RUNS[i + 1] >> CLASS_BITS : CHAR_CLASSES_SIZE;
        memset(classes + first, (int)(CHAR_RUNS[i] & 0xFF), end - first);
    }
}

bool char_is_white(uint32_t code)
{
    return utf8_is_space(code) && (code < 0x1C || code > 0x1F);
}

bool char_is_chinese(uint32_t code)
{
    static const uint32_t blocks[][2] = {
        {0x4E00, 0x9FFF},   {0x3400, 0x4DBF},   {0x20000, 0x2A6DF}, {0x2A700, 0x2B73F},
        {0x2B740, 0x2B81F}, {0x2B920, 0x2CEAF}, {0xF900, 0xFAFF},   {0x2F800, 0x2FA1F},
    };
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        if (code >= blocks[i][0] && code <= blocks[i][1])
            return true;
    return false;
}

unsigned char_lower(uint32_t code, char *out)
{
    if (code == CAPITAL_I_DOT) {
        memcpy(out, "i\xCC\x87", 3);
        return 3;
    }
    return (unsigned)utf8_put(unicode_lower(code), out);
}

bool char_is_prepended(uint32_t code)
{
    for (size_t i = 0; i < sizeof PREPENDED / sizeof *PREPENDED; i++)
        if (code >= PREPENDED[i][0] && code <= PREPENDED[i][1])
            return true;
    return false;
}
