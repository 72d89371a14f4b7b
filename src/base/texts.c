/* base/texts.c: strings as texts with sizes. */
#include "base/texts.h"

#include <stdlib.h>

rapt_text *texts_of(const char *const *strings, size_t count, rapt_error *err)
{
    rapt_text *texts = calloc(count + 1, sizeof *texts);
    if (!texts)
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu texts", count);
    for (size_t i = 0; texts && i < count; i++)
        texts[i] = rapt_text_of(strings[i]);
    return texts;
}
