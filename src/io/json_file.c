/* io/json_file.c: reads JSON files. text/json_text.h and base/file.h write them. */
#include "io/json_file.h"

#include "base/file.h"
#include "base/quote.h"
#include "text/json_text.h"

#include <stdlib.h>

json_t *json_file_read(const char *path, size_t max_bytes, rapt_error *err)
{
    char *text;
    size_t size;
    json_error_t where;
    if (file_read_regular(path, max_bytes, &text, &size, err))
        return NULL;
    json_t *root = json_text_read(text, size, JSON_REJECT_DUPLICATES, &where);
    if (!root && where.text[0] == '\0') /* jansson on out-of-memory */
        rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for JSON", path);
    else if (!root)
        rapt_fail(err, RAPT_ERR_FORMAT, "%s:%d: %s", path, where.line, quote(where.text).text);
    free(text);
    return root;
}
