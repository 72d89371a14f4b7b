/* text/hf/hf_refuse.c: types and refusals, for all readers of a Hugging Face tokenizer.json. */
#include "text/hf/hf_read.h"

#include "base/quote.h"

const char *hf_type(const json_t *value)
{
    const char *type = json_string_value(json_object_get(value, "type"));
    return type ? type : "";
}

rapt_code hf_refuse(const hf_reading *r, const char *what, const json_t *value)
{
    const char *type = hf_type(value);
    return rapt_fail(r->err, RAPT_ERR_FORMAT, "%s: %s%s%s is not supported", r->path, what, *type ? " " : "", quote(type).text);
}

bool hf_is_off(const json_t *value)
{
    return !value || json_is_null(value) || json_is_false(value) || (json_is_number(value) && json_number_value(value) == 0) ||
           (json_is_string(value) && json_string_length(value) == 0);
}
