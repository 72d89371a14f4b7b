/* io/lora/lora_whole.c: chooses the matrices that are trained beside the adapters and saved whole. */
#include "io/lora/model_lora.h"

#include "base/quote.h"
#include "io/hub/hub_origin.h"
#include "io/model_core.h"

#include <stdio.h>
#include <string.h>

/* The name of the output matrix in files that have it beside an embedding that it is tied to; or else "". */
static void whole_output_name(const hub_origin *o, const rapt_param *embedding, char name[PLACE_NAME])
{
    place_match match;
    char bare[PLACE_NAME];
    const place_row *row = o ? place_next(&o->naming, o->rows[embedding->index], embedding->value.name, &match) : NULL;
    snprintf(name, PLACE_NAME, "%s", o ? "" : "output");
    if (!row)
        return;
    place_name(&o->naming, row, &match, bare, name);
    char *end = strrchr(name, '.');
    if (end)
        *end = '\0';
}

/* The embedding and the output matrix, if the files have them row by row. */
static size_t whole_find(const rapt_model *m, lora_whole *all)
{
    rapt_lm *net = m->language.net;
    const bool tied = net->config.tied;
    rapt_param *const matrices[LORA_WHOLE_MAX] = {net->input.embedding.weight, net->output.weight};
    for (size_t i = 0; i < (tied ? 1 : LORA_WHOLE_MAX); i++) {
        lora_module found = {.count = 0};
        place_slice rows = {.columns = 0};
        lora_describe_matrix(m->origin, matrices[i], &found, &rows);
        if (found.transposed || rows.first != 0 || rows.head || rows.plus_one || found.out != matrices[i]->value.shape[0])
            continue;
        memcpy(all->names[all->count], found.name, sizeof found.name);
        all->matrices[all->count++] = matrices[i];
    }
    if (tied && all->count == 1) {
        whole_output_name(m->origin, matrices[0], all->names[1]);
        all->matrices[1] = matrices[0];
        all->count = all->names[1][0] ? 2 : 0;
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
    rapt_code code = whole_find(m, &all) ? RAPT_OK
                                         : rapt_fail(err, RAPT_ERR_VALUE, "save: the model has no matrix to save whole");
    for (const char *name = names; !code; name++) {
        const size_t size = strcspn(name, ",");
        code = whole_add(w, &all, name, size, err);
        name += size;
        if (!*name)
            break;
    }
    if (!code && m->language.net->config.tied)
        *w = all;
    return code;
}

bool lora_whole_is_tied(const lora_whole *w)
{
    return w->count == 2 && w->matrices[0] == w->matrices[1];
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
