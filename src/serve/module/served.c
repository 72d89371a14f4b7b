/* serve/module/served.c: finds the model for a request, and keeps it while it is used. */
#include "serve/module/served.h"

#include "serve/module/served_load.h"

#include <string.h>
#include <strings.h>

const served *served_named(const served_set *set, const char *name)
{
    for (size_t i = 0; i < set->count; i++)
        if (strcmp(set->models[i].name, name) == 0)
            return &set->models[i];
    return NULL;
}

const served *served_first(const served_set *set, rapt_task task)
{
    for (size_t i = 0; i < set->count; i++)
        if (set->models[i].task == task)
            return &set->models[i];
    return NULL;
}

/* How well a model's language code fits a requested one: 2 exactly, 1 except for a region ("en-US" and "en"), 0 not at all. */
static int code_fits(const char *has, const char *asked)
{
    if (!has)
        return 0;
    if (strcasecmp(has, asked) == 0)
        return 2;
    const size_t language = strcspn(has, "-_");
    return language == strcspn(asked, "-_") && strncasecmp(has, asked, language) == 0 && (!has[language] || !asked[language]);
}

const served *served_pair(const served_set *set, const char *source, const char *target)
{
    const bool any = !source || strcasecmp(source, "auto") == 0;
    const served *best = NULL;
    int best_fit = 0;
    for (size_t i = 0; i < set->count; i++) {
        const served *s = &set->models[i];
        const int to = code_fits(s->target, target), from = any ? 2 : code_fits(s->source, source);
        const int fit = s->task == RAPT_TASK_TRANSLATION && to && from ? to + from : 0;
        if (fit > best_fit) {
            best_fit = fit;
            best = s;
        }
    }
    return best;
}

json_t *served_list_pairs(served_set *set, served_pair_fn *add)
{
    json_t *list = json_array();
    bool ok = list != NULL;
    for (size_t i = 0; i < set->count && ok; i++) {
        const served *m = &set->models[i];
        if (m->task == RAPT_TASK_TRANSLATION && m->source && m->target)
            ok = add(list, m->source, m->target);
    }
    served_release(set);
    if (ok)
        return list;
    json_decref(list);
    return NULL;
}

const char *served_damage(const served *s)
{
    return s->watch ? map_watch_damage(s->watch) : NULL;
}

served_set *served_hold(served_set *set)
{
    atomic_fetch_add(&set->owner->references, 1);
    return set;
}

void served_release(served_set *set)
{
    if (set && atomic_fetch_sub(&set->owner->references, 1) == 1)
        set->owner->retire(set->owner->context, set);
}
