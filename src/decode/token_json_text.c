/* decode/token_json_text.c: writes tokens for JSON. */
#include "decode/token_json_text.h"

#include "text/utf8.h"

#include <stdio.h>
#include <string.h>

bool token_json_text(buffer *to, const rapt_tokenizer *tokenizer, int32_t id)
{
    char part[32];
    size_t size = 0;
    const char *bytes = rapt_tokenizer_token(tokenizer, id, &size);
    to->size = 0;
    if (!bytes)
        return buffer_append(to, part, (size_t)snprintf(part, sizeof part, "token_id:%d", (int)id));
    if (utf8_valid_prefix(bytes, size) == size && !memchr(bytes, '\0', size))
        return buffer_append(to, bytes, size);
    bool fine = buffer_append(to, "bytes:", 6);
    for (size_t i = 0; i < size && fine; i++)
        fine = buffer_append(to, part, (size_t)snprintf(part, sizeof part, "\\x%02x", (unsigned)(unsigned char)bytes[i]));
    return fine;
}
