/* data/check/check_filter.c: filters texts in memory, in place. */
#include "data/check/check_filter.h"

#include "data/check/check_runs.h"
#include "text/text_in.h"
#include "text/utf8.h"

#include <stdlib.h>
#include <string.h>

rapt_code check_encoding(const check_input *in, rapt_error *err)
{
    for (size_t i = 0; i < in->count; i++) {
        const char *text = in->text[i];
        const size_t size = in->size[i];
        const bool fine = !memchr(text, '\0', size) && utf8_valid_prefix(text, size) == size;
        const char *guess = fine ? NULL : text_in_guess(text, size);
        if (guess)
            return rapt_fail(err, RAPT_ERR_FORMAT, "%.300s: %s", in->name[i], guess);
    }
    return RAPT_OK;
}

/* A text that becomes shorter. */
typedef struct shrinking {
    char *text;
    size_t size;
} shrinking;

typedef struct filtering {
    shrinking texts[2];
    check_runs runs[2];
    size_t count;
    size_t *numbers, kept;
} filtering;

static rapt_code check_filter_put(void *context, const char *at, size_t size, rapt_error *err)
{
    shrinking *s = context;
    (void)err;
    memmove(s->text + s->size, at, size);
    s->size += size;
    return RAPT_OK;
}

/* Called once for each line, after all lines have been compared: only then may the texts be moved. */
static void check_filter_line(void *context, size_t number, uint32_t found)
{
    filtering *f = context;
    const bool kept = !(found & CHECK_ANY_REASON);
    for (size_t i = 0; i < f->count; i++)
        check_runs_line(&f->runs[i], kept, NULL);
    if (kept)
        f->numbers[f->kept++] = number;
}

rapt_code check_filter(check_input *in, char *const text[2], const check_options *o, check_filtered *out, rapt_error *err)
{
    const size_t lines = lines_count((line_walk){in->text[0], in->text[0] + in->size[0]});
    filtering f = {.count = in->count};
    check_options own = *o;
    own.each = check_filter_line;
    own.context = &f;
    *out = (check_filtered){0};
    rapt_code code = check_encoding(in, err);
    if (code)
        return code;
    f.numbers = malloc((lines + 1) * sizeof *f.numbers);
    if (!f.numbers)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu lines", lines);
    for (size_t i = 0; i < in->count; i++) {
        f.texts[i] = (shrinking){text[i], 0};
        f.runs[i] = check_runs_of(in->text[i], in->size[i], check_filter_put, &f.texts[i]);
    }
    code = check_pairs(in, &own, &out->report, err);
    for (size_t i = 0; i < in->count && !code; i++) {
        check_runs_end(&f.runs[i], NULL);
        in->size[i] = f.texts[i].size;
        text[i][in->size[i]] = '\0';
    }
    if (code)
        free(f.numbers);
    else
        *out = (check_filtered){f.numbers, f.kept, out->report};
    return code;
}

void check_filter_free(check_filtered *f)
{
    free(f->numbers);
    *f = (check_filtered){0};
}
