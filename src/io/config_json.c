/* io/config_json.c: configurations as JSON, by a table of members. For model folders. */
#include "io/config_json.h"

#include "base/quote.h"

#include <stdio.h>
#include <string.h>

/* ---- writing -------------------------------------------------------------------------------------------------- */

static json_t *config_json_from_ids(const config_ids *list)
{
    json_t *array = json_array();
    bool ok = array != NULL;
    for (size_t i = 0; ok && i < list->count; i++)
        ok = json_array_append_new(array, json_integer(list->ids[i])) == 0;
    if (ok)
        return array;
    json_decref(array);
    return NULL;
}

static json_t *config_json_from_field(const config_member *m, const void *field)
{
    switch (m->kind) {
    case CONFIG_SIZE: return json_integer((json_int_t)*(const size_t *)field);
    case CONFIG_REAL:
    case CONFIG_POSITIVE: return json_real(*(const double *)field);
    case CONFIG_BOOL: return json_boolean(*(const bool *)field);
    case CONFIG_WORD: return json_string(m->words[*(const int *)field]);
    case CONFIG_HASH: return json_string(field);
    case CONFIG_ID: return json_integer(*(const int32_t *)field);
    case CONFIG_IDS: return config_json_from_ids(field);
    }
    return NULL;
}

rapt_code config_write(json_t *root, const config_member *members, size_t count, const void *config, const char *path,
                       rapt_error *err)
{
    rapt_code code = config_check(members, count, config, path, err);
    for (size_t i = 0; i < count && !code; i++) {
        const config_member *m = &members[i];
        const char *field = (const char *)config + m->offset;
        bool absent = m->kind == CONFIG_HASH && m->optional && *field == '\0';
        if (!absent && json_object_set_new(root, m->key, config_json_from_field(m, field)))
            code = rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for JSON", path);
    }
    return code;
}

/* ---- reading -------------------------------------------------------------------------------------------------- */

static bool is_of_kind(const config_member *m, const json_t *value)
{
    switch (m->kind) {
    case CONFIG_SIZE:
    case CONFIG_ID: return json_is_integer(value);
    case CONFIG_IDS: return json_is_integer(value) || json_is_array(value);
    case CONFIG_REAL:
    case CONFIG_POSITIVE: return json_is_number(value);
    case CONFIG_BOOL: return json_is_boolean(value);
    case CONFIG_WORD:
    case CONFIG_HASH: return json_is_string(value);
    }
    return false;
}

static rapt_code refuse_type(const config_member *m, const json_t *value, const char *path, rapt_error *err)
{
    static const char *const names[] = {[CONFIG_SIZE] = "a whole number", [CONFIG_REAL] = "a number",
                                        [CONFIG_POSITIVE] = "a number", [CONFIG_BOOL] = "true or false",
                                        [CONFIG_WORD] = "a word", [CONFIG_HASH] = "a text", [CONFIG_ID] = "a whole number",
                                        [CONFIG_IDS] = "a whole number or a list of them"};
    if (!value)
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: \"%s\" is missing", path, m->key);
    return rapt_fail(err, RAPT_ERR_FORMAT, "%s: \"%s\" is of another type; it must be %s", path, m->key, names[m->kind]);
}

/* "post, pre" */
static const char *list_words(const char *const *words, char *text, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; words[i] && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", words[i]);
    return text;
}

static rapt_code read_word(const config_member *m, const char *text, int *field, const char *path, rapt_error *err)
{
    char list[160];
    for (int i = 0; m->words[i]; i++)
        if (strcmp(text, m->words[i]) == 0) {
            *field = i;
            return RAPT_OK;
        }
    return rapt_fail(err, RAPT_ERR_FORMAT, "%s: \"%s\" is \"%s\"; this rapt knows: %s", path, m->key, quote(text).text,
                     list_words(m->words, list, sizeof list));
}

static rapt_code read_hash(const config_member *m, const char *text, char *field, const char *path, rapt_error *err)
{
    if (strlen(text) != CONFIG_HASH_TEXT - 1 || text[strspn(text, "0123456789abcdef")] != '\0')
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: \"%s\" is \"%s\"; it must be %d hexadecimal digits", path, m->key,
                         quote(text).text, CONFIG_HASH_TEXT - 1);
    memcpy(field, text, CONFIG_HASH_TEXT);
    return RAPT_OK;
}

static rapt_code read_id(const config_member *m, const json_t *value, int32_t *id, const char *path, rapt_error *err)
{
    json_int_t number = json_is_integer(value) ? json_integer_value(value) : -1;
    if (number < 0 || number > INT32_MAX)
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: \"%s\" holds what is no token id", path, m->key);
    *id = (int32_t)number;
    return RAPT_OK;
}

static rapt_code read_ids(const config_member *m, const json_t *value, config_ids *list, const char *path, rapt_error *err)
{
    size_t count = json_is_array(value) ? json_array_size(value) : 1;
    rapt_code code = RAPT_OK;
    if (count > RAPT_END_OF_TEXT_MAX)
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: \"%s\" holds %zu token ids; this rapt takes up to %d", path, m->key, count,
                         RAPT_END_OF_TEXT_MAX);
    for (size_t i = 0; i < count && !code; i++)
        code = read_id(m, json_is_array(value) ? json_array_get(value, i) : value, &list->ids[i], path, err);
    list->count = count;
    list->there = true;
    return code;
}

static rapt_code config_json_read_field(const json_t *value, const config_member *m, void *field, const char *path,
                                         rapt_error *err)
{
    if (!value || !is_of_kind(m, value))
        return refuse_type(m, value, path, err);
    switch (m->kind) {
    case CONFIG_SIZE: *(size_t *)field = (size_t)json_integer_value(value); break;
    case CONFIG_REAL:
    case CONFIG_POSITIVE: *(double *)field = json_number_value(value); break;
    case CONFIG_BOOL: *(bool *)field = json_is_true(value); break;
    case CONFIG_WORD: return read_word(m, json_string_value(value), field, path, err);
    case CONFIG_HASH: return read_hash(m, json_string_value(value), field, path, err);
    case CONFIG_ID: return read_id(m, value, field, path, err);
    case CONFIG_IDS: return read_ids(m, value, field, path, err);
    }
    return RAPT_OK;
}

rapt_code config_read(const json_t *root, const config_member *members, size_t count, void *config, const char *path,
                      rapt_error *err)
{
    rapt_code code = RAPT_OK;
    for (size_t i = 0; i < count && !code; i++) {
        const json_t *value = json_object_get(root, members[i].key);
        if (!value && members[i].former)
            value = json_object_get(root, members[i].former);
        if (!value && members[i].optional)
            continue;
        code = config_json_read_field(value, &members[i], (char *)config + members[i].offset, path, err);
        if (!code)
            code = config_check(&members[i], 1, config, path, err);
    }
    return code;
}

/* ---- ranges --------------------------------------------------------------------------------------------------- */

static rapt_code config_json_check_size(const config_member *m, size_t n, const char *path, rapt_error *err)
{
    if ((double)n >= m->min && (double)n <= m->max)
        return RAPT_OK;
    return rapt_fail(err, RAPT_ERR_FORMAT, "%s: \"%s\" is %lld; it must be from %.0f to %.0f", path, m->key, (long long)n,
                     m->min, m->max);
}

static rapt_code check_real(const config_member *m, double x, const char *path, rapt_error *err)
{
    bool positive = m->kind == CONFIG_POSITIVE;
    if ((positive ? x > m->min : x >= m->min) && x < m->max)
        return RAPT_OK;
    return rapt_fail(err, RAPT_ERR_FORMAT, "%s: \"%s\" is %g; it must be %s %g and below %g", path, m->key, x,
                     positive ? "above" : "at least", m->min, m->max);
}

static rapt_code check_word(const config_member *m, int index, const char *path, rapt_error *err)
{
    for (int i = 0; m->words[i]; i++)
        if (i == index)
            return RAPT_OK;
    return rapt_fail(err, RAPT_ERR_FORMAT, "%s: \"%s\" has no word for %d", path, m->key, index);
}

static rapt_code check_member(const config_member *m, const void *field, const char *path, rapt_error *err)
{
    switch (m->kind) {
    case CONFIG_SIZE: return config_json_check_size(m, *(const size_t *)field, path, err);
    case CONFIG_REAL:
    case CONFIG_POSITIVE: return check_real(m, *(const double *)field, path, err);
    case CONFIG_WORD: return check_word(m, *(const int *)field, path, err);
    case CONFIG_BOOL:
    case CONFIG_HASH:
    case CONFIG_ID:
    case CONFIG_IDS: return RAPT_OK; /* a model checks them: below its vocabulary */
    }
    return RAPT_OK;
}

rapt_code config_check(const config_member *members, size_t count, const void *config, const char *path, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    for (size_t i = 0; i < count && !code; i++)
        code = check_member(&members[i], (const char *)config + members[i].offset, path, err);
    return code;
}
