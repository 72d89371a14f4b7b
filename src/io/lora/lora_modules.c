/* io/lora/lora_modules.c: finds and chooses the modules of a model. */
#include "io/lora/model_lora.h"

#include "base/buffer.h"
#include "base/quote.h"
#include "io/hub/hub_origin.h"
#include "nn/layers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LISTED = 300 };

/* ---- all -------------------------------------------------------------------------------------------------------- */

typedef struct lora_walk {
    lora_modules *all;
    const hub_origin *origin; /* NULL: a model of rapt, whose files have the names of its parameters */
} lora_walk;

void lora_describe_matrix(const hub_origin *o, const rapt_param *weight, lora_module *m, place_slice *rows)
{
    place_match match;
    char bare[PLACE_NAME];
    size_t shape[2];
    const place_row *row = o ? o->rows[weight->index] : NULL;
    if (row) {
        place_next(&o->naming, NULL, weight->value.name, &match);
        place_name(&o->naming, row, &match, bare, m->name);
        place_shape(&o->naming, row, &weight->value, shape);
        m->transposed = row->how & PLACE_TRANSPOSED;
        m->out = shape[m->transposed ? 1 : 0];
        *rows = place_slice_of(&o->naming, row, &weight->value);
    } else {
        snprintf(m->name, sizeof m->name, "%s", weight->value.name);
        m->out = weight->value.shape[0];
    }
    char *end = strrchr(m->name, '.');
    if (end)
        *end = '\0';
}

/* A layers_fn. Layers of one matrix are neighbors. */
static bool lora_add_layer(void *context, rapt_linear *l)
{
    lora_walk *w = context;
    lora_module found = {.count = 0};
    place_slice rows = {.columns = 0};
    lora_describe_matrix(w->origin, l->weight, &found, &rows);
    lora_module *m = w->all->count ? &w->all->list[w->all->count - 1] : NULL;
    if (!m || m->count == LORA_PARTS || strcmp(m->name, found.name) != 0) {
        if (!ARRAY_RESERVE(&w->all->list, &w->all->capacity, w->all->count + 1))
            return false;
        m = &w->all->list[w->all->count++];
        *m = found;
    }
    m->rows[m->count] = rows;
    m->layers[m->count++] = l;
    return true;
}

rapt_code lora_modules_find(lora_modules *all, const rapt_model *m, rapt_error *err)
{
    lora_walk w = {all, m->origin};
    const bool ok = m->language.net ? layers_of_lm(m->language.net, lora_add_layer, &w)
                                    : layers_of_transformer(m->translation.net, lora_add_layer, &w);
    return ok ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for adapters");
}

void lora_modules_free(lora_modules *all)
{
    free(all->list);
}

const char *lora_part_before(const char *name, const char *end)
{
    while (end > name && end[-1] != '.')
        end--;
    return end;
}

bool lora_module_is_whole(const lora_module *m)
{
    return m->count == 1 && m->rows[0].first == 0 && !m->rows[0].head && m->out == m->layers[0]->weight->value.shape[0];
}

/* ---- choosing --------------------------------------------------------------------------------------------------- */

bool lora_name_ends(const char *name, const char *end, size_t size)
{
    const size_t length = strlen(name);
    return size > 0 && size <= length && strncmp(name + length - size, end, size) == 0 &&
           (size == length || name[length - size - 1] == '.');
}

static bool lora_is_listed(const char *list, const char *part)
{
    for (size_t size; *list; list += size + (list[size] == ',')) {
        size = strcspn(list, ",");
        if (size == strlen(part) && strncmp(list, part, size) == 0)
            return true;
    }
    return false;
}

static rapt_code lora_fail_name(const lora_modules *all, const char *name, size_t size, rapt_error *err)
{
    char listed[LISTED] = "", wanted[LISTED];
    for (size_t i = 0, used = 0; i < all->count && used < sizeof listed; i++) {
        const char *whole = all->list[i].name, *part = lora_part_before(whole, whole + strlen(whole));
        if (!lora_is_listed(listed, part))
            used += (size_t)snprintf(listed + used, sizeof listed - used, "%s%s", used ? "," : "", part);
    }
    snprintf(wanted, sizeof wanted, "%.*s", (int)(size < LISTED ? size : LISTED), name);
    return rapt_fail(err, RAPT_ERR_VALUE, "no layer of the model is called \"%s\"; there are %s", quote(wanted).text, listed);
}

rapt_code lora_modules_choose(lora_modules *all, const char *names, rapt_error *err)
{
    const bool every = !names || !*names || strcmp(names, "all") == 0;
    for (size_t i = 0; every && i < all->count; i++)
        all->list[i].chosen = true;
    if (every)
        return RAPT_OK;
    for (const char *name = names;; name++) {
        const size_t size = strcspn(name, ",");
        bool any = false;
        for (size_t i = 0; i < all->count; i++)
            if (lora_name_ends(all->list[i].name, name, size))
                any = all->list[i].chosen = true;
        if (!any)
            return lora_fail_name(all, name, size, err);
        name += size;
        if (!*name)
            return RAPT_OK;
    }
}

/* ---- "target_modules" ------------------------------------------------------------------------------------------- */

/* Whether only chosen modules have this end of a name. */
static bool lora_end_is_chosen(const lora_modules *all, const char *end)
{
    const size_t size = strlen(end);
    for (size_t i = 0; i < all->count; i++)
        if (!all->list[i].chosen && lora_name_ends(all->list[i].name, end, size))
            return false;
    return true;
}

static bool lora_add_target(json_t *targets, const char *end)
{
    size_t i;
    json_t *there;
    json_array_foreach(targets, i, there)
        if (strcmp(json_string_value(there), end) == 0)
            return true;
    return json_array_append_new(targets, json_string(end)) == 0;
}

json_t *lora_modules_targets(const lora_modules *all)
{
    json_t *targets = json_array();
    for (size_t i = 0; targets && i < all->count; i++) {
        const char *name = all->list[i].name, *end = name + strlen(name);
        if (!all->list[i].chosen)
            continue;
        do
            end = lora_part_before(name, end - (*end != '\0'));
        while (end > name && !lora_end_is_chosen(all, end));
        if (!lora_add_target(targets, end)) {
            json_decref(targets);
            targets = NULL;
        }
    }
    return targets;
}
