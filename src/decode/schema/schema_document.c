/* decode/schema/schema_document.c: reads JSON, in which equal numbers become equal texts. */
#include "decode/schema/schema_document.h"

#include "base/buffer.h"
#include "decode/schema/schema_shape.h"
#include "decode/schema/schema_work.h"
#include "text/json_text.h"

#include <math.h>

/* The integer that a real is; NULL: it is none, or out of memory (*failed). */
static json_t *whole_of(const json_t *value, bool *failed)
{
    const double real = json_real_value(value);
    if (!json_is_real(value) || real != floor(real) || fabs(real) > (double)SCHEMA_INTEGER)
        return NULL;
    json_t *whole = json_integer((json_int_t)real);
    *failed = *failed || !whole;
    return whole;
}

/* As deep as the reader of JSON goes. False: out of memory. */
static bool make_whole(json_t *in)
{
    bool failed = false;
    json_t *value, *whole;
    size_t i;
    for (void *at = json_object_iter(in); at && !failed; at = json_object_iter_next(in, at)) {
        value = json_object_iter_value(at);
        whole = whole_of(value, &failed);
        failed = failed || (whole && json_object_iter_set_new(in, at, whole)) || !make_whole(value);
    }
    for (i = 0; i < json_array_size(in) && !failed; i++) {
        value = json_array_get(in, i);
        whole = whole_of(value, &failed);
        failed = failed || (whole && json_array_set_new(in, i, whole)) || !make_whole(value);
    }
    return !failed;
}

json_t *schema_document_read(const char *text, size_t size, rapt_error *err)
{
    json_error_t where;
    buffer copy = {0};
    if (size > SCHEMA_MAX_BYTES)
        rapt_fail(err, RAPT_ERR_VALUE, "a schema of %zu bytes: at most %d are taken", size, SCHEMA_MAX_BYTES);
    else if (!buffer_append(&copy, text, size))
        schema_no_memory(err);
    if (!copy.data)
        return NULL;
    json_t *root = json_text_read(copy.data, size, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &where);
    const bool schema = json_is_object(root) || json_is_boolean(root);
    buffer_free(&copy);
    if (schema && make_whole(root))
        return root;
    if (schema || (!root && json_error_code(&where) == json_error_out_of_memory))
        schema_no_memory(err);
    else
        rapt_fail(err, RAPT_ERR_VALUE, "schema, line %d: %s", root ? 1 : where.line,
                  root ? "it is an object, true or false" : where.text);
    json_decref(root);
    return NULL;
}
