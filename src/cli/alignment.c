/* cli/alignment.c: alignments as text; see alignment.h. Where they come from is in decode/align.c. */
#include "cli/alignment.h"

#include <string.h>

alignment_kind alignment_named(const char *text)
{
    if (strcmp(text, "hard") == 0)
        return ALIGNMENT_HARD;
    return strcmp(text, "soft") == 0 ? ALIGNMENT_SOFT : ALIGNMENT_NONE;
}

/* Every token is put to one of the source, the end is none. */
static size_t most_looked_at(const rapt_alignment_row *row)
{
    size_t best = 0;
    for (size_t i = 1; i < row->count; i++)
        best = row->weights[i] > row->weights[best] ? i : best;
    return row->first + best;
}

/* Also of the source's other pieces, which it did not see. */
static double looked_at(const rapt_alignment_row *row, size_t source, size_t sources)
{
    if (source == sources)
        return (double)row->weights[row->count];
    return source >= row->first && source - row->first < row->count ? (double)row->weights[source - row->first] : 0;
}

void alignment_print(alignment_kind kind, const rapt_alignment *a, FILE *to)
{
    if (kind != ALIGNMENT_NONE)
        fputc('\t', to);
    for (size_t j = 0; j < a->targets && kind != ALIGNMENT_NONE; j++) {
        const rapt_alignment_row *row = &a->rows[j];
        fputs(j ? " " : "", to);
        if (kind == ALIGNMENT_HARD)
            fprintf(to, "%zu-%zu", most_looked_at(row), j);
        for (size_t i = 0; i <= a->sources && kind == ALIGNMENT_SOFT; i++)
            fprintf(to, "%s%.4f", i ? "," : "", looked_at(row, i, a->sources));
    }
}
