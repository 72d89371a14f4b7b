/* rapt/chat.h: conversations as prompts: the chat template of a Hugging Face folder turns messages into the text that the
 * model was trained on, as transformers' apply_chat_template does. docs/chat.md says what of Jinja templates may use.
 *
 *     rapt_chat_template *chat = rapt_chat_template_load("models/SmolLM2-135M-Instruct", &err);
 *     const rapt_chat_message messages[] = {{"user", "What is gravity?"}};
 *     rapt_chat_apply(chat, messages, 1, NULL, &text, &size, &err);
 *     rapt_chat_encode(model->language.tokenizer, text, size, &ids, &count, &err);
 *     rapt_generator_begin_tokens(generator, ids, count, &err); */
#ifndef RAPT_CHAT_H
#define RAPT_CHAT_H

#include "rapt/text.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One turn. Both are UTF-8. */
typedef struct rapt_chat_message {
    const char *role; /* "system", "user" or "assistant"; what else there is the template knows */
    const char *content;
} rapt_chat_message;

/* A template with the special tokens of its folder. Const once loaded: threads can share it. */
typedef struct rapt_chat_template rapt_chat_template;

/* Reads the template of a folder: chat_template.jinja, else "chat_template" of tokenizer_config.json (of several the one that
 * is called "default"), and the special tokens of tokenizer_config.json, or special_tokens_map.json where transformers reads
 * that; or both of a GGUF file. NULL with `err` set. RAPT_ERR_NOT_FOUND: the folder has no template; RAPT_ERR_FORMAT: the
 * template is wrong or uses what rapt does not support, "PATH:LINE: the filter "groupby" is not implemented"; or a special token
 * that it uses is known to transformers only. */
RAPT_API rapt_chat_template *rapt_chat_template_load(const char *folder, rapt_error *err);
RAPT_API void rapt_chat_template_free(rapt_chat_template *chat); /* NULL is fine */

/* Zeroed: as apply_chat_template(messages, add_generation_prompt=True). */
typedef struct rapt_chat_options {
    bool no_generation_prompt; /* nothing follows the last message */
    const char *variables;     /* more variables of the template, as a JSON object: "{\"enable_thinking\": false}"; or NULL */
    int64_t now;               /* what a template takes for the present, in seconds since 1970; 0: the present */
    size_t memory;             /* bytes that a template may take; 0, and at most: 256 MiB */
    rapt_stop_fn *stop;        /* asked now and then while a template runs: true ends it; or NULL */
    void *context;             /* of stop */
} rapt_chat_options;

/* The text of `count` messages, at least one. Contents come out as they are, whatever is in them. `options` may be NULL. *text is
 * to be freed and ends with a NUL; NULL after a failure. RAPT_ERR_VALUE: no message, variables that are no object;
 * RAPT_ERR_FORMAT: the template refuses the messages, or fails, or takes more than its share of steps and memory: "PATH:LINE:
 * REASON"; or a message is not UTF-8; RAPT_ERR_INTERRUPTED: options->stop said so. */
RAPT_API rapt_code rapt_chat_apply(const rapt_chat_template *chat, const rapt_chat_message *messages, size_t count,
                                   const rapt_chat_options *options, char **text, size_t *size, rapt_error *err);

/* The ids of such a text: special tokens in it are tokens, also those that somebody wrote into a message, as transformers has it
 * by default; ids that a tokenizer puts before and after any text are not there, for the template wrote them. The caller frees
 * *ids; NULL after a failure. RAPT_ERR_VALUE: a tokenizer that finds no special tokens in a text; else as
 * rapt_tokenizer_encode_bytes. */
RAPT_API rapt_code rapt_chat_encode(const rapt_tokenizer *tokenizer, const char *text, size_t size, int32_t **ids, size_t *count,
                                    rapt_error *err);

#ifdef __cplusplus
}
#endif

#endif
