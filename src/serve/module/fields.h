/* serve/module/fields.h: the fields of a request's body, JSON or a form, read strictly: each is asked for by name, and what
 * nobody asked for, or has a value of another kind, is an error that names it. The first error is kept: whoever reads calls one
 * function after the other, and asks fields_finish at the end. */
#ifndef SERVE_MODULE_FIELDS_H
#define SERVE_MODULE_FIELDS_H

#include "serve/module/exchange_work.h"

#include <jansson.h>

/* What is wrong with a request; a zeroed one: nothing. */
typedef struct request_error {
    int status;        /* of HTTP: 400, 415 or 503 */
    const char *code;  /* a word for programs, of dialects that have one: "context_length_exceeded"; or NULL */
    char param[96];    /* the field at fault, as "messages[0].role"; "": none */
    char message[320]; /* for a person; names the field, too */
} request_error;

/* An object of the body. */
typedef struct fields {
    json_t *object; /* a reference of its own; NULL: there is none, and no field */
    json_t *rest;   /* what nobody has asked for yet */
    char path[64];  /* of the object in the body: "", "stream_options" */
    bool form;      /* all values are texts: those of numbers and booleans are read as such */
    request_error *error;
} fields;

/* ---- beginning and end ------------------------------------------------------------------------------------------------ */

/* The body of a request, which is to be an object: JSON of at most 2048 levels, without a key twice, a NUL or bytes that are no
 * UTF-8; or, where `forms`, a form. Asks for the memory of that first. What its Content-Type says counts; without one it is JSON,
 * and so is what curl calls a form where there are none. */
void fields_read(fields *f, exchange *x, bool forms, request_error *error);
/* The parameters of the query in its place, as those of a form; a name that comes twice is an error. */
void fields_read_query(fields *f, const exchange *x, request_error *error);
/* An object within a body, or NULL. */
void fields_open(fields *f, json_t *object, const char *path, request_error *error);
/* Closes an object. A field that nobody has asked for is an error. Whether all is well up to now; values that were returned last
 * until fields_free. */
bool fields_finish(fields *f);
/* Also after a failure; a zeroed one is fine. */
void fields_free(fields *f);

/* Keeps an error about a field unless there is one already; `name` NULL: about the object. The message begins with the name. */
void fields_fail(const fields *f, const char *name, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The same with its status and without the name in the message. */
void request_fail(request_error *e, int status, const char *param, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Asks for memory for a request (exchange_asks), of which `what` says what takes it: "50 prompts". False, with the error set:
 * 413, it is more than a request may take; 503, others have it, also after half a second in which a worker waits. */
bool request_asks(exchange *x, admission_part part, size_t bytes, request_error *e, const char *what, ...)
    __attribute__((format(printf, 5, 6)));

/* ---- values: null counts as absent ------------------------------------------------------------------------------------- */

/* The value, of any kind, borrowed; NULL: absent. */
json_t *fields_value(fields *f, const char *name);
/* A text, without NUL; NULL: absent. */
const char *fields_text(fields *f, const char *name);
/* The same where absence is an error. Never NULL: "" after an error. */
const char *fields_required_text(fields *f, const char *name);
/* One of `count` words, by its index; `absent` where there is none. */
size_t fields_word(fields *f, const char *name, const char *const *words, size_t count, size_t absent);
bool fields_flag(fields *f, const char *name, bool absent);
/* min to max; 3.0 is an integer, too. */
int64_t fields_integer(fields *f, const char *name, int64_t absent, int64_t min, int64_t max);
double fields_number(fields *f, const char *name, double absent, double min, double max);
/* A text, or a list of `min` to `max` texts: *count pointers, which last as long as the fields; the caller frees the array. NULL
 * where it is absent, empty or wrong. *list, unless NULL: whether it is a list. */
const char **fields_texts(fields *f, const char *name, size_t min, size_t max, size_t *count, bool *list);
/* An object, as fields to be finished and freed by the caller; absent ones have no fields. False: absent, or no object. */
bool fields_object(fields *f, const char *name, fields *inner);

/* ---- fields that change nothing ----------------------------------------------------------------------------------------- */

/* A field that any value is taken for, as none has an influence on the response: "user". */
void fields_ignore(fields *f, const char *name);
/* A field that only values are taken for that ask for nothing: `neutral` is a JSON list of them, as "[0]". Others are refused as
 * not supported. Numbers compare by value; of a form the values are texts, so "[false, \"0\"]". */
void fields_neutral(fields *f, const char *name, const char *neutral);

#endif
