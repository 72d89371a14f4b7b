/* decode/translations.c: frees translations; for callers of rapt_translate, and for source_segments.c, which joins the
 * translations of segments. */
#include "rapt/decode.h"

#include "decode/align.h"

#include <stdlib.h>
#include <string.h>

void rapt_translations_free(rapt_translation *t, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < t[i].count; j++) {
            free(t[i].hypotheses[j].text);
            free(t[i].hypotheses[j].tokens);
            free(t[i].hypotheses[j].log_probs);
            free(t[i].hypotheses[j].spans);
            align_free(&t[i].hypotheses[j].alignment);
        }
        free(t[i].hypotheses);
        free(t[i].source);
        free(t[i].source_spans);
        free(t[i].unknown_words);
    }
    memset(t, 0, count * sizeof *t);
}
