/* io/config_json.h: configurations as JSON: one table of members a struct, which writing, reading and checking walk.
 * For model folders. It knows no model; what members have to do with each other, their owners check. */
#ifndef IO_CONFIG_JSON_H
#define IO_CONFIG_JSON_H

#include "rapt/io.h"

#include <jansson.h>

typedef enum config_kind {
    CONFIG_SIZE,     /* size_t, from 1 to `most` */
    CONFIG_REAL,     /* double, at least `least` and below `most` */
    CONFIG_POSITIVE, /* double, above 0 and below `most` */
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
    size_t offset; /* of the field in the struct */
    double least, most;
    const char *const *words; /* NULL ends them */
    bool optional;            /* where it is missing, the field stays as it is */
    const char *former;       /* the key that rapt 0.1 wrote, where it was another one; or NULL */
} config_member;

#define CONFIG_LARGEST 1073741824.0 /* 2^30: of any size in a configuration */
#define CONFIG_MOST_LAYERS 1024

/* Rows of a table; a field of another type than the row's doesn't compile. */
#define CONFIG_FIELD(type, field, wanted) _Generic(((type *)NULL)->field, wanted : offsetof(type, field))
#define CONFIG_SIZE_ROW(key, type, field, most) {key, CONFIG_SIZE, CONFIG_FIELD(type, field, size_t), 1, most, NULL, false, NULL}
#define CONFIG_REAL_ROW(key, type, field, least, most) \
    {key, CONFIG_REAL, CONFIG_FIELD(type, field, double), least, most, NULL, false, NULL}
#define CONFIG_POSITIVE_ROW(key, type, field, most) \
    {key, CONFIG_POSITIVE, CONFIG_FIELD(type, field, double), 0, most, NULL, false, NULL}
#define CONFIG_BOOL_ROW(key, type, field) {key, CONFIG_BOOL, CONFIG_FIELD(type, field, bool), 0, 0, NULL, false, NULL}
#define CONFIG_WORD_ROW(key, type, field, words) {key, CONFIG_WORD, offsetof(type, field), 0, 0, words, false, NULL}
#define CONFIG_RENAMED_WORD_ROW(key, former, type, field, words) \
    {key, CONFIG_WORD, offsetof(type, field), 0, 0, words, false, former}
#define CONFIG_OPTIONAL_BOOL_ROW(key, type, field) {key, CONFIG_BOOL, CONFIG_FIELD(type, field, bool), 0, 0, NULL, true, NULL}
#define CONFIG_OPTIONAL_WORD_ROW(key, type, field, words) {key, CONFIG_WORD, offsetof(type, field), 0, 0, words, true, NULL}
#define CONFIG_HASH_ROW(key, type, field) {key, CONFIG_HASH, offsetof(type, field), 0, 0, NULL, false, NULL}
/* The empty text is no hash. */
#define CONFIG_OPTIONAL_HASH_ROW(key, type, field) {key, CONFIG_HASH, offsetof(type, field), 0, 0, NULL, true, NULL}

#define CONFIG_OPTIONAL_ID_ROW(key, type, field) {key, CONFIG_ID, CONFIG_FIELD(type, field, int32_t), 0, 0, NULL, true}
#define CONFIG_OPTIONAL_IDS_ROW(key, type, field) {key, CONFIG_IDS, CONFIG_FIELD(type, field, config_ids), 0, 0, NULL, true}

/* `path` is for messages: '{path}: "layers" is -1; it must be from 1 to 1024'. */

/* Adds the members of a struct to an object, in the order of the table. */
rapt_code config_write(json_t *root, const config_member *members, size_t count, const void *config, const char *path,
                       rapt_error *err);
/* Fills a struct, whose numbers are checked. Members of the object that are in no table are ignored. */
rapt_code config_read(const json_t *root, const config_member *members, size_t count, void *config, const char *path,
                      rapt_error *err);
/* Whether a struct's numbers are such that config_read takes them. */
rapt_code config_check(const config_member *members, size_t count, const void *config, const char *path, rapt_error *err);

#endif
