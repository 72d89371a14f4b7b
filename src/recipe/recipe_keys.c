/* recipe/recipe_keys.c: the table of keys as data; converts a field of a recipe from and to text, and checks its range. For
 * reading, --set, checking and printing of recipes, which this table drives. It knows no YAML and no files: it gives reasons, and
 * its callers add the place. */
#include "recipe/recipe_keys.h"

#include "base/chars.h"
#include "base/number.h"
#include "base/quote.h"
#include "recipe/recipe_model.h"
#include "text/utf8.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIELD(key) offsetof(rapt_recipe, key)
#define INT_ROW(key, standard, min, max, meaning) \
    {#key, RECIPE_INT, FIELD(key), standard, '[', ']', min, max, NULL, meaning},
#define AUTO_ROW(key, standard, min, max, meaning) \
    {#key, RECIPE_INT, FIELD(key), standard, '0', ']', min, max, NULL, meaning},
#define FLOAT_ROW(key, standard, low, min, max, high, meaning) \
    {#key, RECIPE_FLOAT, FIELD(key), standard, low, high, min, max, NULL, meaning},
#define BOOL_ROW(key, standard, meaning) \
    {#key, RECIPE_BOOL, FIELD(key), standard, '[', ']', 0, 1, "true|false", meaning},
#define CHOICE_ROW(key, standard, words, meaning) \
    {#key, RECIPE_CHOICE, FIELD(key), standard, '[', ']', 0, 0, words, meaning},
#define STRING_ROW(key, meaning) \
    {#key, RECIPE_STRING, FIELD(key), 0, '[', ']', 0, 0, NULL, meaning},

static const recipe_key keys[] = {RECIPE_KEYS(INT_ROW, AUTO_ROW, FLOAT_ROW, BOOL_ROW, CHOICE_ROW, STRING_ROW)};
enum { KEYS = sizeof keys / sizeof *keys };

/* The table and the struct agree on types; enums are read and written as int. */
#define OF_TYPE(key, type)                                                   \
    _Static_assert(_Generic(((rapt_recipe *)0)->key, type : 1, default : 0), \
                   #key " is not of the table's type");
#define INT_TYPE(key, ...) OF_TYPE(key, int64_t)
#define FLOAT_TYPE(key, ...) OF_TYPE(key, double)
#define BOOL_TYPE(key, ...) OF_TYPE(key, bool)
#define STRING_TYPE(key, ...) OF_TYPE(key, char *)
#define CHOICE_TYPE(key, ...) \
    _Static_assert(sizeof((rapt_recipe *)0)->key == sizeof(int), #key " is not an enum");
RECIPE_KEYS(INT_TYPE, INT_TYPE, FLOAT_TYPE, BOOL_TYPE, CHOICE_TYPE, STRING_TYPE)

size_t recipe_key_count(void)
{
    return KEYS;
}

const recipe_key *recipe_key_at(size_t i)
{
    return &keys[i];
}

size_t recipe_key_index(const recipe_key *key)
{
    return (size_t)(key - keys);
}

const recipe_key *recipe_key_find(const char *name)
{
    for (size_t i = 0; i < KEYS; i++)
        if (strcmp(keys[i].name, name) == 0)
            return &keys[i];
    return NULL;
}

static const struct {
    const char *first, *now;
} renamed[] = {
#define RENAMED_ROW(first, now) {#first, #now},
    RECIPE_RENAMED(RENAMED_ROW)};
enum { RENAMED = sizeof renamed / sizeof *renamed };

const char *recipe_key_renamed(const char *name)
{
    for (size_t i = 0; i < RENAMED; i++)
        if (strcmp(renamed[i].first, name) == 0)
            return renamed[i].now;
    return NULL;
}

const char *recipe_key_first_name(const recipe_key *key)
{
    for (size_t i = 0; i < RENAMED; i++)
        if (strcmp(renamed[i].now, key->name) == 0)
            return renamed[i].first;
    return key->name;
}

static const char *const groups[RECIPE_GROUPS] = {"data", "tokenizer", "model", "train"};

const char *recipe_group_at(size_t i)
{
    return groups[i];
}

size_t recipe_group_index(const char *name)
{
    size_t i = 0;
    while (i < RECIPE_GROUPS && strcmp(groups[i], name) != 0)
        i++;
    return i;
}

bool recipe_key_is_inner_group(const char *name)
{
    const size_t length = strlen(name);
    bool any = false;
    for (size_t i = 0; i < recipe_key_count() && recipe_group_index(name) == RECIPE_GROUPS; i++)
        any = any || (strncmp(recipe_key_at(i)->name, name, length) == 0 && recipe_key_at(i)->name[length] == '.');
    return any;
}

/* Words of a row, "a|b|c": where word `index` starts, with its length; NULL after the last. */
static const char *word_at(const char *words, size_t index, size_t *length)
{
    for (; index > 0 && words; index--) {
        words = strchr(words, '|');
        words = words ? words + 1 : NULL;
    }
    *length = words ? strcspn(words, "|") : 0;
    return words;
}

/* The index of `text` among the words, or -1. */
static int word_index(const char *words, const char *text)
{
    size_t length;
    const char *word;
    for (int i = 0; (word = word_at(words, (size_t)i, &length)); i++)
        if (strlen(text) == length && memcmp(word, text, length) == 0)
            return i;
    return -1;
}

/* "cut, drop or error" */
static void recipe_keys_list_words(const char *words, char *out, size_t size)
{
    size_t length, used = 0;
    const char *word;
    out[0] = '\0';
    for (size_t i = 0; (word = word_at(words, i, &length)) && used < size; i++) {
        const char *joint = i == 0 ? "" : word[length] ? ", " : " or ";
        used += (size_t)snprintf(out + used, size - used, "%s%.*s", joint, (int)length, word);
    }
}

/* Appends to `what` the range of a value: "from 1 to 64", "above 0 and at most 10", ... */
static void recipe_keys_describe_range(const recipe_key *key, const char *what, char *out, size_t size)
{
    char min[RECIPE_NUMBER], max[RECIPE_NUMBER];
    number_write(key->min, min);
    number_write(key->max, max);
    if (key->low == '[' && key->high == ']')
        snprintf(out, size, "%sfrom %s to %s", what, min, max);
    else if (key->low == '0')
        snprintf(out, size, "%s0, or from %s to %s", what, min, max);
    else
        snprintf(out, size, "%s%s %s and %s %s", what, key->low == '[' ? "at least" : "above", min,
                 key->high == ']' ? "at most" : "below", max);
}

static rapt_code out_of_range(const recipe_key *key, const char *value, char *reason)
{
    char range[128];
    recipe_keys_describe_range(key, "", range, sizeof range);
    snprintf(reason, RECIPE_REASON, "%s is %s; it must be %s", key->name, quote(value).text, range);
    return RAPT_ERR_VALUE;
}

static rapt_code wrong_type(const recipe_key *key, const char *value, const char *what, char *reason)
{
    snprintf(reason, RECIPE_REASON, "%s is \"%s\"; it must be %s", key->name, quote(value).text, what);
    return RAPT_ERR_VALUE;
}

static rapt_code not_a_number(const recipe_key *key, const char *value, char *reason)
{
    char range[128];
    recipe_keys_describe_range(key, key->kind == RECIPE_INT ? "a whole number " : "a number ", range, sizeof range);
    return wrong_type(key, value, range, reason);
}

static rapt_code not_a_word(const recipe_key *key, const char *value, char *reason)
{
    char words[128];
    recipe_keys_list_words(key->words, words, sizeof words);
    return wrong_type(key, value, words, reason);
}

static bool int_fits(const recipe_key *key, int64_t value)
{
    return (value >= (int64_t)key->min && value <= (int64_t)key->max) || (value == 0 && key->low == '0');
}

/* Also false for NaN. */
static bool real_fits(const recipe_key *key, double value)
{
    bool above = key->low == '[' ? value >= key->min : value > key->min;
    bool below = key->high == ']' ? value <= key->max : value < key->max;
    return above && below;
}

static rapt_code set_int(const recipe_key *key, int64_t *field, const char *text, char *reason)
{
    const char *digits = text + (*text == '-' || *text == '+');
    if (*digits == '\0' || digits[strspn(digits, "0123456789")] != '\0')
        return not_a_number(key, text, reason);
    errno = 0;
    long long value = strtoll(text, NULL, 10);
    if (errno == ERANGE || !int_fits(key, value))
        return out_of_range(key, text, reason);
    *field = value;
    return RAPT_OK;
}

static rapt_code set_real(const recipe_key *key, double *field, const char *text, char *reason)
{
    /* strtod also takes "nan", "inf" and "0x1p3" */
    if (*text == '\0' || text[strspn(text, "0123456789+-.eE")] != '\0')
        return not_a_number(key, text, reason);
    char *end;
    double value = number_read(text, &end);
    if (*end != '\0')
        return not_a_number(key, text, reason);
    if (!real_fits(key, value))
        return out_of_range(key, text, reason);
    *field = value;
    return RAPT_OK;
}

static rapt_code check_text(const recipe_key *key, const char *text, char *reason)
{
    size_t length = strlen(text);
    if (length > RECIPE_STRING_MAX)
        snprintf(reason, RECIPE_REASON, "%s has %zu bytes; at most %d are allowed", key->name, length,
                 RECIPE_STRING_MAX);
    else if (utf8_valid_prefix(text, length) < length)
        snprintf(reason, RECIPE_REASON, "%s is not UTF-8 text", key->name);
    else
        return RAPT_OK;
    return RAPT_ERR_VALUE;
}

static rapt_code set_text(const recipe_key *key, char **field, const char *text, char *reason)
{
    if (check_text(key, text, reason) != RAPT_OK)
        return RAPT_ERR_VALUE;
    char *copy = *text ? chars_copy(text) : NULL;
    if (*text && !copy) {
        snprintf(reason, RECIPE_REASON, "out of memory for %s", key->name);
        return RAPT_ERR_MEMORY;
    }
    free(*field);
    *field = copy;
    return RAPT_OK;
}

/* Other names of the same values: YAML 1.2's spellings, and AdamW, because adam here has decoupled weight decay. */
static const char *own_word(const recipe_key *key, const char *text)
{
    static const char *const same[][2] = {{"True", "true"}, {"TRUE", "true"}, {"False", "false"}, {"FALSE", "false"}};
    for (size_t i = 0; key->kind == RECIPE_BOOL && i < sizeof same / sizeof *same; i++)
        if (strcmp(text, same[i][0]) == 0)
            return same[i][1];
    return key->offset == FIELD(train.optimizer) && strcmp(text, "adamw") == 0 ? "adam" : text;
}

bool recipe_key_takes_word(const recipe_key *key, const char *text)
{
    return key->kind != RECIPE_CHOICE || word_index(key->words, own_word(key, text)) >= 0;
}

static rapt_code set_field(const recipe_key *key, rapt_recipe *recipe, const char *text, char reason[RECIPE_REASON])
{
    void *field = (char *)recipe + key->offset;
    if (key->kind == RECIPE_INT)
        return set_int(key, field, text, reason);
    if (key->kind == RECIPE_FLOAT)
        return set_real(key, field, text, reason);
    if (key->kind == RECIPE_STRING)
        return set_text(key, field, text, reason);
    int word = word_index(key->words, own_word(key, text));
    if (word < 0)
        return not_a_word(key, text, reason);
    if (key->kind == RECIPE_BOOL)
        *(bool *)field = word == 0;
    else
        memcpy(field, &word, sizeof word);
    return RAPT_OK;
}

static bool is_of_presets(const recipe_key *key)
{
    return strncmp(key->name, "model.", 6) == 0 && key->offset != FIELD(model.attention_dropout) &&
           key->offset != FIELD(model.activation_dropout) && key->offset != FIELD(model.max_positions);
}

/* Keys that a preset sets count as given, so that no default of a task replaces them. */
static void take_preset(rapt_recipe *recipe)
{
    recipe_apply_preset(recipe);
    for (size_t i = 0; i < KEYS; i++)
        if (recipe->model.preset != RAPT_RECIPE_PRESET_NONE && is_of_presets(&keys[i]))
            recipe_key_give(&keys[i], recipe);
}

rapt_code recipe_key_set(const recipe_key *key, rapt_recipe *recipe, const char *text, char reason[RECIPE_REASON])
{
    rapt_code code = set_field(key, recipe, text, reason);
    if (code != RAPT_OK)
        return code;
    recipe_key_give(key, recipe);
    if (key->offset == FIELD(model.preset))
        take_preset(recipe);
    return RAPT_OK;
}

/* The text of a CHOICE field; "" for an index without a word. */
static const char *word_value(const recipe_key *key, const void *field, char buffer[RECIPE_NUMBER])
{
    int index;
    size_t length;
    memcpy(&index, field, sizeof index);
    const char *word = index < 0 ? NULL : word_at(key->words, (size_t)index, &length);
    snprintf(buffer, RECIPE_NUMBER, "%.*s", word ? (int)length : 0, word ? word : "");
    return buffer;
}

const char *recipe_key_value(const recipe_key *key, const rapt_recipe *recipe, char buffer[RECIPE_NUMBER])
{
    const void *field = (const char *)recipe + key->offset;
    switch (key->kind) {
    case RECIPE_INT:
        snprintf(buffer, RECIPE_NUMBER, "%lld", (long long)*(const int64_t *)field);
        return buffer;
    case RECIPE_FLOAT:
        number_write(*(const double *)field, buffer);
        return buffer;
    case RECIPE_BOOL:
        return *(const bool *)field ? "true" : "false";
    case RECIPE_CHOICE:
        return word_value(key, field, buffer);
    case RECIPE_STRING:
        return *(char *const *)field ? *(char *const *)field : "";
    }
    return "";
}

rapt_code recipe_key_check(const recipe_key *key, const rapt_recipe *recipe, char reason[RECIPE_REASON])
{
    const void *field = (const char *)recipe + key->offset;
    char buffer[RECIPE_NUMBER];
    const char *value = recipe_key_value(key, recipe, buffer);
    if (key->kind == RECIPE_INT && !int_fits(key, *(const int64_t *)field))
        return out_of_range(key, value, reason);
    if (key->kind == RECIPE_FLOAT && !real_fits(key, *(const double *)field))
        return out_of_range(key, value, reason);
    if (key->kind == RECIPE_CHOICE && word_index(key->words, value) < 0)
        return not_a_word(key, value, reason);
    return key->kind == RECIPE_STRING ? check_text(key, value, reason) : RAPT_OK;
}

void recipe_key_put(const recipe_key *key, rapt_recipe *recipe, double value)
{
    void *field = (char *)recipe + key->offset;
    int word = (int)value;
    switch (key->kind) {
    case RECIPE_INT:
        *(int64_t *)field = (int64_t)value;
        break;
    case RECIPE_FLOAT:
        *(double *)field = value;
        break;
    case RECIPE_BOOL:
        *(bool *)field = value != 0;
        break;
    case RECIPE_CHOICE:
        memcpy(field, &word, sizeof word);
        break;
    case RECIPE_STRING:
        *(char **)field = NULL;
        break;
    }
}

static size_t field_size(const recipe_key *key)
{
    static const size_t sizes[] = {[RECIPE_INT] = sizeof(int64_t), [RECIPE_FLOAT] = sizeof(double), [RECIPE_BOOL] = sizeof(bool),
                                   [RECIPE_CHOICE] = sizeof(int), [RECIPE_STRING] = sizeof(char *)};
    return sizes[key->kind];
}

void recipe_key_copy(const recipe_key *key, rapt_recipe *to, const rapt_recipe *from)
{
    memcpy((char *)to + key->offset, (const char *)from + key->offset, field_size(key));
}

bool recipe_key_equal(const recipe_key *key, const rapt_recipe *a, const rapt_recipe *b)
{
    const void *x = (const char *)a + key->offset, *y = (const char *)b + key->offset;
    if (key->kind == RECIPE_FLOAT)
        return *(const double *)x == *(const double *)y;
    if (key->kind != RECIPE_STRING)
        return memcmp(x, y, field_size(key)) == 0;
    const char *text = *(char *const *)x, *other = *(char *const *)y;
    return strcmp(text ? text : "", other ? other : "") == 0;
}

bool recipe_key_is_path(const recipe_key *key)
{
    static const char *const paths[] = {"data.pairs", "data.validation", "data.text", "data.conversations", "data.preferences",
                                        "tokenizer.path", "train.init", "train.vectors", "train.target_vectors"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        if (strcmp(key->name, paths[i]) == 0)
            return true;
    return false;
}

char **recipe_key_path(const recipe_key *key, rapt_recipe *recipe)
{
    return recipe_key_is_path(key) ? (char **)(void *)((char *)recipe + key->offset) : NULL;
}

enum { GIVEN_BITS = 64 };
_Static_assert((size_t)KEYS <= RECIPE_KEYS_MAX, "RECIPE_KEYS_MAX keys");
_Static_assert(sizeof ((rapt_recipe *)0)->given * CHAR_BIT == RECIPE_KEYS_MAX, "rapt_recipe.given has a bit for each key");

bool recipe_key_given(const recipe_key *key, const rapt_recipe *recipe)
{
    size_t i = recipe_key_index(key);
    return recipe->given[i / GIVEN_BITS] >> i % GIVEN_BITS & 1;
}

void recipe_key_give(const recipe_key *key, rapt_recipe *recipe)
{
    size_t i = recipe_key_index(key);
    recipe->given[i / GIVEN_BITS] |= (uint64_t)1 << i % GIVEN_BITS;
}
