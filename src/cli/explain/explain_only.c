/* cli/explain/explain_only.c: `rapt explain --only`: which steps are wanted, and what is near a pattern that matches nothing. */
#define _GNU_SOURCE
#include "cli/explain/cmd_explain.h"

#include "base/quote.h"
#include "base/suggest.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#define LISTED 4 /* names, where none is near */

/* Without memory a name is missing among the near ones, no more. */
static void keep_name(explanation *e, const char *name)
{
    if (e->name_count == e->name_room) {
        size_t room = 2 * e->name_room + 64;
        char **longer = realloc(e->names, room * sizeof *longer);
        if (!longer)
            return;
        e->names = longer;
        e->name_room = room;
    }
    char *copy = strdup(name);
    if (copy)
        e->names[e->name_count++] = copy;
}

bool explain_wants(explanation *e, const char *name)
{
    bool wanted = e->a->only_count == 0;
    for (size_t i = 0; i < e->a->only_count; i++)
        if (fnmatch(e->a->only[i], name, 0) == 0)
            wanted = e->matched[i] = true;
    if (e->a->only_count > 0)
        keep_name(e, name);
    return wanted;
}

/* The pattern that takes in all of a module: "encoder.0.ffn.*" for "encoder.0.ffn.hidden". */
static char *module_pattern(const char *name)
{
    char *pattern;
    const char *dot = strrchr(name, '.');
    if (!dot)
        return strdup(name);
    return asprintf(&pattern, "%.*s.*", (int)(dot - name), name) < 0 ? NULL : pattern;
}

static const char *near_module(const explanation *e, const char *wanted, char near[128])
{
    size_t count = 0;
    char **patterns = malloc((e->name_count + 1) * sizeof *patterns);
    for (; patterns && count < e->name_count && (patterns[count] = module_pattern(e->names[count])); count++)
        ;
    const char *found = patterns ? suggest_nearest(wanted, (const char *const *)patterns, count) : NULL;
    snprintf(near, 128, "%s", found ? found : "");
    while (count > 0)
        free(patterns[--count]);
    free(patterns);
    return *near ? near : NULL;
}

static rapt_code fail_unmatched(const explanation *e, const char *pattern, rapt_error *err)
{
    char module[128], list[256] = "";
    const char *near = strpbrk(pattern, "*?[") ? near_module(e, pattern, module) : NULL;
    near = near ? near : suggest_nearest(pattern, (const char *const *)e->names, e->name_count);
    if (near)
        return rapt_fail(err, RAPT_ERR_NOT_FOUND, "--only: no step is called \"%s\"; did you mean \"%s\"?", quote(pattern).text,
                         near);
    for (size_t i = 0; i < e->name_count && i < LISTED; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%.60s", i ? ", " : "", e->names[i]);
    return rapt_fail(err, RAPT_ERR_NOT_FOUND, "--only: no step is called \"%s\"; there are %s, ...", quote(pattern).text, list);
}

rapt_code explain_check_only(const explanation *e, rapt_error *err)
{
    for (size_t i = 0; i < e->a->only_count; i++)
        if (!e->matched[i] && !e->a->train && fnmatch(e->a->only[i], "loss", 0) == 0)
            return rapt_fail(err, RAPT_ERR_VALUE, "--only \"%s\": only with --train", quote(e->a->only[i]).text);
    for (size_t i = 0; i < e->a->only_count; i++)
        if (!e->matched[i])
            return fail_unmatched(e, e->a->only[i], err);
    return RAPT_OK;
}
