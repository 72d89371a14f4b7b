/* data/conversation.h: a conversation, from a line of JSON in one of the forms that TRL, OpenAI and axolotl read. For the data
 * sets of fine-tuning, and `rapt data check`. Not its tokens. */
#ifndef DATA_CONVERSATION_H
#define DATA_CONVERSATION_H

#include "rapt/chat.h"

#include <jansson.h>

/* Why a line is no conversation, or preference, to learn from; SAME is of preferences only. X(name, key, text) */
#define CONVERSATION_FAULTS(X)                                          \
    X(JSON, "not_json", "no JSON object")                               \
    X(LONG, "too_long", "a line of more than 16 MiB")                   \
    X(DEEP, "too_deep", "nested too deep")                              \
    X(TWICE, "duplicate_key", "a key twice in an object")               \
    X(FORM, "unknown_form", "none of the forms of a conversation")      \
    X(ROLE, "unknown_role", "an unknown role")                          \
    X(EMPTY, "empty_turn", "a turn without a text")                     \
    X(ANSWER, "no_answer", "no answer, or one without a prompt")        \
    X(SAME, "same_answers", "the same answer chosen and rejected")

#define CONVERSATION_FAULT(name, key, text) CONVERSATION_FAULT_##name,
typedef enum conversation_fault { CONVERSATION_FAULTS(CONVERSATION_FAULT) CONVERSATION_FAULT_COUNT } conversation_fault;
#undef CONVERSATION_FAULT

typedef struct conversation {
    rapt_chat_message *messages; /* [count]; or count 0: a plain text */
    size_t count, given;         /* `given`: messages of "prompt", whose answers are no examples */
    const char *prompt, *answer; /* of a plain text; prompt NULL: all of it is in `answer` */
    json_t *json;                /* holds the texts */
    conversation_fault fault;    /* set if conversation_read fails with RAPT_ERR_FORMAT */
} conversation;

enum { CONVERSATION_MAX_MESSAGES = 1000, CONVERSATION_MAX_BYTES = 16 << 20 };

/* Reads a line, which it may change:
 *
 *     {"messages": [{"role": "user", "content": "..."}, {"role": "assistant", "content": "..."}]}
 *     {"prompt": "...", "completion": "..."}, or both as lists of such messages
 *     {"conversations": [{"from": "human", "value": "..."}, {"from": "gpt", "value": "..."}]}
 *     {"text": "..."}
 *
 * Other keys are ignored. RAPT_ERR_FORMAT with out->fault, and a message that says what is wrong without naming the line. Free
 * the conversation in any case. */
rapt_code conversation_read(char *line, size_t size, conversation *out, rapt_error *err);
void conversation_free(conversation *c);

bool conversation_is_answer(const conversation *c, size_t message);
/* A hash of what comes before the first answer, or of a whole text: conversations with the same prompt are in one split. */
uint64_t conversation_key(const conversation *c);

#endif
