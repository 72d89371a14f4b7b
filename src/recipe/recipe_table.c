/* recipe/recipe_table.c: what the keys of a recipe are, as data and as the table of --help-recipe, and the value of one. */
#include "rapt/recipe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "base/memory_stream.h"
#include "base/number.h"
#include "recipe/recipe_defaults.h"

/* The columns: the last two are wrapped. */
enum { KEY, TYPE, DEFAULT, RANGE, MEANING, COLUMNS, CELL = sizeof(((rapt_recipe_key *)0)->range), LINE = 130, RANGE_WIDTH = 24 };

/* ---- a key -------------------------------------------------------------------------------------------------------- */

static void number_range(const recipe_key *key, char cell[CELL])
{
    char min[RECIPE_NUMBER], max[RECIPE_NUMBER];
    number_write(key->min, min);
    number_write(key->max, max);
    if (key->max == RECIPE_MAX)
        snprintf(cell, CELL, ">= %s", min);
    else
        snprintf(cell, CELL, "%s%s..%s%s", key->low == '(' ? ">" : key->low == '0' ? "0, " : "", min,
                 key->high == ')' ? "<" : "", max);
}

/* "2", or "2 / 4" if a language model has another default. */
static void default_cell(const recipe_key *key, const rapt_recipe *pairs, const rapt_recipe *text, char cell[CELL])
{
    char one[RECIPE_NUMBER], other[RECIPE_NUMBER];
    const bool two = !recipe_key_equal(key, pairs, text) && strcmp(key->name, "task") != 0;
    const bool second = strncmp(key->meaning, "language_model:", 15) == 0, first = strncmp(key->meaning, "translation:", 12) == 0;
    if (key->kind == RECIPE_STRING)
        snprintf(cell, CELL, "\"\"");
    else if (!two || first || second)
        snprintf(cell, CELL, "%s", recipe_key_value(key, second ? text : pairs, one));
    else
        snprintf(cell, CELL, "%s / %s", recipe_key_value(key, pairs, one), recipe_key_value(key, text, other));
}

size_t rapt_recipe_key_count(void)
{
    return recipe_key_count();
}

void rapt_recipe_key_at(size_t i, rapt_recipe_key *out)
{
    static const char *const types[] = {"integer", "float", "bool", "choice", "string"};
    const recipe_key *key = recipe_key_at(i);
    rapt_recipe pairs, text;
    recipe_defaults_of_task(RAPT_TASK_TRANSLATION, &pairs);
    recipe_defaults_of_task(RAPT_TASK_LANGUAGE_MODEL, &text);
    *out = (rapt_recipe_key){.name = key->name, .type = types[key->kind], .meaning = key->meaning};
    default_cell(key, &pairs, &text, out->standard);
    if (key->words)
        snprintf(out->range, CELL, "%s", key->words);
    else if (key->kind == RECIPE_STRING)
        snprintf(out->range, CELL, "-");
    else
        number_range(key, out->range);
}

rapt_code rapt_recipe_get(const rapt_recipe *recipe, const char *name, char **value, rapt_error *err)
{
    char reason[RECIPE_REASON], number[RECIPE_NUMBER];
    const recipe_key *key = recipe_key_wanted(name, reason);
    *value = NULL;
    if (!key || recipe_key_check(key, recipe, reason) != RAPT_OK)
        return rapt_fail(err, RAPT_ERR_VALUE, "%s", reason);
    const char *text = recipe_key_value(key, recipe, number);
    *value = chars_copy(text ? text : "");
    return *value ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a value of a recipe");
}

/* ---- the table ---------------------------------------------------------------------------------------------------- */

typedef const char *recipe_cells[COLUMNS];

static void fill_cells(const rapt_recipe_key *key, recipe_cells cells)
{
    cells[KEY] = key->name;
    cells[TYPE] = key->type;
    cells[DEFAULT] = key->standard;
    cells[RANGE] = key->range;
    cells[MEANING] = key->meaning;
}

static const recipe_cells heads = {"key", "type", "default", "range", "meaning"};

static void widen(int widths[COLUMNS], const recipe_cells cells)
{
    for (int c = KEY; c < RANGE; c++)
        if ((int)strlen(cells[c]) > widths[c])
            widths[c] = (int)strlen(cells[c]);
}

/* How much of a text fits the width: up to its last space, or after its last |. */
static int recipe_table_fit(const char *text, int width)
{
    int fit = (int)strlen(text);
    if (fit <= width)
        return fit;
    fit = width;
    for (int i = 1; i <= width; i++)
        if (text[i] == ' ' || text[i - 1] == '|')
            fit = i;
    return fit;
}

/* A row of the table, in as many lines as its longest cell needs. */
static void recipe_table_print_row(FILE *out, const int widths[COLUMNS], const recipe_cells cells)
{
    const char *rest[COLUMNS];
    for (int c = 0; c < COLUMNS; c++)
        rest[c] = cells[c];
    do {
        int blank = 0; /* blank columns since the last text; a line does not end with them */
        for (int c = 0; c < COLUMNS; c++) {
            int size = recipe_table_fit(rest[c], widths[c]);
            if (size > 0) {
                fprintf(out, "%*s%.*s", blank, "", size, rest[c]);
                blank = 0;
            }
            blank += widths[c] - size + 2;
            rest[c] += size;
            rest[c] += strspn(rest[c], " ");
        }
        putc('\n', out);
    } while (*rest[RANGE] || *rest[MEANING]);
}

static void write_help(FILE *out)
{
    recipe_cells cells;
    rapt_recipe_key key;
    int widths[COLUMNS] = {[RANGE] = RANGE_WIDTH};
    widen(widths, heads);
    for (size_t i = 0; i < recipe_key_count(); i++) {
        rapt_recipe_key_at(i, &key);
        fill_cells(&key, cells);
        widen(widths, cells);
    }
    widths[MEANING] = LINE - (widths[KEY] + widths[TYPE] + widths[DEFAULT] + widths[RANGE] + 2 * MEANING);
    recipe_table_print_row(out, widths, heads);
    for (size_t i = 0; i < recipe_key_count(); i++) {
        rapt_recipe_key_at(i, &key);
        fill_cells(&key, cells);
        recipe_table_print_row(out, widths, cells);
    }
}

rapt_code rapt_recipe_help(char **text, rapt_error *err)
{
    memory_stream help;
    if (memory_stream_open(&help))
        write_help(help.to);
    const bool whole = memory_stream_close(&help);
    *text = help.text;
    return whole ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the text of a recipe");
}
