/* recipe/recipe_places.c: paths of a recipe: relative ones are relative to the recipe, as with includes in Makefiles and C
 * files. Lists of paths have : between them, unless a file has the whole name; lists of corpora have a line for each. */
#include "recipe/recipe_places.h"

#include "base/chars.h"
#include "base/disk.h"
#include "base/file.h"
#include "base/memory_stream.h"
#include "base/quote.h"
#include "recipe/recipe_corpora.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "# from this folder ../pairs.tsv is /home/a/pairs.tsv": the path as the recipe has it stands there, too, so that a path that
 * somebody has changed is not replaced by the former one. */
#define PLACE_LINE "# from this folder "
#define PLACE_IS " is "

/* The characters that may separate paths of a key. */
static const char *separator(const recipe_key *key)
{
    return strncmp(key->name, "data.", 5) == 0 ? ":" : "";
}

/* ---- writing ------------------------------------------------------------------------------------------------------ */

/* Writes `to`, of `size` bytes, relative to a folder. Both are absolute. False: they have only the root in common. */
static bool put_relative(FILE *out, const char *folder, const char *to, size_t size)
{
    size_t common = 0, i = 0;
    for (; i < size && folder[i] == to[i]; i++)
        if (to[i] == '/')
            common = i;
    const bool within = folder[i] == '\0' && (i == size || to[i] == '/'), above = i == size && folder[i] == '/';
    common = within || above ? i : common;
    if (common == 0)
        return false;
    const char *rest = to + common + (common < size);
    const bool same = rest == to + size;
    bool first = true;
    for (const char *c = folder + common; *c; c++)
        if (*c == '/') {
            fputs(first ? ".." : "/..", out);
            first = false;
        }
    if (same)
        fputs(first ? "." : "", out);
    else
        fprintf(out, "%s%.*s", first ? "" : "/", (int)(size - (size_t)(rest - to)), rest);
    return true;
}

/* Whether a comment can hold a text: YAML has no control characters in comments, and ends them at the separators of lines that
 * Unicode has. */
static bool fits_comment(const char *text)
{
    char *clean = chars_copy(text);
    if (clean)
        quote_clean(clean);
    const bool fits = clean && strcmp(clean, text) == 0;
    free(clean);
    return fits;
}

/* The paths of a list relative to a folder. NULL if out of memory; "" if one of them has no relative place, or a name that a
 * comment cannot have. */
static char *relative_list(const char *folder, const char *list, const char *between)
{
    memory_stream text;
    size_t size;
    FILE *out = memory_stream_open(&text);
    bool fits = fits_comment(list);
    for (const char *path = list; out && fits; path += size + 1) {
        size = disk_list_part(path, between);
        fits = disk_is_absolute(path) && put_relative(out, folder, path, size);
        if (!path[size])
            break;
        putc(':', out);
    }
    if (memory_stream_close(&text) && !fits)
        *text.text = '\0';
    return text.text;
}

/* A comment line for each corpus of a list. False: out of memory. */
static bool write_places(FILE *out, const char *folder, const recipe_key *key, const char *list)
{
    bool fine = true;
    for (size_t size; *list && fine; list += size + (list[size] != '\0')) {
        size = disk_list_part(list, recipe_corpora_between(key));
        char *part = chars_copy_part(list, size), *relative = part ? relative_list(folder, part, separator(key)) : NULL;
        fine = relative != NULL;
        if (fine && *relative && fits_comment(relative))
            fprintf(out, PLACE_LINE "%s" PLACE_IS "%s\n", relative, part);
        free(relative);
        free(part);
    }
    return fine;
}

char *recipe_places(const char *folder, const rapt_recipe *recipe)
{
    char *here = disk_real_path(folder);
    memory_stream text;
    FILE *out = memory_stream_open(&text);
    bool fine = out != NULL;
    for (size_t i = 0; i < recipe_key_count() && fine && here; i++) {
        const recipe_key *key = recipe_key_at(i);
        char **field = recipe_key_path(key, (rapt_recipe *)recipe);
        fine = !field || !*field || write_places(out, here, key, *field);
    }
    free(here);
    if (memory_stream_close(&text) && fine)
        return text.text;
    free(text.text);
    return NULL;
}

/* ---- reading ------------------------------------------------------------------------------------------------------ */

/* The paths of a list, with relative ones joined to the recipe's folder; NULL if out of memory. */
static char *join_all(const char *recipe_path, const char *list, size_t list_size, const char *between)
{
    memory_stream joined;
    size_t at = 0;
    const char *slash = disk_last_slash(recipe_path);
    FILE *out = memory_stream_open(&joined);
    while (out) {
        const size_t rest = disk_list_part(list + at, between), size = rest < list_size - at ? rest : list_size - at;
        if (size > 0 && !disk_is_absolute(list + at) && slash)
            fprintf(out, "%.*s/", (int)(slash - recipe_path), recipe_path);
        fprintf(out, "%.*s", (int)size, list + at);
        at += size;
        if (at == list_size)
            break;
        putc(list[at++], out);
    }
    memory_stream_close(&joined);
    return joined.text;
}

/* Whether something has the name of the whole list, or each path of the list leads to something. Where that cannot be told, it is
 * taken to be so: whoever opens it gets the reason. */
static bool leads_somewhere(const char *list, const char *between)
{
    bool there = true;
    file_is_there(list, &there, NULL);
    if (there || !list[disk_list_part(list, between)])
        return there;
    there = true;
    for (size_t size; *list && there; list += size + (list[size] != '\0')) {
        size = disk_list_part(list, between);
        char *path = chars_copy_part(list, size);
        if (path && size > 0)
            file_is_there(path, &there, NULL);
        free(path);
    }
    return there;
}

/* The place of a path, or list, in the comments of a recipe; NULL: there is none. */
static const char *find_place(const char *text, const char *path, size_t *size)
{
    const size_t tail = strlen(PLACE_IS) + strlen(path);
    while ((text = strstr(text, "\n" PLACE_LINE)) != NULL) {
        text += 1 + strlen(PLACE_LINE);
        const size_t line = strcspn(text, "\r\n");
        if (line <= tail || strncmp(text + line - tail, PLACE_IS, strlen(PLACE_IS)) != 0 ||
            strncmp(text + line - strlen(path), path, strlen(path)) != 0)
            continue;
        *size = line - tail;
        return text;
    }
    return NULL;
}

typedef struct finding {
    const char *recipe_path, *text, *between;
    bool corpora; /* of which - is standard input */
    rapt_error *err;
} finding;

/* Where a path or list of paths of a recipe leads. */
static char *find_path(void *context, const char *path)
{
    const finding *f = context;
    const char *place;
    size_t size;
    if (f->corpora && strcmp(path, "-") == 0)
        return chars_copy(path);
    char *joined = join_all(f->recipe_path, path, strlen(path), "");
    if (joined && joined[disk_list_part(joined, ":")] && *f->between) {
        bool there = true;
        rapt_code code = file_is_there(joined, &there, f->err);
        if (code || !there) {
            free(joined);
            joined = code ? NULL : join_all(f->recipe_path, path, strlen(path), f->between);
        }
        if (code)
            return NULL;
    }
    const bool lost = joined && disk_is_absolute(path) && !leads_somewhere(joined, f->between);
    if (lost && f->text && (place = find_place(f->text, path, &size)) != NULL) {
        char *moved = join_all(f->recipe_path, place, size, f->between);
        char **worse = moved && leads_somewhere(moved, f->between) ? &joined : &moved;
        free(*worse);
        joined = worse == &joined ? moved : joined;
    }
    return joined;
}

rapt_code recipe_places_find(const char *path, const char *text, rapt_recipe *recipe, rapt_error *err)
{
    rapt_error own = {0};
    for (size_t i = 0; i < recipe_key_count(); i++) {
        const recipe_key *key = recipe_key_at(i);
        char **field = recipe_key_path(key, recipe);
        if (!field || !*field)
            continue;
        finding f = {path, text, separator(key), *recipe_corpora_between(key) != '\0', &own};
        char *found = recipe_map_paths(key, *field, find_path, &f);
        if (!found) {
            rapt_fail(&own, RAPT_ERR_MEMORY, "%s: out of memory while reading", path); /* unless there is a cause */
            return rapt_fail(err, own.code, "%s", own.message);
        }
        free(*field);
        *field = found;
    }
    return RAPT_OK;
}
