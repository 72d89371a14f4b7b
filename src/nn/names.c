/* nn/names.c: names of parameters, as model files have them. For all modules. */
#include "nn/names.h"

#include <stdio.h>
#include <string.h>

name name_join(const char *prefix, const char *rest)
{
    name n;
    snprintf(n.text, sizeof n.text, "%s%s", prefix, rest);
    return n;
}

name name_index(const char *prefix, size_t index)
{
    name n;
    snprintf(n.text, sizeof n.text, "%s%zu.", prefix, index);
    return n;
}

const char *name_keep(rapt_params *set, const char *prefix)
{
    size_t n = strlen(prefix);
    char *text = rapt_params_alloc(set, n + 1, 1);
    if (!text)
        return "";
    memcpy(text, prefix, n);
    if (n > 0 && text[n - 1] == '.')
        text[n - 1] = '\0';
    return text;
}
