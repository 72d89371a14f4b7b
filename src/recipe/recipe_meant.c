/* recipe/recipe_meant.c: the key that was probably meant by a name that no key has. For messages. */
#include "base/quote.h"
#include "base/suggest.h"
#include "recipe/recipe_keys.h"

#include <stdio.h>
#include <string.h>

static const char *tail_of(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot ? dot + 1 : name;
}

static size_t list_names(const char *names[RECIPE_KEYS_MAX], const char *tails[RECIPE_KEYS_MAX])
{
    const size_t count = recipe_key_count();
    for (size_t i = 0; i < count; i++) {
        names[i] = recipe_key_at(i)->name;
        tails[i] = tail_of(names[i]);
    }
    return count;
}

static bool is_same_word(const char *a, const char *b)
{
    for (; *a && (*a == *b || (*a == '-' && *b == '_')); a++)
        b++;
    return *a == *b;
}

static size_t count_dots(const char *name)
{
    size_t dots = 0;
    for (; *name; name++)
        dots += *name == '.';
    return dots;
}

const char *recipe_key_meant(const char *name, const char *value)
{
    const char *names[RECIPE_KEYS_MAX], *tails[RECIPE_KEYS_MAX], *tail = tail_of(name), *meant = NULL;
    const size_t count = list_names(names, tails);
    bool takes = false;
    for (size_t i = 0; i < count; i++) {
        const bool own = !value || recipe_key_takes_word(recipe_key_at(i), value);
        if (is_same_word(tail, tails[i]) &&
            (!meant || own > takes || (own == takes && count_dots(names[i]) < count_dots(meant)))) {
            meant = names[i];
            takes = own;
        }
    }
    return meant ? meant : suggest_synonym(tail, names, count);
}

/* The key that may have been meant by `name`: in another group ("layers"), by another name ("n_layer"), or a similar one. */
static const char *nearest_key(const char *name)
{
    const char *names[RECIPE_KEYS_MAX], *tails[RECIPE_KEYS_MAX], *groups[RECIPE_GROUPS], *meant = recipe_key_meant(name, NULL);
    const size_t count = list_names(names, tails);
    for (size_t i = 0; i < RECIPE_GROUPS; i++)
        groups[i] = recipe_group_at(i);
    const char *group = meant || strchr(name, '.') ? NULL : suggest_spelling(name, groups, RECIPE_GROUPS);
    const char *nearest = meant ? meant : group ? group : suggest_nearest(name, names, count);
    const char *tail = nearest ? NULL : suggest_nearest(tail_of(name), tails, count);
    for (size_t i = 0; i < count && tail; i++)
        if (tails[i] == tail)
            return names[i];
    return nearest;
}

void recipe_key_unknown(const char *name, char reason[RECIPE_REASON])
{
    const char *nearest = nearest_key(name);
    if (nearest)
        snprintf(reason, RECIPE_REASON, RECIPE_UNKNOWN_KEY "%s\"; did you mean \"%s\"?", quote(name).text, nearest);
    else
        snprintf(reason, RECIPE_REASON, RECIPE_UNKNOWN_KEY "%s\"", quote(name).text);
}

const recipe_key *recipe_key_wanted(const char *name, char reason[RECIPE_REASON])
{
    const recipe_key *key = recipe_key_find(name);
    const char *now = recipe_key_renamed(name);
    if (now)
        snprintf(reason, RECIPE_REASON, "%s is now %s", name, now);
    else if (!key && recipe_group_index(name) < RECIPE_GROUPS)
        snprintf(reason, RECIPE_REASON, "%s is a group of keys; it has no value itself", name);
    else if (!key)
        recipe_key_unknown(name, reason);
    return key;
}
