/* cli/corpus_text.c: counts of data.filter as text. */
#include "cli/corpus_text.h"

#include <stdio.h>

const char *corpus_filter_text(const rapt_corpus *c, char text[CORPUS_FILTER_TEXT])
{
    size_t all = 0, used = 0;
    for (size_t i = 0; i < c->rule_count; i++)
        all += c->left_out[i].lines;
    if (all == 0)
        snprintf(text, CORPUS_FILTER_TEXT, "none of %zu lines left out", c->lines);
    else
        used = (size_t)snprintf(text, CORPUS_FILTER_TEXT, "%zu of %zu lines left out", all, c->lines);
    for (size_t i = 0, first = 1; i < c->rule_count && all > 0 && used < CORPUS_FILTER_TEXT; i++)
        if (c->left_out[i].lines > 0) {
            used += (size_t)snprintf(text + used, CORPUS_FILTER_TEXT - used, "%s%s %zu", first ? ": " : ", ", c->left_out[i].rule,
                                     c->left_out[i].lines);
            first = 0;
        }
    return text;
}
