/* io/hub/hub_family.c: the table of model types. */
#include "io/hub/hub_family.h"

#include <stdio.h>
#include <string.h>

static const hub_family *const FAMILIES[] = {&HUB_GPT2, &HUB_LLAMA, &HUB_MISTRAL, &HUB_QWEN2, &HUB_QWEN3, &HUB_SMOLLM3,
                                             &HUB_GRANITE, &HUB_OLMO2, &HUB_NEOX, &HUB_GEMMA, &HUB_GEMMA2, &HUB_GEMMA3,
                                             &HUB_PHI3, &HUB_STARCODER2, &HUB_BLOOM, &HUB_MPT, &HUB_MARIAN,
                                             &HUB_PEGASUS, &HUB_BART, &HUB_MBART,
                                             &HUB_M2M_100, &HUB_T5, &HUB_MT5, &HUB_UMT5, &HUB_BERT, &HUB_ROBERTA,
                                             &HUB_XLM_ROBERTA, &HUB_DISTILBERT};
enum { FAMILY_COUNT = sizeof FAMILIES / sizeof *FAMILIES };

const hub_family *hub_family_of(const char *type)
{
    for (size_t i = 0; i < FAMILY_COUNT; i++)
        if (strcmp(FAMILIES[i]->type, type) == 0)
            return FAMILIES[i];
    return NULL;
}

hub_type_list hub_family_list(bool trained)
{
    hub_type_list list;
    size_t used = 0;
    for (size_t i = 0; i < FAMILY_COUNT && used < sizeof list.text; i++)
        if (FAMILIES[i]->trains || !trained)
            used += (size_t)snprintf(list.text + used, sizeof list.text - used, "%s%s", used ? ", " : "", FAMILIES[i]->type);
    return list;
}
