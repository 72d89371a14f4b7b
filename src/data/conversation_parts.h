/* data/conversation_parts.h: what reading a conversation is made of. For conversation.c, and preference.c, whose lines have
 * two. */
#ifndef DATA_CONVERSATION_PARTS_H
#define DATA_CONVERSATION_PARTS_H

#include "data/conversation.h"

/* Sets a fault, and fails. */
#define CONVERSATION_FAIL(fault, name, err, ...) \
    (*(fault) = CONVERSATION_FAULT_##name, rapt_fail(err, RAPT_ERR_FORMAT, __VA_ARGS__))

/* The keys of a list of messages. */
typedef struct message_form {
    const char *list, *role, *content;
} message_form;

/* All of these set c->fault with RAPT_ERR_FORMAT. */

/* A line as c->json, which is an object. */
rapt_code conversation_read_json(char *line, size_t size, conversation *c, rapt_error *err);
/* Whether an object has a key with a value: writers with columns for all forms leave null in the others. */
bool conversation_has(const json_t *object, const char *key);
/* Refuses keys beside the turns that a template would not be given. */
rapt_code conversation_check_beside(conversation *c, rapt_error *err);
/* Appends the messages of a list. */
rapt_code conversation_take_messages(conversation *c, const json_t *list, const message_form *form, rapt_error *err);
/* An answer behind the given messages needs something that it answers: a template cannot render nothing. */
rapt_code conversation_check_answers(conversation *c, rapt_error *err);

#endif
