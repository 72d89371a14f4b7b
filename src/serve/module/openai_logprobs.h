/* serve/module/openai_logprobs.h: log-probabilities of tokens as OpenAI's two endpoints print them. The numbers come from the
 * model's softmax before any option, and read back as the same doubles. */
#ifndef SERVE_MODULE_OPENAI_LOGPROBS_H
#define SERVE_MODULE_OPENAI_LOGPROBS_H

#include "base/buffer.h"
#include "serve/module/openai_offsets.h"

#include "rapt/engine.h"

#include <jansson.h>

enum { OPENAI_LOGPROBS_LISTS = 6 };

/* Lists that grow token by token. At first everything is zero except `chat` and the borrowed members of `offsets`. */
typedef struct openai_logprobs {
    bool chat;      /* {"content": [...]}; false: the lists of completions */
    json_t *lists;  /* lists of the tokens since the last openai_logprobs_take or _keep; or NULL */
    buffer kept[OPENAI_LOGPROBS_LISTS]; /* the elements of each list, as text, of the tokens that were kept */
    openai_offsets offsets;
    bool failed;    /* out of memory: they are incomplete */
    buffer text;    /* of a token */
} openai_logprobs;

/* Adds a token of the prompt or a generated token, with its most probable alternatives. A log-probability that is NaN, as the
 * first token's of a text, becomes null. */
void openai_logprobs_add(openai_logprobs *l, const rapt_generated_token *token, bool of_prompt);
/* The object for the tokens since the last call, owned by the caller; null if there are none, or if memory is exhausted. */
json_t *openai_logprobs_take(openai_logprobs *l);
/* Turns the new tokens into text, which takes a tenth of the memory, for openai_logprobs_write. Returns the bytes that it has
 * added. After a failure they are incomplete (l->failed). */
size_t openai_logprobs_keep(openai_logprobs *l);
/* Writes the object of all kept tokens, and frees it; null if there are none. False: out of memory. */
bool openai_logprobs_write(openai_logprobs *l, buffer *to);
void openai_logprobs_free(openai_logprobs *l);

#endif
