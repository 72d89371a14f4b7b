/* io/lora/lora_whole.c: chooses the matrices that are trained beside the adapters and saved whole. */
#include "io/lora/model_lora.h"

#include "base/quote.h"
#include "io/hub/hub_origin.h"
#include "io/model_core.h"

#include <stdio.h>
#include <string.h>

/* The embedding and the output matrix, if the files have them row by row. */
static size_t whole_find(const rapt_model *m, lora_whole *all)
{
    rapt_lm *net = m->language.net;
    rapt_param *const matrices[LORA_WHOLE_MAX] = {net->input.embedding.weight, net->output.weight};
    for (size_t i = 0; i < LORA_WHOLE_MAX; i++) {
        lora_module found = {.count = 0};
        place_slice rows = {.columns = 0};
        lora_describe_matrix(m->origin, matrices[i], &found, &rows);
        if (found.transposed || rows.first != 0 || rows.head || rows.plus_one || found.out != matrices[i]->value.shape[0])
            continue;
        memcpy(all->names[all->count], found.name, sizeof found.name);
        all->matrices[all->count++] = matrices[i];
    }
    return all->count;
}

static rapt_code whole_add(lora_whole *w, const lora_whole *all, const char *name, size_t size, rapt_error *err)
{
    char wanted[PLACE_NAME];
    bool any = false;
    for (size_t i = 0; i < all->count; i++) {
        if (!lora_name_ends(all->names[i], name, size))
            continue;
        any = true;
        if (lora_whole_has(w, all->matrices[i]))
            continue;
        memcpy(w->names[w->count], all->names[i], sizeof all->names[i]);
        w->matrices[w->count++] = all->matrices[i];
    }
    snprintf(wanted, sizeof wanted, "%.*s", (int)(size < PLACE_NAME ? size : PLACE_NAME), name);
    return any ? RAPT_OK
               : rapt_fail(err, RAPT_ERR_VALUE, "save: no matrix that can be saved whole is called \"%s\"; there are %s%s%s",
                           quote(wanted).text, all->names[0], all->count > 1 ? "," : "", all->names[1]);
}

rapt_code lora_whole_choose(lora_whole *w, const rapt_model *m, const char *names, rapt_error *err)
{
    lora_whole all = {.count = 0};
    *w = (lora_whole){.count = 0};
    if (!names || !*names)
        return RAPT_OK;
    if (!m->language.net)
        return rapt_fail(err, RAPT_ERR_VALUE, "save: matrices are saved whole of language models alone");
    if (m->language.net->config.tied)
        return rapt_fail(err, RAPT_ERR_VALUE, "save: the model's embedding and output are one matrix, which PEFT would make two");
    rapt_code code = whole_find(m, &all) ? RAPT_OK
                                         : rapt_fail(err, RAPT_ERR_VALUE, "save: the model has no matrix to save whole");
    for (const char *name = names; !code; name++) {
        const size_t size = strcspn(name, ",");
        code = whole_add(w, &all, name, size, err);
        name += size;
        if (!*name)
            break;
    }
    return code;
}

bool lora_whole_has(const lora_whole *w, const rapt_param *p)
{
    for (size_t i = 0; i < w->count; i++)
        if (w->matrices[i] == p)
            return true;
    return false;
}

json_t *lora_whole_json(const lora_whole *w)
{
    json_t *list = w->count ? json_array() : json_null();
    for (size_t i = 0; list && i < w->count; i++) {
        const char *name = w->names[i];
        if (json_array_append_new(list, json_string(lora_part_before(name, name + strlen(name)))) == 0)
            continue;
        json_decref(list);
        list = NULL;
    }
    return list;
}
