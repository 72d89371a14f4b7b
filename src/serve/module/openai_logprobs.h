/* serve/module/openai_logprobs.h: log-probabilities of tokens as OpenAI's two endpoints print them. The numbers are those of the
 * model's softmax before any option, and read back as the same doubles. */
#ifndef SERVE_MODULE_OPENAI_LOGPROBS_H
#define SERVE_MODULE_OPENAI_LOGPROBS_H

#include "base/buffer.h"
#include "serve/module/openai_offsets.h"

#include "rapt/engine.h"

#include <jansson.h>

enum { OPENAI_LOGPROBS_LISTS = 6 };

/* Lists that grow token by token. At first all but `chat` and what is borrowed in `offsets` is zero. */
typedef struct openai_logprobs {
    bool chat;      /* {"content": [...]}; else four lists beside each other */
    json_t *lists;  /* of the tokens that have come since they were last taken or kept; or NULL */
    buffer kept[OPENAI_LOGPROBS_LISTS]; /* the elements of each list, as text, of those that were kept */
    openai_offsets offsets;
    bool failed;    /* out of memory: they are incomplete */
    buffer text;    /* of a token */
} openai_logprobs;

/* Adds a token, of the prompt, or generated, with its most probable alternatives. A log-probability that is no number, of a
 * text's first token, is null. */
void openai_logprobs_add(openai_logprobs *l, const rapt_engine_token *token, bool of_prompt);
/* The object for tokens that have come since it was last taken, the caller's; null where there are none, or on out-of-memory. */
json_t *openai_logprobs_take(openai_logprobs *l);
/* Keeps the tokens that have come as text, which takes a tenth of the memory, for openai_logprobs_write: bytes of it that came to
 * the others. After a failure they are incomplete (l->failed). */
size_t openai_logprobs_keep(openai_logprobs *l);
/* Writes the object of all that was kept, and frees it; null where there is none. False: out of memory. */
bool openai_logprobs_write(openai_logprobs *l, buffer *to);
void openai_logprobs_free(openai_logprobs *l);

#endif
