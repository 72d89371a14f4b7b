/* recipe/recipe_read.c: a recipe from YAML, by libyaml's events.
 * For rapt_recipe_read and the fuzzer.
 * Not all of YAML: groups of keys with plain values, and lists of paths; no anchors, aliases, tags or second documents. */
#include "recipe/recipe_read.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/buffer.h"
#include "base/file.h"
#include "base/number.h"
#include "base/quote.h"
#include "recipe/recipe_corpora.h"
#include "recipe/recipe_defaults.h"
#include "recipe/recipe_places.h"
#include "recipe/recipe_seal.h"

enum { FILE_MAX = 1 << 20, NAME_MAX_BYTES = 200 };

typedef struct reader {
    const char *path, *text;
    size_t size; /* of the text */
    rapt_recipe *recipe;
    rapt_error *err;
    yaml_parser_t parser;
    bool former_names; /* keys may have their names of version 0.1 */
    yaml_event_t event;         /* the current one */
    size_t key_lines[RECIPE_KEYS_MAX]; /* line in which a key was set, from 1; 0: not yet */
    size_t group_lines[RECIPE_GROUPS];
} reader;

RAPT_PRINTF(4, 5)
static rapt_code recipe_read_fail_at(const reader *r, size_t line, rapt_code code, const char *format, ...)
{
    char reason[RECIPE_REASON];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    return rapt_fail(r->err, code, "%s:%zu: %s", r->path, line, reason);
}

static size_t line_of_byte(const reader *r, size_t at)
{
    size_t line = 1;
    for (size_t i = 0; i < at; i++)
        line += r->text[i] == '\n';
    return line;
}

/* Whether the line is indented by a tab, because libyaml does not say which character is wrong. */
static bool is_indented_by_tab(const reader *r, size_t line)
{
    size_t at = 0;
    for (; at < r->size && line > 0; at++)
        line -= r->text[at] == '\n';
    while (at < r->size && r->text[at] == ' ')
        at++;
    return at < r->size && r->text[at] == '\t';
}

static rapt_code fail_yaml(const reader *r)
{
    const yaml_parser_t *p = &r->parser;
    if (p->error == YAML_MEMORY_ERROR)
        return rapt_fail(r->err, RAPT_ERR_MEMORY, "%s: out of memory while reading", r->path);
    bool bad_character = p->error == YAML_READER_ERROR;
    size_t line = bad_character ? line_of_byte(r, p->problem_offset) : p->problem_mark.line + 1;
    if (p->error == YAML_SCANNER_ERROR && is_indented_by_tab(r, p->problem_mark.line))
        return recipe_read_fail_at(r, line, RAPT_ERR_FORMAT, "not YAML: a tab; lines are indented with spaces");
    return recipe_read_fail_at(r, line, RAPT_ERR_FORMAT, "not YAML: %s", p->problem ? p->problem : "unknown problem");
}

static size_t event_line(const reader *r)
{
    return r->event.start_mark.line + 1;
}

static rapt_code next_event(reader *r)
{
    yaml_event_delete(&r->event);
    return yaml_parser_parse(&r->parser, &r->event) ? RAPT_OK : fail_yaml(r);
}

/* The text of the current event, which must be a plain or quoted value. */
static rapt_code scalar_text(const reader *r, const char **text)
{
    const yaml_event_t *e = &r->event;
    if (e->type == YAML_SEQUENCE_START_EVENT)
        return recipe_read_fail_at(r, event_line(r), RAPT_ERR_FORMAT, "a list; lists are for data.pairs, data.validation and "
                                   "data.text");
    if (e->type != YAML_SCALAR_EVENT || e->data.scalar.anchor || e->data.scalar.tag)
        return recipe_read_fail_at(r, event_line(r), RAPT_ERR_FORMAT,
                                   "recipes have no anchors, aliases, tags or compound keys");
    *text = (const char *)e->data.scalar.value;
    if (strlen(*text) != e->data.scalar.length)
        return recipe_read_fail_at(r, event_line(r), RAPT_ERR_FORMAT, "a text holds a NUL character");
    return RAPT_OK;
}

/* Records that a name was read; an error if it comes twice. */
static rapt_code meet_once(const reader *r, size_t *first_line, const char *name, size_t line)
{
    if (*first_line > 0)
        return recipe_read_fail_at(r, line, RAPT_ERR_VALUE, "%s comes twice; first in line %zu", name, *first_line);
    *first_line = line;
    return RAPT_OK;
}

static rapt_code unknown_key(const reader *r, const char *name, size_t line)
{
    char reason[RECIPE_REASON];
    recipe_key_unknown(name, reason);
    return recipe_read_fail_at(r, line, RAPT_ERR_VALUE, "%s", reason);
}

/* A preset sets the other keys of `model`, so it must come first: after one of them it would undo what the recipe says. */
static rapt_code check_first_of_model(const reader *r, const recipe_key *preset, size_t line)
{
    for (size_t i = 0; i < recipe_key_count(); i++) {
        const recipe_key *key = recipe_key_at(i);
        if (r->key_lines[i] > 0 && key != preset && strncmp(key->name, "model.", 6) == 0)
            return recipe_read_fail_at(r, line, RAPT_ERR_VALUE, "model.preset sets the keys of model; it must come before %s",
                                       key->name);
    }
    return RAPT_OK;
}

/* YAML's null: the key is as if it were left out. In quotes it is a text. */
static bool is_null(const yaml_event_t *e)
{
    static const char *const words[] = {"~", "null", "Null", "NULL"};
    bool found = false;
    for (size_t i = 0; e->type == YAML_SCALAR_EVENT && i < sizeof words / sizeof *words; i++)
        found = found || strcmp((const char *)e->data.scalar.value, words[i]) == 0;
    return found && e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
}

/* ---- lists of paths --------------------------------------------------------------------------------------------- */

/* A list as it is read: its items as one text, and their weights as another. */
typedef struct path_list {
    const recipe_key *key;
    buffer paths, weights;
    bool weighted; /* a weight is not 1 */
} path_list;

static rapt_code list_out_of_memory(const reader *r)
{
    return rapt_fail(r->err, RAPT_ERR_MEMORY, "%s: out of memory while reading", r->path);
}

static rapt_code take_path(const reader *r, path_list *l)
{
    const char *text, *between = recipe_list_between(l->key);
    rapt_code code = scalar_text(r, &text);
    if (code)
        return code;
    if (!*text || is_null(&r->event))
        return recipe_read_fail_at(r, event_line(r), RAPT_ERR_VALUE, "an item of %s is empty", l->key->name);
    if (strstr(text, between))
        return recipe_read_fail_at(r, event_line(r), RAPT_ERR_VALUE, "a path of the list %s has %s in it, which separates its "
                                   "paths", l->key->name, *between == ':' ? "a colon" : "a line break");
    const bool kept = (l->paths.size == 0 || buffer_append(&l->paths, between, 1)) &&
                      buffer_append(&l->paths, text, strlen(text));
    return kept ? RAPT_OK : list_out_of_memory(r);
}

/* The value of `path` or `weight`; the current event is its name. */
static rapt_code read_corpus_key(reader *r, path_list *l, size_t *path_line, size_t *weight_line, double *weight)
{
    const char *text;
    char reason[RECIPE_REASON];
    rapt_code code = scalar_text(r, &text);
    if (code)
        return code;
    const size_t line = event_line(r);
    const bool is_path = strcmp(text, "path") == 0, is_weight = strcmp(text, "weight") == 0;
    if (!is_path && !is_weight)
        return recipe_read_fail_at(r, line, RAPT_ERR_VALUE, "unknown key \"%s\"; an item of %s has path and weight",
                                   quote(text).text, l->key->name);
    if (is_weight && strcmp(l->key->name, "data.pairs") != 0)
        return recipe_read_fail_at(r, line, RAPT_ERR_VALUE, "%s has no weights; they are for data.pairs", l->key->name);
    code = meet_once(r, is_path ? path_line : weight_line, is_path ? "path" : "weight", line);
    code = code ? code : next_event(r);
    if (code || is_path)
        return code ? code : take_path(r, l);
    code = scalar_text(r, &text);
    if (!code && !recipe_weight_read(text, weight, reason))
        code = recipe_read_fail_at(r, line, RAPT_ERR_VALUE, "%s", reason);
    return code;
}

/* An item of a list: a path, or a mapping of path and weight. */
static rapt_code read_item(reader *r, path_list *l)
{
    size_t path_line = 0, weight_line = 0;
    const size_t line = event_line(r);
    double weight = 1;
    char number[NUMBER_TEXT];
    const bool mapping = r->event.type == YAML_MAPPING_START_EVENT;
    rapt_code code = mapping ? RAPT_OK : take_path(r, l);
    while (mapping && !code && (code = next_event(r)) == RAPT_OK && r->event.type != YAML_MAPPING_END_EVENT)
        code = read_corpus_key(r, l, &path_line, &weight_line, &weight);
    if (!code && mapping && path_line == 0)
        code = recipe_read_fail_at(r, line, RAPT_ERR_VALUE, "an item of %s has no path", l->key->name);
    if (code)
        return code;
    number_write(weight, number);
    l->weighted = l->weighted || weight != 1;
    const bool kept = (l->weights.size == 0 || buffer_append(&l->weights, ",", 1)) &&
                      buffer_append(&l->weights, number, strlen(number));
    return kept ? RAPT_OK : list_out_of_memory(r);
}

static rapt_code set_list_text(reader *r, const recipe_key *key, const char *text, size_t line)
{
    char reason[RECIPE_REASON];
    rapt_code code = recipe_defaults_set(key, r->recipe, text ? text : "", reason);
    return code ? recipe_read_fail_at(r, line, code, "%s", reason) : RAPT_OK;
}

/* The current event opens a list. */
static rapt_code read_paths(reader *r, const recipe_key *key, size_t line)
{
    const recipe_key *weights = recipe_key_find("data.weights");
    path_list l = {.key = key};
    rapt_code code = r->event.data.sequence_start.anchor || r->event.data.sequence_start.tag
                         ? recipe_read_fail_at(r, line, RAPT_ERR_FORMAT, "recipes have no anchors, aliases or tags")
                         : RAPT_OK;
    while (!code && (code = next_event(r)) == RAPT_OK && r->event.type != YAML_SEQUENCE_END_EVENT)
        code = read_item(r, &l);
    if (!code)
        code = set_list_text(r, key, l.paths.data, line);
    if (!code && l.weighted)
        code = meet_once(r, &r->key_lines[recipe_key_index(weights)], weights->name, line);
    if (!code && l.weighted)
        code = set_list_text(r, weights, l.weights.data, line);
    buffer_free(&l.paths);
    buffer_free(&l.weights);
    return code;
}

/* ---- keys ------------------------------------------------------------------------------------------------------- */

static rapt_code read_value(reader *r, const char *name, size_t line)
{
    const char *text;
    char reason[RECIPE_REASON];
    const char *now = r->former_names ? recipe_key_renamed(name) : NULL;
    const recipe_key *key = recipe_key_wanted(now ? now : name, reason);
    if (!key)
        return recipe_read_fail_at(r, line, RAPT_ERR_VALUE, "%s", reason);
    rapt_code code = meet_once(r, &r->key_lines[recipe_key_index(key)], key->name, line);
    if (code == RAPT_OK && key == recipe_key_find("model.preset"))
        code = check_first_of_model(r, key, line);
    if (code == RAPT_OK && r->event.type == YAML_SEQUENCE_START_EVENT && *recipe_list_between(key))
        return read_paths(r, key, line);
    if (code == RAPT_OK)
        code = scalar_text(r, &text);
    if (code != RAPT_OK || is_null(&r->event))
        return code;
    code = recipe_defaults_set(key, r->recipe, text, reason);
    return code == RAPT_OK ? code : recipe_read_fail_at(r, line, code, "%s", reason);
}

static rapt_code read_mapping(reader *r, const char *group);

/* The keys of a group; the current event opens its mapping. */
static rapt_code read_group(reader *r, const char *name, size_t line, bool nested)
{
    size_t group = recipe_group_index(name);
    if (recipe_key_find(name))
        return recipe_read_fail_at(r, line, RAPT_ERR_VALUE, "%s is one value, not a group of keys", name);
    const bool inner = nested && recipe_key_is_inner_group(name);
    if (!inner && (nested || group == RECIPE_GROUPS))
        return unknown_key(r, name, line);
    if (r->event.data.mapping_start.anchor || r->event.data.mapping_start.tag)
        return recipe_read_fail_at(r, line, RAPT_ERR_FORMAT, "recipes have no anchors, aliases or tags");
    rapt_code code = inner ? RAPT_OK : meet_once(r, &r->group_lines[group], name, line); /* a key that comes twice is told */
    return code == RAPT_OK ? read_mapping(r, name) : code;
}

/* "group.key", or "key" outside of groups, from the current event. */
static rapt_code read_name(const reader *r, const char *group, char name[NAME_MAX_BYTES])
{
    const char *key;
    rapt_code code = scalar_text(r, &key);
    if (code != RAPT_OK)
        return code;
    int length = snprintf(name, NAME_MAX_BYTES, "%s%s%s", group ? group : "", group ? "." : "", key);
    return length < NAME_MAX_BYTES ? RAPT_OK : unknown_key(r, key, event_line(r));
}

/* All keys of the current mapping, up to the event that ends it. */
static rapt_code read_mapping(reader *r, const char *group)
{
    char name[NAME_MAX_BYTES];
    rapt_code code;
    while ((code = next_event(r)) == RAPT_OK && r->event.type != YAML_MAPPING_END_EVENT) {
        size_t line = event_line(r);
        code = read_name(r, group, name);
        if (code == RAPT_OK)
            code = next_event(r);
        if (code != RAPT_OK)
            return code;
        bool is_group = r->event.type == YAML_MAPPING_START_EVENT;
        code = is_group ? read_group(r, name, line, group != NULL) : read_value(r, name, line);
        if (code != RAPT_OK)
            return code;
    }
    return code;
}

static rapt_code read_document(reader *r)
{
    rapt_code code = next_event(r); /* the stream's start */
    if (code == RAPT_OK)
        code = next_event(r);
    if (code != RAPT_OK)
        return code;
    if (r->event.type == YAML_STREAM_END_EVENT)
        return rapt_fail(r->err, RAPT_ERR_FORMAT, "%s: the recipe is empty", r->path);
    code = next_event(r); /* after the document's start */
    if (code == RAPT_OK && r->event.type != YAML_MAPPING_START_EVENT)
        code = recipe_read_fail_at(r, event_line(r), RAPT_ERR_FORMAT, "a recipe is a list of \"key: value\" lines");
    if (code == RAPT_OK)
        code = read_mapping(r, NULL);
    if (code == RAPT_OK)
        code = next_event(r); /* the document's end */
    if (code == RAPT_OK)
        code = next_event(r);
    if (code == RAPT_OK && r->event.type != YAML_STREAM_END_EVENT)
        code = recipe_read_fail_at(r, event_line(r), RAPT_ERR_FORMAT, "a recipe is one YAML document; here starts a second");
    return code;
}

rapt_code recipe_parse(const char *path, const char *text, size_t size, bool former_names, rapt_recipe *out, rapt_error *err)
{
    rapt_recipe_defaults(out);
    if (size > FILE_MAX)
        return rapt_fail(err, RAPT_ERR_VALUE, "%s is larger than %d bytes", path, FILE_MAX);
    if (size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) { /* skips a byte order mark, which editors may leave */
        text += 3;
        size -= 3;
    }
    reader r = {.path = path, .text = text, .size = size, .recipe = out, .err = err, .former_names = former_names};
    if (!yaml_parser_initialize(&r.parser))
        return rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory while reading", path);
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, size);
    yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
    rapt_code code = read_document(&r);
    yaml_event_delete(&r.event);
    yaml_parser_delete(&r.parser);
    if (code != RAPT_OK)
        rapt_recipe_free(out);
    return code;
}

/* A recipe with its paths. `path`: as messages name the recipe; `place`: a file in the folder from which relative paths count.
 * `kept`: the recipe of a run, whose seal is whole: its comments count. Anybody can write a comment into another recipe. */
static rapt_code read_text(const char *path, const char *place, const char *text, size_t size, bool former_names, bool kept,
                           rapt_recipe *out, rapt_error *err)
{
    rapt_code code = recipe_parse(path, text, size, former_names, out, err);
    if (code == RAPT_OK)
        code = recipe_places_find(place, kept ? text : NULL, out, err);
    if (code != RAPT_OK)
        rapt_recipe_free(out);
    return code;
}

static rapt_code recipe_read_file(const char *path, bool former_names, bool kept, rapt_recipe *out, rapt_error *err)
{
    char *text;
    size_t size;
    rapt_recipe_defaults(out);
    /* Pipes and devices are refused, except standard input. */
    rapt_code code = strcmp(path, "-") == 0 ? file_read(path, FILE_MAX, &text, &size, err)
                                            : file_read_regular(path, FILE_MAX, &text, &size, err);
    if (code != RAPT_OK)
        return code;
    code = read_text(path, path, text, size, former_names, kept, out, err);
    free(text);
    return code;
}

rapt_code rapt_recipe_parse(const char *text, size_t size, const char *folder, rapt_recipe *out, rapt_error *err)
{
    char *place = NULL;
    rapt_recipe_defaults(out);
    if (folder && *folder && !(place = file_join(folder, "recipe")))
        return rapt_fail(err, RAPT_ERR_MEMORY, "recipe: out of memory while reading");
    rapt_code code = read_text("recipe", place ? place : "recipe", size > 0 ? text : "", size, false, false, out, err);
    free(place);
    return code;
}

rapt_code rapt_recipe_read(const char *path, rapt_recipe *out, rapt_error *err)
{
    return recipe_read_file(path, false, false, out, err);
}

rapt_code rapt_recipe_load(const char *folder, rapt_recipe *out, rapt_error *err)
{
    char *path;
    rapt_recipe_defaults(out);
    rapt_code code = file_path(folder, "recipe.yaml", &path, err);
    if (!code)
        code = recipe_read_file(path, true, recipe_state_in(folder, 0) >= RECIPE_OF_ANOTHER, out, err);
    free(path);
    return code;
}
