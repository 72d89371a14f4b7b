/* explain/explain_lens_text.c: the logit lens as text for people: for one position a table, with a line for each depth. */
#include "explain/explanation.h"

#include "base/math.h"
#include "explain/input/token_name.h"
#include "print/printer.h"

#include <stdlib.h>
#include <string.h>

static rapt_code lens_out_of_memory(rapt_error *err)
{
    return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a token");
}

static bool lens_put_name(const rapt_explanation *e, int32_t id, FILE *to)
{
    char *token = token_name(explain_last(e)->tokenizer, id);
    if (token)
        fputs(token, to);
    free(token);
    return token != NULL;
}

/* Which token the columns "choice" and "next" are about. */
static bool lens_put_heading(const rapt_explanation *e, size_t position, FILE *to)
{
    const rapt_explained_prediction own = explain_prediction(e, &e->own, position);
    fprintf(to, "after token %zu, %s: the model's choice is ", position, strchr(explain_last(e)->labels[position], ' ') + 1);
    bool ok = lens_put_name(e, own.ids[0], to);
    if (own.has_label) {
        fputs(", the next token ", to);
        ok = lens_put_name(e, own.label, to) && ok;
    }
    fprintf(to, "\n  blocks  choice         p%s  most probable\n", own.has_label ? "    next         p" : "");
    return ok;
}

/* As many tokens as the line holds, at least one; `used` columns are taken. */
static rapt_code lens_put_tokens(const rapt_explanation *e, rapt_explained_prediction p, size_t used, size_t width, FILE *to,
                                 rapt_error *err)
{
    for (size_t i = 0; i < p.count; i++) {
        char *token = token_name(explain_last(e)->tokenizer, p.ids[i]);
        if (!token)
            return lens_out_of_memory(err);
        used += print_width(token) + strlen("   0.1234");
        const bool fits = i == 0 || width == 0 || used <= width;
        if (fits)
            fprintf(to, "  %s %.4f", token, p.probabilities[i]);
        free(token);
        if (!fits)
            break;
    }
    fputc('\n', to);
    return RAPT_OK;
}

rapt_code explain_lens_print(const rapt_explanation *e, size_t position, size_t width, FILE *to, rapt_error *err)
{
    rapt_code code = lens_put_heading(e, position, to) ? RAPT_OK : lens_out_of_memory(err);
    for (size_t depth = 0; depth < e->depths && !code; depth++) {
        const rapt_explained_lens x = rapt_explanation_lens(e, depth, position);
        int used = fprintf(to, "  %6zu  %6zu  %.6f", depth, x.choice_rank, x.choice_probability);
        const bool same = x.prediction.label == e->own.ids[position * e->top]; /* then the number is, too, to the last digit */
        if (x.prediction.has_label)
            used += fprintf(to, "  %6zu  %.6f", x.label_rank, same ? x.choice_probability : math_exp(-x.prediction.loss));
        code = lens_put_tokens(e, x.prediction, used > 0 ? (size_t)used : 0, width, to, err);
    }
    return code;
}
