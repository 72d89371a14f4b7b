/* serve/module/openai_object.h: the members that responses and chunks of completions and chats have in common. */
#ifndef SERVE_MODULE_OPENAI_OBJECT_H
#define SERVE_MODULE_OPENAI_OBJECT_H

#include <jansson.h>
#include <stdint.h>

typedef struct openai_object {
    const char *id, *model, *fingerprint; /* "cmpl-..."; the model's name; replay_fingerprint */
    int64_t created;                      /* seconds since 1970 */
} openai_object;

/* A response or a chunk of kind `object` ("chat.completion"), with `choices`, which it takes over. NULL: out of memory. */
json_t *openai_object_json(const openai_object *o, const char *object, json_t *choices);
/* "usage", in tokens. NULL: out of memory. */
json_t *openai_usage_json(size_t prompt, size_t completion, size_t cached);

#endif
