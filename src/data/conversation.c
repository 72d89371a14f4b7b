/* data/conversation.c: lines of JSON as conversations: four forms, told apart by their keys. It renders nothing. */
#include "data/conversation_parts.h"

#include "base/quote.h"
#include "base/rng.h"
#include "text/json_text.h"
#include "text/utf8.h"

#include <stdlib.h>
#include <string.h>

#define ASSISTANT "assistant"

#define FAULT(c, name, ...) CONVERSATION_FAIL(&(c)->fault, name, err, __VA_ARGS__)

/* ---- JSON --------------------------------------------------------------------------------------------------------- */

rapt_code conversation_read_json(char *line, size_t size, conversation *c, rapt_error *err)
{
    json_error_t where;
    if (size > CONVERSATION_MAX_BYTES)
        return FAULT(c, LONG, "a line of %zu bytes; at most %d are allowed", size, CONVERSATION_MAX_BYTES);
    c->json = json_text_read(line, size, JSON_REJECT_DUPLICATES, &where);
    const enum json_error_code code = c->json ? json_error_unknown : json_error_code(&where);
    if (json_is_object(c->json))
        return RAPT_OK;
    if (!c->json && (code == json_error_out_of_memory || where.text[0] == '\0'))
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a conversation");
    if (code == json_error_stack_overflow)
        return FAULT(c, DEEP, "the JSON is nested too deep");
    if (code == json_error_duplicate_key)
        return FAULT(c, TWICE, "column %d: an object has a key twice: %s", where.column, quote(where.text).text);
    return c->json ? FAULT(c, JSON, "it is JSON, but no object")
                   : FAULT(c, JSON, "column %d: no JSON: %s", where.column, quote(where.text).text);
}

/* ---- messages ----------------------------------------------------------------------------------------------------- */

static const message_form OPENAI = {"messages", "role", "content"}, SHAREGPT = {"conversations", "from", "value"};

/* Names of roles, each followed by the role as templates know it. */
static const char *const ROLES[][2] = {{"system", "system"}, {"developer", "developer"}, {"user", "user"}, {"human", "user"},
                                       {ASSISTANT, ASSISTANT}, {"gpt", ASSISTANT}, {"tool", "tool"}};

/* NULL: unknown. Only ShareGPT's lists call roles "human" and "gpt". */
static const char *role_of(const char *name, const message_form *form)
{
    for (size_t i = 0; i < sizeof ROLES / sizeof *ROLES; i++)
        if (strcmp(name, ROLES[i][0]) == 0 && (form == &SHAREGPT || strcmp(name, ROLES[i][1]) == 0))
            return ROLES[i][1];
    return NULL;
}

bool conversation_has(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return value && !json_is_null(value);
}

/* What a template would not be given must not be lost without a word. */
static rapt_code check_members(conversation *c, const json_t *message, size_t number, rapt_error *err)
{
    static const char *const beyond[] = {"tool_calls", "function_call", "reasoning_content", "thinking"};
    const json_t *weight = json_object_get(message, "weight");
    for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++)
        if (conversation_has(message, beyond[i]))
            return FAULT(c, FORM, "message %zu has \"%s\", which is not implemented", number, beyond[i]);
    if (weight && !json_is_null(weight) && json_number_value(weight) != 1)
        return FAULT(c, FORM, "message %zu has a \"weight\" other than 1, which is not implemented", number);
    return RAPT_OK;
}

static rapt_code take_message(conversation *c, const json_t *message, const message_form *form, rapt_error *err)
{
    const size_t number = c->count + 1;
    if (!json_is_object(message))
        return FAULT(c, FORM, "message %zu is no object", number);
    if (form == &SHAREGPT && !json_object_get(message, form->role)) /* axolotl has lists of that name with the other keys, too */
        form = &OPENAI;
    const char *name = json_string_value(json_object_get(message, form->role));
    const json_t *content = json_object_get(message, form->content);
    rapt_code code = check_members(c, message, number, err);
    if (code)
        return code;
    if (!name)
        return FAULT(c, ROLE, "message %zu has no \"%s\" that is a text", number, form->role);
    const char *role = role_of(name, form);
    if (!role)
        return FAULT(c, ROLE, "message %zu: the role \"%s\" is unknown", number, quote(name).text);
    if (!content || json_is_null(content))
        return FAULT(c, EMPTY, "message %zu has no \"%s\"", number, form->content);
    if (!json_is_string(content))
        return FAULT(c, FORM, "message %zu: \"%s\" is no text", number, form->content);
    if (utf8_is_blank(json_string_value(content)))
        return FAULT(c, EMPTY, "message %zu has no text", number);
    c->messages[c->count++] = (rapt_chat_message){role, json_string_value(content)};
    return RAPT_OK;
}

rapt_code conversation_take_messages(conversation *c, const json_t *list, const message_form *form, rapt_error *err)
{
    const size_t count = json_array_size(list);
    if (!json_is_array(list))
        return FAULT(c, FORM, "\"%s\" is no list", form->list);
    if (count > CONVERSATION_MAX_MESSAGES - c->count)
        return FAULT(c, FORM, "%zu messages; at most %d are allowed", c->count + count, CONVERSATION_MAX_MESSAGES);
    rapt_chat_message *messages = realloc(c->messages, (c->count + count + 1) * sizeof *messages);
    if (!messages)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a conversation");
    c->messages = messages;
    rapt_code code = RAPT_OK;
    for (size_t i = 0; i < count && !code; i++)
        code = take_message(c, json_array_get(list, i), form, err);
    return code;
}

rapt_code conversation_check_answers(conversation *c, rapt_error *err)
{
    size_t answers = 0;
    for (size_t i = c->given; i < c->count; i++)
        answers += conversation_is_answer(c, i);
    if (answers == 0)
        return FAULT(c, ANSWER, "no message is the assistant's");
    return conversation_is_answer(c, 0) ? FAULT(c, ANSWER, "the first message is the assistant's: it answers nothing") : RAPT_OK;
}

/* ---- forms -------------------------------------------------------------------------------------------------------- */

static rapt_code take_turns(conversation *c, const message_form *form, rapt_error *err)
{
    rapt_code code = conversation_take_messages(c, json_object_get(c->json, form->list), form, err);
    return code ? code : conversation_check_answers(c, err);
}

static rapt_code take_completion(conversation *c, rapt_error *err)
{
    static const message_form prompt_form = {"prompt", "role", "content"}, answer_form = {"completion", "role", "content"};
    const json_t *prompt = json_object_get(c->json, "prompt"), *answer = json_object_get(c->json, "completion");
    if (json_is_string(prompt) && json_is_string(answer)) {
        c->prompt = json_string_value(prompt);
        c->answer = json_string_value(answer);
        const char *empty = utf8_is_blank(c->prompt) ? "prompt" : utf8_is_blank(c->answer) ? "completion" : NULL;
        return empty ? FAULT(c, EMPTY, "\"%s\" has no text", empty) : RAPT_OK;
    }
    if (!json_is_array(prompt) || !json_is_array(answer))
        return FAULT(c, FORM, "\"prompt\" and \"completion\" must both be texts, or both lists of messages");
    rapt_code code = conversation_take_messages(c, prompt, &prompt_form, err);
    c->given = c->count;
    code = code ? code : conversation_take_messages(c, answer, &answer_form, err);
    return code ? code : conversation_check_answers(c, err);
}

static rapt_code take_text(conversation *c, rapt_error *err)
{
    c->answer = json_string_value(json_object_get(c->json, "text"));
    if (!c->answer)
        return FAULT(c, FORM, "\"text\" is no text");
    return utf8_is_blank(c->answer) ? FAULT(c, EMPTY, "\"text\" has no text") : RAPT_OK;
}

rapt_code conversation_check_beside(conversation *c, rapt_error *err)
{
    static const char *const beside[] = {"tools", "functions", "system"};
    for (size_t i = 0; i < sizeof beside / sizeof *beside; i++)
        if (conversation_has(c->json, beside[i]))
            return FAULT(c, FORM, "it has \"%s\" beside its turns, which is not implemented", beside[i]);
    return RAPT_OK;
}

rapt_code conversation_read(char *line, size_t size, conversation *c, rapt_error *err)
{
    *c = (conversation){0};
    rapt_code code = conversation_read_json(line, size, c, err);
    code = code ? code : conversation_check_beside(c, err);
    if (code)
        return code;
    const bool messages = conversation_has(c->json, "messages"), turns = conversation_has(c->json, "conversations");
    const bool completion = conversation_has(c->json, "completion"), text = conversation_has(c->json, "text");
    if (messages + turns + completion + text > 1)
        return FAULT(c, FORM, "it has %s: which of them is the conversation?",
                     messages && turns ? "\"messages\" and \"conversations\"" : completion ? "\"completion\" and another form"
                     : "\"text\" and another form");
    if (completion)
        return take_completion(c, err);
    if (text)
        return take_text(c, err);
    if (messages || turns)
        return take_turns(c, messages ? &OPENAI : &SHAREGPT, err);
    return FAULT(c, FORM, "none of \"messages\", \"conversations\", \"prompt\" and \"completion\", or \"text\"");
}

void conversation_free(conversation *c)
{
    free(c->messages);
    json_decref(c->json);
    *c = (conversation){0};
}

bool conversation_is_answer(const conversation *c, size_t message)
{
    return strcmp(c->messages[message].role, ASSISTANT) == 0;
}

uint64_t conversation_key(const conversation *c)
{
    uint64_t key = rng_hash_text(c->count ? "" : c->prompt ? c->prompt : c->answer);
    for (size_t i = 0; i < c->count && (i < c->given || !conversation_is_answer(c, i)); i++)
        key = rng_mix(rng_mix(key, rng_hash_text(c->messages[i].role)), rng_hash_text(c->messages[i].content));
    return key;
}
