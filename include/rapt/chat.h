/* rapt/chat.h: conversations as prompts: the chat template of a Hugging Face folder turns messages into the text that the model
 * was trained on, as transformers' apply_chat_template does. docs/chat.md lists the parts of Jinja that templates may use.
 *
 *     rapt_chat_template *chat = rapt_chat_template_load("models/SmolLM2-135M-Instruct", &err);
 *     const rapt_chat_message messages[] = {{"user", "What is gravity?"}};
 *     rapt_chat_apply(chat, messages, 1, NULL, &text, &size, &err);
 *     rapt_chat_encode(rapt_model_source_tokenizer(model), text, size, &ids, &count, &err);
 *     rapt_generator_begin_tokens(generator, ids, count, &err); */
#ifndef RAPT_CHAT_H
#define RAPT_CHAT_H

#include "rapt/defaults.h"
#include "rapt/text.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One turn of a conversation. Both strings are UTF-8. */
typedef struct rapt_chat_message {
    const char *role; /* "system", "user" or "assistant", or another role that the template knows */
    const char *content;
} rapt_chat_message;

/* A template with the special tokens of its folder. Const once loaded: threads can share it. */
typedef struct rapt_chat_template rapt_chat_template;

/* Reads the template of a folder: chat_template.jinja, else "chat_template" in tokenizer_config.json (if there are several, the
 * one called "default"); and the special tokens in tokenizer_config.json, or in special_tokens_map.json where transformers reads
 * that. A GGUF file has both. NULL with `err` set. RAPT_ERR_NOT_FOUND: the folder has no template; RAPT_ERR_FORMAT: the template
 * is wrong or uses something that rapt does not support, "PATH:LINE: the filter "groupby" is not implemented"; or it uses a
 * special token that only transformers knows. */
RAPT_API rapt_chat_template *rapt_chat_template_load(const char *folder, rapt_error *err);
RAPT_API void rapt_chat_template_free(rapt_chat_template *chat); /* NULL is fine */

enum { RAPT_CHAT_MEMORY = 256 << 20 }; /* max bytes that a template may take */

typedef struct rapt_chat_options {
    size_t size;            /* of this struct; set by rapt_chat_options_default */
    const char *variables;  /* more variables for the template, as a JSON object: "{\"enable_thinking\": false}"; or NULL */
    const char *tools;      /* functions that the model may call, for a template that takes them, as a JSON list:
                               [{"type": "function", "function": {"name": ..., "parameters": {...}}}, ...]; or NULL */
    int64_t now;            /* the time that a template sees as the present, in seconds since 1970; 0: the present */
    size_t memory;          /* max bytes that a template may take, 1 or more; above RAPT_CHAT_MEMORY it counts as that */
    rapt_stop_fn *stop;     /* asked now and then while a template runs: true cancels it; or NULL */
    void *context;          /* of stop */
    bool generation_prompt; /* after the last message, what a reply of the assistant begins with */
    uint8_t reserved[7];    /* zeros, or else refused */
} rapt_chat_options;

/* Writes the defaults into options that have `size` bytes in the program (rapt/defaults.h). */
RAPT_API void rapt_chat_options_init(rapt_chat_options *o, size_t size);
/* Like apply_chat_template(messages, add_generation_prompt=True), now; memory RAPT_CHAT_MEMORY. */
static inline rapt_chat_options rapt_chat_options_default(void)
{
    rapt_chat_options o;
    rapt_chat_options_init(&o, sizeof o);
    return o;
}

/* The prompt for `count` messages, at least one. Contents are inserted unchanged, whatever they hold. `options` may be NULL. The
 * caller frees *text, which ends with a NUL; it is NULL after a failure. RAPT_ERR_VALUE: no message, options without a size, or
 * variables that are not a JSON object; RAPT_ERR_FORMAT: a message is not UTF-8, or the template refuses the messages, fails, or
 * exceeds its limit of steps or memory ("PATH:LINE: REASON"); RAPT_ERR_INTERRUPTED: cancelled by options->stop. */
RAPT_API rapt_code rapt_chat_apply(const rapt_chat_template *chat, const rapt_chat_message *messages, size_t count,
                                   const rapt_chat_options *options, char **text, size_t *size, rapt_error *err);

/* Like rapt_chat_apply, with messages as `size` bytes of JSON: a list of objects, which the template is given with all their
 * members: "role", "content", "tool_calls", "tool_call_id" and so on. Arguments of calls that are a text become the object that
 * the text is, as templates want them. RAPT_ERR_VALUE also: no list of objects, or none; tools that are no list. */
RAPT_API rapt_code rapt_chat_apply_json(const rapt_chat_template *chat, const char *messages, size_t size,
                                        const rapt_chat_options *options, char **text, size_t *text_size, rapt_error *err);

/* The calls of tools in `size` bytes of a reply, in the form in which the template writes them: *json becomes {"content": the
 * text besides them, or null, "tool_calls": [{"name": ..., "arguments": the JSON that the model wrote, as a text}, ...]}, to be
 * freed. What merely looks like a call, but is no valid JSON, or names none of `tools` (rapt_chat_options.tools), is text.
 * RAPT_ERR_VALUE: the template takes no tools, writes calls in a form that is not known here (docs/tools.md), or `tools` are no
 * list. */
RAPT_API rapt_code rapt_chat_calls(const rapt_chat_template *chat, const char *tools, const char *reply, size_t size, char **json,
                                   rapt_error *err);

/* The ids of a prompt that rapt_chat_apply made. Texts of special tokens become those tokens, even if a user wrote them into a
 * message: this is the default of transformers. Ids that the tokenizer otherwise puts before and after a text are not added,
 * because the template has written them. The caller frees *ids; it is NULL after a failure. RAPT_ERR_VALUE: the tokenizer finds
 * no special tokens in a text; other errors as in rapt_tokenizer_encode_bytes. */
RAPT_API rapt_code rapt_chat_encode(const rapt_tokenizer *tokenizer, const char *text, size_t size, int32_t **ids, size_t *count,
                                    rapt_error *err);

#ifdef __cplusplus
}
#endif

#endif
