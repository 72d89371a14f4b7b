/* metrics/references.h: the references of all segments, or of one alone, behind one question.
 * For BLEU and chrF, whose corpus and sentence scores differ in nothing else.
 * Not a copy: it points to the caller's strings. */
#ifndef METRICS_REFERENCES_H
#define METRICS_REFERENCES_H

#include <stddef.h>

struct references {
    const char *const *const *columns; /* [count][segments], or NULL: */
    const char *const *row;            /* [count], of the only segment */
    size_t count;
};

static inline const char *references_get(const struct references *refs, size_t reference, size_t segment)
{
    return refs->columns ? refs->columns[reference][segment] : refs->row[reference];
}

#endif
