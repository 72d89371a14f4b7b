/* explain/explain_heading.c: the part of a model that an intermediate belongs to, in the book's words: "Encoder block 0:
 * Self-attention". For the headings of explain_text.c. It knows names only. */
#include "explain/explanation.h"

#include "base/ends.h"
#include "io/model_core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct title {
    const char *begin; /* the rest of a name */
    const char *text;
} title;

static const title TITLES[] = {
    {"embedding", "Embedding"},
    {"positions", "Positions"},
    {"input", "Positions"},
    {"attention.", "Self-attention"},
    {"self_attention.", "Masked self-attention"},
    {"cross_attention.", "Cross-attention"},
    {"ffn.", "Feed-forward network"},
    {"norm.", "Last norm"},
    {"output", "Output"},
    {"probabilities", "Output"},
};

static bool explain_heading_begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* The title of a block's norm1, norm2, ...: a norm before a sublayer, after it, or after the residual sum. */
static const char *norm_title(const rapt_model *m, const char *name)
{
    bool language = m->task == RAPT_TASK_LANGUAGE_MODEL;
    rapt_norm_place place = language ? m->language.net->config.block.norm_place : m->translation.net->config.block.norm_place;
    if (place == RAPT_NORM_PLACE_POST)
        return "Add & norm";
    return ends_in(name, ".sum") ? "Add" : "Norm";
}

static const char *title_of(const rapt_explanation *e, const char *rest)
{
    bool causal = e->model->task == RAPT_TASK_LANGUAGE_MODEL && explain_heading_begins(rest, "attention.");
    for (size_t i = 0; i < sizeof TITLES / sizeof *TITLES; i++)
        if (explain_heading_begins(rest, TITLES[i].begin))
            return causal ? "Masked self-attention" : TITLES[i].text;
    return explain_heading_begins(rest, "norm") ? norm_title(e->model, rest) : "Steps";
}

/* Writes "Encoder", "Decoder block 3" or nothing, and returns the rest of the name. */
static const char *explain_heading_take_place(const char *name, char place[48])
{
    static const title places[] = {{"encoder.", "Encoder"}, {"decoder.", "Decoder"}, {"blocks.", ""}};
    place[0] = '\0';
    for (size_t i = 0; i < 3; i++) {
        if (!explain_heading_begins(name, places[i].begin))
            continue;
        char *rest = (char *)name + strlen(places[i].begin);
        unsigned long block = *rest >= '0' && *rest <= '9' ? strtoul(rest, &rest, 10) : 0;
        bool in_block = *rest == '.' && rest > name + strlen(places[i].begin);
        snprintf(place, 48, "%s%s", places[i].text, in_block ? *places[i].text ? " block " : "Block " : "");
        if (in_block)
            snprintf(place + strlen(place), 48 - strlen(place), "%lu", block);
        return rest + in_block;
    }
    return name;
}

void explain_heading(const rapt_explanation *e, const rapt_intermediate *x, char text[96])
{
    char place[48];
    const char *rest = explain_heading_take_place(x->name, place), *back = x->gradient ? "Gradients: " : "";
    if (x->gradient && !x->formula)
        snprintf(text, 96, "Gradients: Parameters");
    else if (place[0])
        snprintf(text, 96, "%s%s: %s", back, place, title_of(e, rest));
    else
        snprintf(text, 96, "%s%s", back, title_of(e, rest));
}
