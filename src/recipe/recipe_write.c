/* recipe/recipe_write.c: a whole recipe as YAML, for the copy of the recipe in a model folder. Comments of a recipe file are not
 * kept. */
#include "rapt/recipe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/memory_stream.h"
#include "base/number.h"
#include "data/pairs.h"
#include "recipe/recipe_corpora.h"
#include "recipe/recipe_defaults.h"

static rapt_code recipe_write_out_of_memory(rapt_error *err)
{
    return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the text of a recipe");
}

/* Emits an event that was initialized without failure; libyaml's functions return 0 on out of memory. */
static bool emit(yaml_emitter_t *emitter, int initialized, yaml_event_t *event)
{
    return initialized && yaml_emitter_emit(emitter, event);
}

static bool emit_text(yaml_emitter_t *emitter, const char *text, size_t length, yaml_scalar_style_t style)
{
    yaml_event_t e;
    const yaml_char_t *bytes = (const yaml_char_t *)text;
    int made = yaml_scalar_event_initialize(&e, NULL, NULL, bytes, (int)length, 1, 1, style);
    return emit(emitter, made, &e);
}

static bool begin_mapping(yaml_emitter_t *emitter)
{
    yaml_event_t e;
    int made = yaml_mapping_start_event_initialize(&e, NULL, NULL, 1, YAML_BLOCK_MAPPING_STYLE);
    return emit(emitter, made, &e);
}

static bool end_mapping(yaml_emitter_t *emitter)
{
    yaml_event_t e;
    return emit(emitter, yaml_mapping_end_event_initialize(&e), &e);
}

static bool begin_document(yaml_emitter_t *emitter)
{
    yaml_event_t e;
    return emit(emitter, yaml_stream_start_event_initialize(&e, YAML_UTF8_ENCODING), &e) &&
           emit(emitter, yaml_document_start_event_initialize(&e, NULL, NULL, NULL, 1), &e) &&
           begin_mapping(emitter);
}

static bool end_document(yaml_emitter_t *emitter)
{
    yaml_event_t e;
    return end_mapping(emitter) && emit(emitter, yaml_document_end_event_initialize(&e, 1), &e) &&
           emit(emitter, yaml_stream_end_event_initialize(&e), &e);
}

/* Length of "model" in "model.layers"; 0 for a key outside of groups. */
static size_t group_length(const char *name)
{
    const char *dot = strchr(name, '.');
    return dot ? (size_t)(dot - name) : 0;
}

/* Closes the group of the key before and opens this key's group, if they differ. */
static bool change_group(yaml_emitter_t *emitter, const char *before, const char *name)
{
    size_t old = group_length(before), now = group_length(name);
    if (old == now && strncmp(before, name, now) == 0)
        return true;
    return (old == 0 || end_mapping(emitter)) &&
           (now == 0 || (emit_text(emitter, name, now, YAML_PLAIN_SCALAR_STYLE) && begin_mapping(emitter)));
}

/* Quoted, so that no path is parsed as a number, and special characters are escaped. */
static bool emit_quoted(yaml_emitter_t *emitter, const char *text, size_t size)
{
    return emit_text(emitter, text, size, YAML_DOUBLE_QUOTED_SCALAR_STYLE);
}

/* The corpora of a text: several are a list. */
static bool emit_corpora(yaml_emitter_t *emitter, const char *text)
{
    const char *first = text + strspn(text, PAIRS_BETWEEN);
    const size_t size = strcspn(first, PAIRS_BETWEEN), between = strspn(first + size, PAIRS_BETWEEN);
    yaml_event_t e;
    if (!first[size + between])
        return emit_quoted(emitter, first, size);
    bool done = emit(emitter, yaml_sequence_start_event_initialize(&e, NULL, NULL, 1, YAML_BLOCK_SEQUENCE_STYLE), &e);
    for (size_t part; done && *first; first += part + strspn(first + part, PAIRS_BETWEEN)) {
        part = strcspn(first, PAIRS_BETWEEN);
        done = emit_quoted(emitter, first, part);
    }
    return done && emit(emitter, yaml_sequence_end_event_initialize(&e), &e);
}

static bool emit_key(yaml_emitter_t *emitter, const recipe_key *key, const rapt_recipe *recipe)
{
    char buffer[RECIPE_NUMBER];
    const char *value = recipe_key_value(key, recipe, buffer), *name = key->name;
    if (group_length(name) > 0)
        name += group_length(name) + 1;
    if (!emit_text(emitter, name, strlen(name), YAML_PLAIN_SCALAR_STYLE))
        return false;
    if (*recipe_corpora_between(key))
        return emit_corpora(emitter, value);
    return key->kind == RECIPE_STRING ? emit_quoted(emitter, value, strlen(value))
                                      : emit_text(emitter, value, strlen(value), YAML_PLAIN_SCALAR_STYLE);
}

static bool emit_recipe(yaml_emitter_t *emitter, const rapt_recipe *recipe)
{
    const char *before = "";
    bool done = begin_document(emitter);
    for (size_t i = 0; done && i < recipe_key_count(); i++) {
        const recipe_key *key = recipe_key_at(i);
        done = change_group(emitter, before, key->name) && emit_key(emitter, key, recipe);
        before = key->name;
    }
    return done && (group_length(before) == 0 || end_mapping(emitter)) && end_document(emitter);
}

static bool write_yaml(const rapt_recipe *recipe, FILE *out)
{
    yaml_emitter_t emitter;
    if (!yaml_emitter_initialize(&emitter))
        return false;
    yaml_emitter_set_output_file(&emitter, out);
    yaml_emitter_set_unicode(&emitter, 1);
    yaml_emitter_set_width(&emitter, -1);
    bool done = emit_recipe(&emitter, recipe);
    yaml_emitter_delete(&emitter);
    return done;
}

rapt_code rapt_recipe_format(const rapt_recipe *recipe, char **yaml, rapt_error *err)
{
    char reason[RECIPE_REASON];
    memory_stream text;
    *yaml = NULL;
    for (size_t i = 0; i < recipe_key_count(); i++)
        if (recipe_key_check(recipe_key_at(i), recipe, reason) != RAPT_OK)
            return rapt_fail(err, RAPT_ERR_VALUE, "%s", reason);
    FILE *out = memory_stream_open(&text);
    const bool done = out && write_yaml(recipe, out);
    if (memory_stream_close(&text) && done) {
        *yaml = text.text;
        return RAPT_OK;
    }
    free(text.text);
    return recipe_write_out_of_memory(err);
}
