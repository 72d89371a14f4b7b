/* metrics/references.h: one interface to the references of all segments, or of a single one. For BLEU and chrF, whose corpus and
 * sentence scores differ only in that. It points to the caller's texts. */
#ifndef METRICS_REFERENCES_H
#define METRICS_REFERENCES_H

#include "rapt/base.h"

struct references {
    const rapt_text *const *columns; /* [count][segments], or NULL: */
    const rapt_text *row;            /* [count] references of the only segment */
    size_t count;
};

static inline const rapt_text *references_get(const struct references *refs, size_t reference, size_t segment)
{
    return refs->columns ? &refs->columns[reference][segment] : &refs->row[reference];
}

#endif
