/* serve/module/openai_chat_choice.c: a chat's choice as JSON. */
#include "serve/module/openai_chat.h"

json_t *openai_chat_choice(size_t index, const char *text, size_t size, json_t *logprobs, const char *finish)
{
    return json_pack("{s:i, s:{s:s, s:s%, s:n}, s:o, s:s?}", "index", (int)index, "message", "role", "assistant", "content",
                     text ? text : "", size, "refusal", "logprobs", logprobs, "finish_reason", finish);
}

json_t *openai_chat_delta(size_t index, bool first, const char *text, size_t size, json_t *logprobs, const char *finish)
{
    json_t *delta = first  ? json_pack("{s:s, s:s%}", "role", "assistant", "content", text ? text : "", size)
                  : finish ? json_object()
                           : json_pack("{s:s%}", "content", text ? text : "", size);
    return json_pack("{s:i, s:o, s:o, s:s?}", "index", (int)index, "delta", delta, "logprobs", logprobs, "finish_reason", finish);
}
