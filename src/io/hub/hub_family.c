/* io/hub/hub_family.c: the table of model types. */
#include "io/hub/hub_family.h"

#include <stdio.h>
#include <string.h>

static const hub_family *const FAMILIES[] = {&HUB_GPT2, &HUB_LLAMA, &HUB_MISTRAL, &HUB_QWEN2, &HUB_QWEN3, &HUB_SMOLLM3,
                                             &HUB_GRANITE, &HUB_OLMO2, &HUB_NEOX, &HUB_GEMMA, &HUB_GEMMA2, &HUB_GEMMA3,
                                             &HUB_PHI3, &HUB_MARIAN, &HUB_PEGASUS, &HUB_BART, &HUB_MBART, &HUB_M2M_100,
                                             &HUB_T5, &HUB_MT5, &HUB_UMT5, &HUB_BERT, &HUB_ROBERTA, &HUB_XLM_ROBERTA,
                                             &HUB_DISTILBERT};
enum { FAMILY_COUNT = sizeof FAMILIES / sizeof *FAMILIES };

#define TRAINED \
    "gpt2, llama, mistral, qwen2, qwen3, smollm3, olmo2, gpt_neox, gemma, gemma2, gemma3_text, phi3, granite, marian, pegasus"

const char *hub_family_trained(void)
{
    return TRAINED;
}

bool hub_family_trains(const char *type)
{
    const size_t length = strlen(type);
    for (const char *at = TRAINED; at; at = strchr(at, ' ') ? strchr(at, ' ') + 1 : NULL)
        if (strncmp(at, type, length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return true;
    return false;
}

const hub_family *hub_family_of(const char *type)
{
    for (size_t i = 0; i < FAMILY_COUNT; i++)
        if (strcmp(FAMILIES[i]->type, type) == 0)
            return FAMILIES[i];
    return NULL;
}

void hub_family_list(char *text, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; i < FAMILY_COUNT && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", FAMILIES[i]->type);
}
