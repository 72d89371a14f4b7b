/* search/valid_text.c: replaces bytes that are not UTF-8, by pushing the whole text through a text_stream. */
#include "search/valid_text.h"

#include "search/text_stream.h"

#include <stdlib.h>
#include <string.h>

/* The output so far. */
typedef struct valid_bytes {
    char *text;
    size_t size;
} valid_bytes;

static rapt_code valid_text_put(void *context, const char *text, size_t size, rapt_error *err)
{
    (void)err;
    valid_bytes *v = context;
    memcpy(v->text + v->size, text, size);
    v->size += size;
    return RAPT_OK;
}

char *valid_text(const char *bytes, size_t size, size_t *length, rapt_error *err)
{
    valid_bytes v = {.text = malloc(3 * size + 1)}; /* a byte becomes three at most */
    text_stream *s = v.text ? text_stream_new(NULL, 0, valid_text_put, &v, err) : NULL;
    rapt_code code = s ? text_stream_push(s, bytes, size, err) : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a text");
    if (!code)
        code = text_stream_finish(s, err);
    text_stream_free(s);
    if (code) {
        free(v.text);
        return NULL;
    }
    v.text[v.size] = '\0';
    *length = v.size;
    return v.text;
}
