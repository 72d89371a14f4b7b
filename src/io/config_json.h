/* io/config_json.h: configurations as JSON: one table of members for each struct, which drives writing, reading and checking. For
 * model folders. It knows no model: the files that own the tables check relations between members. */
#ifndef IO_CONFIG_JSON_H
#define IO_CONFIG_JSON_H

#include "rapt/io.h"

#include <jansson.h>

typedef enum config_kind {
    CONFIG_SIZE,     /* size_t, from 1 to `max` */
    CONFIG_REAL,     /* double, from `min` to below `max` */
    CONFIG_POSITIVE, /* double, above 0 and below `max` */
    CONFIG_BOOL,     /* bool */
    CONFIG_WORD,     /* an enum, whose values are the indices of `words` */
    CONFIG_HASH,     /* char[CONFIG_HASH_TEXT], 16 hexadecimal digits */
    CONFIG_ID,       /* int32_t, a token's id */
    CONFIG_IDS       /* config_ids: an id or a list of them */
} config_kind;

#define CONFIG_HASH_TEXT 17

/* A list of token ids; `there`: the file has it. */
typedef struct config_ids {
    int32_t ids[RAPT_END_OF_TEXT_MAX];
    size_t count;
    bool there;
} config_ids;

typedef struct config_member {
    const char *key;
    config_kind kind;
    size_t offset; /* offset of the field in the struct */
    double min, max;
    const char *const *words; /* NULL ends them */
    bool optional;            /* if it is missing, the field keeps its value */
    const char *former;       /* the key that rapt 0.1 wrote, if it was another; or NULL */
} config_member;

#define CONFIG_MAX_SIZE 1073741824.0 /* 2^30: the largest size in a configuration */
#define CONFIG_MAX_LAYERS 1024

/* Rows of a table; a field of another type than the row's doesn't compile. */
#define CONFIG_FIELD(type, field, wanted) _Generic(((type *)NULL)->field, wanted : offsetof(type, field))
#define CONFIG_SIZE_ROW(key, type, field, max) {key, CONFIG_SIZE, CONFIG_FIELD(type, field, size_t), 1, max, NULL, false, NULL}
#define CONFIG_REAL_ROW(key, type, field, min, max) \
    {key, CONFIG_REAL, CONFIG_FIELD(type, field, double), min, max, NULL, false, NULL}
#define CONFIG_POSITIVE_ROW(key, type, field, max) \
    {key, CONFIG_POSITIVE, CONFIG_FIELD(type, field, double), 0, max, NULL, false, NULL}
#define CONFIG_BOOL_ROW(key, type, field) {key, CONFIG_BOOL, CONFIG_FIELD(type, field, bool), 0, 0, NULL, false, NULL}
#define CONFIG_WORD_ROW(key, type, field, words) {key, CONFIG_WORD, offsetof(type, field), 0, 0, words, false, NULL}
#define CONFIG_RENAMED_WORD_ROW(key, former, type, field, words) \
    {key, CONFIG_WORD, offsetof(type, field), 0, 0, words, false, former}
#define CONFIG_OPTIONAL_BOOL_ROW(key, type, field) {key, CONFIG_BOOL, CONFIG_FIELD(type, field, bool), 0, 0, NULL, true, NULL}
#define CONFIG_OPTIONAL_WORD_ROW(key, type, field, words) {key, CONFIG_WORD, offsetof(type, field), 0, 0, words, true, NULL}
#define CONFIG_OPTIONAL_SIZE_ROW(key, type, field, max) \
    {key, CONFIG_SIZE, CONFIG_FIELD(type, field, size_t), 1, max, NULL, true, NULL}
#define CONFIG_OPTIONAL_REAL_ROW(key, type, field, min, max) \
    {key, CONFIG_REAL, CONFIG_FIELD(type, field, double), min, max, NULL, true, NULL}
#define CONFIG_OPTIONAL_POSITIVE_ROW(key, type, field, max) \
    {key, CONFIG_POSITIVE, CONFIG_FIELD(type, field, double), 0, max, NULL, true, NULL}
#define CONFIG_HASH_ROW(key, type, field) {key, CONFIG_HASH, offsetof(type, field), 0, 0, NULL, false, NULL}
/* An empty string stands for no hash: the member is not written. */
#define CONFIG_OPTIONAL_HASH_ROW(key, type, field) {key, CONFIG_HASH, offsetof(type, field), 0, 0, NULL, true, NULL}

#define CONFIG_OPTIONAL_ID_ROW(key, type, field) {key, CONFIG_ID, CONFIG_FIELD(type, field, int32_t), 0, 0, NULL, true}
#define CONFIG_OPTIONAL_IDS_ROW(key, type, field) {key, CONFIG_IDS, CONFIG_FIELD(type, field, config_ids), 0, 0, NULL, true}

/* `path` is for messages: '{path}: "layers" is -1; it must be from 1 to 1024'. */

/* Adds the members of a struct to an object, in the order of the table. */
rapt_code config_write(json_t *root, const config_member *members, size_t count, const void *config, const char *path,
                       rapt_error *err);
/* Fills a struct and checks the range of each value (RAPT_ERR_FORMAT). Members of the object that are not in the table are
 * ignored. */
rapt_code config_read(const json_t *root, const config_member *members, size_t count, void *config, const char *path,
                      rapt_error *err);
/* Checks the range of each value of a struct, as config_read does: RAPT_ERR_FORMAT. */
rapt_code config_check(const config_member *members, size_t count, const void *config, const char *path, rapt_error *err);

#endif
