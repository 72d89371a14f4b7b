/* cli/document_lines.c: which line of a document each of its texts is on. */
#include "cli/document_lines.h"

#include <stdlib.h>

line_block *document_lines(const rapt_markup *m, rapt_text document, rapt_error *err)
{
    const size_t count = rapt_markup_count(m);
    line_block *texts = malloc((count + 1) * sizeof *texts);
    if (!texts)
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu texts", count);
    for (size_t i = 0, at = 0, number = 1; texts && i < count; i++) {
        for (const size_t begin = rapt_markup_begin(m, i); at < begin; at++)
            number += document.data[at] == '\n';
        texts[i] = (line_block){rapt_markup_lines(m) + i, 1, number};
    }
    return texts;
}
