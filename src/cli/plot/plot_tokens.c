/* cli/plot/plot_tokens.c: tokens with the names that they have in a picture. For the subcommands of `rapt plot` that inspect
 * models. Not a tokenizer. */
#include "cli/plot/cmd_plot.h"

#include "explain/input/token_name.h"

#include <stdlib.h>

void plot_tokens_free(plot_tokens *t)
{
    for (size_t i = 0; t->names && i < t->count; i++)
        free(t->names[i]);
    free(t->names);
    free(t->ids);
    *t = (plot_tokens){0};
}

rapt_code plot_name_tokens(const rapt_tokenizer *k, plot_tokens *t, rapt_error *err)
{
    t->names = calloc(t->count + 1, sizeof *t->names);
    for (size_t i = 0; i < t->count; i++)
        if (!t->names || !(t->names[i] = token_name(k, t->ids[i])))
            return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the names of %zu tokens", t->count);
    return RAPT_OK;
}
