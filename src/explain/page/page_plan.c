/* explain/page/page_plan.c: the precision of each intermediate in a page. A page must open quickly: if not everything fits
 * exactly, the less informative intermediates are rounded to fewer bits, and finally left out. It knows names and sizes, but no
 * elements. */
#include "explain/page/page_steps.h"

#include "base/ends.h"
#include "text/bpe/base64.h"

#include <string.h>

#define SMALL 256 /* elements whose size does not matter */

typedef struct rank {
    const char *end; /* of a name */
    int class;       /* 0 stays longest */
} rank;

enum { CLASSES = 10, CLASS_PARAMETERS = 6, CLASS_OTHER = 7, CLASS_BACKWARD = 9 };

/* The first that fits counts. */
static const rank RANKS[] = {
    {".weights", 0},
    {"probabilities", 1}, {".sum", 1}, {"embedding", 1}, {"input", 1},
    {"attention.output", 2}, {"ffn.output", 2}, {"norm.output", 2},
    {".q", 3}, {".k", 3}, {".v", 3}, {".rotated", 3}, {".heads", 3}, {".concat", 3},
    {"norm1.output", 4}, {"norm2.output", 4}, {"norm3.output", 4},
    {"embedding.scaled", 5}, {"positions", 5}, {"decoder.output", 5}, {"output", 5},
    {".scores", 8}, {".scaled", 8}, {".masked", 8},
};

static int class_of(const page_step *s)
{
    if (s->gradient)
        return json_is_string(json_object_get(s->json, "formula")) ? CLASS_BACKWARD : CLASS_PARAMETERS;
    for (size_t i = 0; i < sizeof RANKS / sizeof *RANKS; i++)
        if (ends_in(s->name, RANKS[i].end))
            return RANKS[i].class;
    return CLASS_OTHER;
}

static size_t page_plan_letters_of(const page_step *s, page_format format)
{
    size_t stored = page_step_stored(s), rows = s->groups * s->rows;
    switch (format) {
    case PAGE_BYTE: return BASE64_CAPACITY(stored) + BASE64_CAPACITY(4 * rows);
    case PAGE_HALF: return BASE64_CAPACITY(2 * stored);
    case PAGE_EXACT: return BASE64_CAPACITY(4 * stored);
    default: return 0;
    }
}

/* The format that a step can take instead of `format`. */
static page_format fitting(const page_step *s, page_format format)
{
    if (page_step_stored(s) <= SMALL)
        return PAGE_EXACT;
    return format == PAGE_BYTE && s->odd ? PAGE_HALF : format;
}

static size_t letters_of_class(const page_steps *all, int class, page_format format)
{
    size_t sum = 0;
    for (size_t i = 0; i < all->count; i++) {
        const page_step *s = &all->steps[i];
        if (s->x && !s->source && class_of(s) == class)
            sum += page_plan_letters_of(s, fitting(s, format));
    }
    return sum;
}

size_t page_plan(page_steps *all, size_t letters)
{
    page_format formats[CLASSES];
    size_t taken = 0;
    for (int c = 0; c < CLASSES; c++) {
        size_t more = letters_of_class(all, c, PAGE_BYTE);
        formats[c] = taken + more <= letters ? PAGE_BYTE : PAGE_LEFT_OUT;
        taken += formats[c] == PAGE_BYTE ? more : letters_of_class(all, c, PAGE_LEFT_OUT);
    }
    for (int c = 0; c < CLASSES; c++)
        for (page_format finer = PAGE_EXACT; formats[c] == PAGE_BYTE && finer > PAGE_BYTE; finer--) {
            size_t changed = taken - letters_of_class(all, c, PAGE_BYTE) + letters_of_class(all, c, finer);
            if (changed > letters)
                continue;
            formats[c] = finer;
            taken = changed;
        }
    for (size_t i = 0; i < all->count; i++)
        all->steps[i].format = fitting(&all->steps[i], formats[class_of(&all->steps[i])]);
    return taken;
}

void page_plan_parameters(page_steps *all, size_t letters)
{
    size_t taken = 0;
    for (page_format format = PAGE_BYTE; format <= PAGE_EXACT; format++)
        for (size_t i = 0; i < all->count; i++) {
            page_step *s = &all->steps[i];
            const page_format finer = fitting(s, format);
            if (!s->x || s->source || (format > PAGE_BYTE && s->format == PAGE_LEFT_OUT))
                continue;
            const size_t changed = taken - page_plan_letters_of(s, s->format) + page_plan_letters_of(s, finer);
            if (changed > letters)
                continue;
            s->format = finer;
            taken = changed;
        }
}
