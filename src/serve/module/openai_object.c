/* serve/module/openai_object.c: common members of OpenAI's objects. */
#include "serve/module/openai_object.h"

json_t *openai_object_json(const openai_object *o, const char *object, json_t *choices)
{
    return json_pack("{s:s, s:s, s:I, s:s, s:s, s:o}", "id", o->id, "object", object, "created", (json_int_t)o->created, "model",
                     o->model, "system_fingerprint", o->fingerprint, "choices", choices);
}

json_t *openai_usage_json(size_t prompt, size_t completion, size_t cached)
{
    return json_pack("{s:I, s:I, s:I, s:{s:I}}", "prompt_tokens", (json_int_t)prompt, "completion_tokens",
                     (json_int_t)completion, "total_tokens", (json_int_t)(prompt + completion), "prompt_tokens_details",
                     "cached_tokens", (json_int_t)cached);
}
