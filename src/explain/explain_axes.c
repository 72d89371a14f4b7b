/* explain/explain_axes.c: the names of axes, and the tokens along them. input/token_name.c names tokens. */
#include "explain/explanation.h"

#include <string.h>

const explain_sequence *explain_last(const rapt_explanation *e)
{
    return &e->sequences[e->sequence_count - 1];
}

size_t explain_size(const rapt_intermediate *x)
{
    size_t size = 1;
    for (int i = 0; i < x->ndim; i++)
        size *= x->shape[i];
    return size;
}

const char *explain_axis(const rapt_intermediate *x, int dim, char word[16])
{
    const char *axes = x->axes ? x->axes : "";
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
const explain_sequence *explain_along(const rapt_explanation *e, const rapt_intermediate *x, int dim)
{
    char word[16];
    explain_axis(x, dim, word);
    bool key = strcmp(word, "key") == 0;
    if (!key && strcmp(word, "query") != 0 && strcmp(word, "time") != 0)
        return NULL;
    bool source = strncmp(x->name, "encoder.", 8) == 0 || (key && strstr(x->name, ".cross_attention."));
    const explain_sequence *along = source ? &e->sequences[0] : explain_last(e);
    return x->shape[dim] == along->count ? along : NULL;
}
