/* text/json_text.c: see json_text.h. Written into memory of the right size, which cannot end on the way. */
#include "text/json_text.h"

#include <stdlib.h>

char *json_text(const json_t *root, size_t flags)
{
    size_t size = root ? json_dumpb(root, NULL, 0, flags) : 0;
    char *text = size > 0 ? malloc(size + 1) : NULL;
    if (text && json_dumpb(root, text, size, flags) == size) {
        text[size] = '\0';
        return text;
    }
    free(text);
    return NULL;
}
