/* decode/coverage.c: hypotheses that leave out parts of the source rank lower. As in CTranslate2, only finished hypotheses are
 * ranked by it: the search itself goes by the length penalty alone. */
#include "decode/coverage.h"

#include "base/math.h"
#include "decode/align.h"
#include "io/model_core.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Source tokens without any attention are left out, as log 0 would be no penalty but an exclusion. */
static double coverage_of(const rapt_alignment *a)
{
    double sum = 0;
    for (size_t i = 0; i <= a->sources; i++) {
        double covered = 0;
        for (size_t j = 0; j < a->targets; j++)
            covered += (double)a->rows[j].weights[i];
        sum += covered > 0 ? math_log(fmin(covered, 1)) : 0;
    }
    return sum;
}

/* With a row for <eos>, too, which may be the only token: an alignment leaves out one. */
static rapt_code coverage_align(rapt_tape *t, const rapt_model *m, const source_segment *source, const search_hypothesis *h,
                                rapt_alignment *a, rapt_error *err)
{
    int32_t *tokens = malloc((h->length + 1) * sizeof *tokens);
    if (!tokens)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the coverage of a translation");
    memcpy(tokens, h->tokens, h->length * sizeof *tokens);
    tokens[h->length] = m->translation.special.eos;
    rapt_code code = align_tokens(t, m, source->ids, source->count, tokens, h->length + 1, a, err);
    free(tokens);
    return code;
}

rapt_code coverage_rank(rapt_tape *t, const rapt_model *m, const source_segment *source, double penalty, search_result *found,
                        rapt_error *err)
{
    for (size_t n = 0; n < found->count; n++) {
        search_hypothesis h = found->best[n];
        rapt_alignment a;
        rapt_code code = coverage_align(t, m, source, &h, &a, err);
        if (code)
            return code;
        h.score += penalty * coverage_of(&a);
        align_free(&a);
        size_t at = n;
        for (; at > 0 && h.score > found->best[at - 1].score; at--)
            found->best[at] = found->best[at - 1];
        found->best[at] = h;
    }
    return RAPT_OK;
}
