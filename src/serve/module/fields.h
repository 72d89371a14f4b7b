/* serve/module/fields.h: the fields of a request's body, JSON or a form, read strictly: an endpoint asks for each field by name;
 * a field that it has not asked for, or that has a value of another kind, is an error that names it. The first error is kept, so
 * that an endpoint calls one function after the other and checks fields_finish at the end. */
#ifndef SERVE_MODULE_FIELDS_H
#define SERVE_MODULE_FIELDS_H

#include "serve/module/exchange_work.h"

#include <jansson.h>

/* The error of a request; zeroed: no error. */
typedef struct request_error {
    int status;        /* HTTP's: 400, 415 or 503 */
    const char *code;  /* a word for programs, in dialects that have one: "context_length_exceeded"; or NULL */
    char param[96];    /* the field at fault, as "messages[0].role"; "": none */
    char message[320]; /* for a person; names the field as well */
} request_error;

/* An object of the body. */
typedef struct fields {
    json_t *object; /* an owned reference; NULL: no object, so that every field is absent */
    json_t *rest;   /* the fields that have not been asked for yet */
    char path[64];  /* the object's place in the body: "", "stream_options" */
    bool form;      /* all values are texts: texts of numbers and booleans are read as such */
    request_error *error;
} fields;

/* ---- beginning and end ------------------------------------------------------------------------------------------------ */

/* Reads the body of a request, which must be an object: JSON of at most 2048 levels, without a key twice, a NUL or bytes that are
 * not UTF-8; or, if `forms`, a form. Asks for the memory first. Content-Type decides; a body without one is JSON, and if `forms`
 * is false, curl's default type for forms also counts as JSON. */
void fields_read(fields *f, exchange *x, bool forms, request_error *error);
/* Reads the parameters of the query instead of a body, as a form; a name that comes twice is an error. */
void fields_read_query(fields *f, const exchange *x, request_error *error);
/* An object within a body, or NULL. */
void fields_open(fields *f, json_t *object, const char *path, request_error *error);
/* Closes an object: a field that was not asked for is an error. Returns whether there has been no error; values that were
 * returned last until fields_free. */
bool fields_finish(fields *f);
/* Also after a failure; a zeroed one is fine. */
void fields_free(fields *f);

/* Keeps an error about a field unless there is one already; `name` NULL: about the object. The message begins with the name. */
void fields_fail(const fields *f, const char *name, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Like fields_fail, but with a status, and without the name in the message. */
void request_fail(request_error *e, int status, const char *param, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Asks for memory for a request (exchange_asks); `what` names its purpose for messages: "50 prompts". False, with the error set:
 * 413 if it is more than a request may take; 503 if other requests hold it, even after half a second for which a worker waits. */
bool request_asks(exchange *x, admission_part part, size_t bytes, request_error *e, const char *what, ...)
    __attribute__((format(printf, 5, 6)));

/* ---- values: null counts as absent ------------------------------------------------------------------------------------- */

/* The value, of any kind, borrowed; NULL: absent. */
json_t *fields_value(fields *f, const char *name);
/* A text, without NUL; NULL: absent. */
const char *fields_text(fields *f, const char *name);
/* Like fields_text, but absence is an error. Never NULL: "" after an error. */
const char *fields_required_text(fields *f, const char *name);
/* The index of one of `count` words; `absent` if the field is absent. */
size_t fields_word(fields *f, const char *name, const char *const *words, size_t count, size_t absent);
bool fields_flag(fields *f, const char *name, bool absent);
/* min to max; 3.0 counts as an integer. */
int64_t fields_integer(fields *f, const char *name, int64_t absent, int64_t min, int64_t max);
double fields_number(fields *f, const char *name, double absent, double min, double max);
/* A text, or a list of `min` to `max` texts: *count pointers, which last as long as the fields; the caller frees the array. NULL
 * if it is absent, empty or wrong. *list, unless NULL: whether it is a list. */
const char **fields_texts(fields *f, const char *name, size_t min, size_t max, size_t *count, bool *list);
/* Whether a text has more characters of UTF-8. */
bool fields_is_longer(const char *text, size_t characters);
/* Whether a value is an integer: 3.0 counts as one. */
bool fields_is_integer(const json_t *value);
/* The ids of `list`, a list of token ids under `name`: *count of them, to be freed. NULL with the error kept: it has none, or
 * something else, or one that is no id of any model. */
int32_t *fields_ids(fields *f, const char *name, const json_t *list, size_t *count);
/* An object, as fields that the caller finishes and frees; an absent object has no fields. False: absent, or not an object. */
bool fields_object(fields *f, const char *name, fields *inner);

/* ---- fields that change nothing ----------------------------------------------------------------------------------------- */

/* A field that may have any value, because none changes the response: "user". */
void fields_ignore(fields *f, const char *name);
/* A field of which only values without effect are accepted: `neutral` is a JSON list of them, such as "[0]". Other values are
 * refused as not supported. Numbers compare by value; a form's values are texts, hence "[false, \"0\"]". */
void fields_neutral(fields *f, const char *name, const char *neutral);

#endif
