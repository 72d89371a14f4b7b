/* text/chat/jinja_from_json.c: JSON as values of templates. */
#include "text/chat/jinja_from_json.h"

#include <string.h>

static jinja_value value_of_json(jinja_work *w, const json_t *json);

static jinja_value row_of_json(jinja_work *w, const json_t *json)
{
    jinja_list *list = jinja_list_new(w, JINJA_IS_LIST, json_array_size(json));
    for (size_t i = 0; list && i < list->count; i++)
        list->items[i] = value_of_json(w, json_array_get(json, i));
    return jinja_row(list);
}

void jinja_from_json(jinja_work *w, const json_t *json, jinja_dict *d)
{
    for (void *at = json_object_iter((json_t *)json); at && d; at = json_object_iter_next((json_t *)json, at)) {
        jinja_value key = jinja_copy(w, json_object_iter_key(at), strlen(json_object_iter_key(at)));
        jinja_dict_put(w, d, key, value_of_json(w, json_object_iter_value(at)));
    }
}

static jinja_value value_of_json(jinja_work *w, const json_t *json)
{
    jinja_value v = JINJA_NULL;
    if (!jinja_enter(w))
        json = NULL;
    if (json_is_boolean(json))
        v = jinja_bool(json_is_true(json));
    else if (json_is_integer(json))
        v = jinja_int(json_integer_value(json));
    else if (json_is_real(json))
        v = jinja_float(json_real_value(json));
    else if (json_is_string(json))
        v = jinja_copy(w, json_string_value(json), json_string_length(json));
    else if (json_is_array(json))
        v = row_of_json(w, json);
    else if (json_is_object(json)) {
        v = jinja_table(jinja_dict_new(w));
        jinja_from_json(w, json, v.dict);
    }
    jinja_leave(w);
    return v;
}
