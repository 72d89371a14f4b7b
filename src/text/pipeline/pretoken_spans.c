/* text/pipeline/pretoken_spans.c: one piece is open at a time: the next span joins it or closes it. */
#include "text/pipeline/pretoken_steps.h"

bool span_joiner_end(span_joiner *j)
{
    bool ok = !j->open || j->begin == j->end || piece_list_add_part(j->out, j->text, j->from, j->begin, j->end, j->first_bytes);
    j->open = false;
    return ok;
}

static bool joins(const span_joiner *j, bool match)
{
    switch (j->behavior) {
    case SPLIT_MERGED_WITH_PREVIOUS: return match && !j->last;
    case SPLIT_MERGED_WITH_NEXT: return !match && j->last;
    case SPLIT_CONTIGUOUS: return match == j->last;
    default: return false;
    }
}

bool span_joiner_put(span_joiner *j, size_t begin, size_t end, bool match)
{
    bool ok = true;
    match = match != j->invert;
    if (j->open && joins(j, match)) {
        j->end = end;
    } else {
        ok = span_joiner_end(j);
        j->open = j->behavior != SPLIT_REMOVED || !match;
        j->begin = begin;
        j->end = end;
    }
    j->last = match;
    return ok;
}
