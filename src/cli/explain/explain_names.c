/* cli/explain/explain_names.c: what `rapt explain` calls the axes of matrices, and which tokens they run along. What
 * tokens are called is in token_names.c. */
#include "cli/explain/cmd_explain.h"

#include <string.h>

const explain_sequence *explain_last(const explanation *e)
{
    return &e->sequences[e->sequence_count - 1];
}

const char *explain_axis(const rapt_observation *s, int dim, char word[16])
{
    const char *axes = s->axes ? s->axes : "";
    for (int i = 0; i < dim; i++) {
        axes += strcspn(axes, " ");
        axes += strspn(axes, " ");
    }
    size_t length = strcspn(axes, " ");
    length = length < 15 ? length : 15;
    memcpy(word, axes, length);
    word[length] = '\0';
    return word;
}

/* Keys of a cross-attention are the encoder's; the parameters of a model run along no sequence. */
const explain_sequence *explain_along(const explanation *e, const rapt_observation *s, int dim)
{
    char word[16];
    explain_axis(s, dim, word);
    bool key = strcmp(word, "key") == 0;
    if (!key && strcmp(word, "query") != 0 && strcmp(word, "time") != 0)
        return NULL;
    bool source = strncmp(s->name, "encoder.", 8) == 0 || (key && strstr(s->name, ".cross_attention."));
    const explain_sequence *along = source ? &e->sequences[0] : explain_last(e);
    return s->tensor->shape[dim] == along->count ? along : NULL;
}
