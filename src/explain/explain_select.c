/* explain/explain_select.c: selects intermediates and parts by shell patterns, and finds the name nearest to a pattern that
 * matches nothing. */
#include "explain/explanation.h"

#include "base/buffer.h"
#include "base/chars.h"
#include "base/pattern.h"
#include "base/quote.h"
#include "base/suggest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LISTED 4 /* names that are listed if none is near */
#define CHUNK ((size_t)16 << 10)

rapt_code explain_selection_init(explain_selection *s, const rapt_explain_options *o, rapt_error *err)
{
    *s = (explain_selection){.patterns = o->names, .count = o->name_count};
    arena_init(&s->memory, CHUNK);
    s->matched = arena_zeroed(&s->memory, s->count + 1, sizeof *s->matched);
    return s->matched ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu patterns", s->count);
}

void explain_selection_free(explain_selection *s)
{
    free(s->names);
    arena_free(&s->memory);
}

/* If memory runs out, only a suggestion is lost. */
static void keep_name(explain_selection *s, const char *name)
{
    bool fits = ARRAY_RESERVE(&s->names, &s->name_capacity, s->name_count + 1);
    char *copy = fits ? arena_string(&s->memory, name) : NULL;
    if (copy)
        s->names[s->name_count++] = copy;
}

bool explain_matches(explain_selection *s, const char *name)
{
    bool wanted = s->count == 0;
    for (size_t i = 0; i < s->count; i++)
        if (pattern_fits(s->patterns[i], name))
            wanted = s->matched[i] = true;
    return wanted;
}

bool explain_wants(explain_selection *s, const char *name)
{
    if (s->count > 0)
        keep_name(s, name);
    return explain_matches(s, name);
}

/* The pattern that takes in all of a module: "encoder.0.ffn.*" for "encoder.0.ffn.hidden". */
static char *module_pattern(const char *name)
{
    const char *dot = strrchr(name, '.');
    if (!dot)
        return chars_copy(name);
    return chars_print("%.*s.*", (int)(dot - name), name);
}

static const char *near_module(const explain_selection *s, const char *wanted, char near[128])
{
    size_t count = 0;
    char **patterns = malloc((s->name_count + 1) * sizeof *patterns);
    for (; patterns && count < s->name_count && (patterns[count] = module_pattern(s->names[count])); count++)
        ;
    const char *found = patterns ? suggest_nearest(wanted, (const char *const *)patterns, count) : NULL;
    snprintf(near, 128, "%s", found ? found : "");
    while (count > 0)
        free(patterns[--count]);
    free(patterns);
    return *near ? near : NULL;
}

static rapt_code fail_unmatched(const explain_selection *s, const char *pattern, rapt_error *err)
{
    char module[128], list[256] = "";
    const char *near = strpbrk(pattern, "*?[") ? near_module(s, pattern, module) : NULL;
    near = near ? near : suggest_nearest(pattern, (const char *const *)s->names, s->name_count);
    if (near)
        return rapt_fail(err, RAPT_ERR_NOT_FOUND, "no intermediate is called \"%s\"; did you mean \"%s\"?", quote(pattern).text,
                         near);
    for (size_t i = 0; i < s->name_count && i < LISTED; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%.60s", i ? ", " : "", s->names[i]);
    return rapt_fail(err, RAPT_ERR_NOT_FOUND, "no intermediate is called \"%s\"; there are %s, ...", quote(pattern).text, list);
}

/* A part that was not asked for is no misspelled name. */
static rapt_code check_part(const explain_selection *s, const char *part, bool there, const char *why, rapt_error *err)
{
    for (size_t i = 0; i < s->count && !there; i++)
        if (!s->matched[i] && pattern_fits(s->patterns[i], part))
            return rapt_fail(err, RAPT_ERR_NOT_FOUND, "\"%s\": there is a %s", quote(s->patterns[i]).text, why);
    return RAPT_OK;
}

rapt_code explain_selection_check(const explain_selection *s, const rapt_explain_options *o, rapt_error *err)
{
    rapt_code code = check_part(s, "loss", o->gradients, "loss with gradients only (--train)", err);
    code = code ? code : check_part(s, "lens", o->lens, "logit lens on request only (--lens)", err);
    if (code)
        return code;
    for (size_t i = 0; i < s->count; i++)
        if (!s->matched[i])
            return fail_unmatched(s, s->patterns[i], err);
    return RAPT_OK;
}
