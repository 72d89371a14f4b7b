/* data/conversation_tokens.h: the tokens of a conversation, and which of them carry loss. For the data sets of fine-tuning, and
 * for showing them. Not a model's answers. */
#ifndef DATA_CONVERSATION_TOKENS_H
#define DATA_CONVERSATION_TOKENS_H

#include "base/stop.h"
#include "data/conversation.h"

/* How conversations become tokens. All is borrowed. */
typedef struct conversation_rule {
    const rapt_tokenizer *tokenizer;
    const rapt_chat_template *chat; /* NULL: there is none, and */
    const char *no_chat;            /* why */
    int32_t end;                    /* follows a plain text, which has no template to end it; -1: nothing does */
    bool all;                       /* all tokens carry loss; if false, answers only */
    stop_check stop;
} conversation_rule;

typedef struct conversation_tokens {
    int32_t *ids;    /* [count] */
    uint8_t *counts; /* [count]: 1: the token carries loss, which the first never does: nothing comes before it */
    size_t count;
} conversation_tokens;

/* Templates that print a date see this one, so that a run can be resumed on another day: 2024-07-26 11:00 UTC, in seconds since
 * 1970, which is that day in all time zones from -11:00 to +12:59. */
#define CONVERSATION_NOW 1721991600

/* An answer carries loss from behind what the template puts before it, to its end, the end of turn included. These places are
 * found by rendering the messages before it and up to it: RAPT_ERR_FORMAT, if one of them has tokens with which the whole
 * conversation does not begin. Messages do not name the line. Free the tokens in any case. */
rapt_code conversation_encode(const conversation *c, const conversation_rule *rule, conversation_tokens *out, rapt_error *err);
/* The number of the first `count` tokens that carry loss. */
size_t conversation_tokens_counted(const conversation_tokens *t, size_t count);
void conversation_tokens_free(conversation_tokens *t);

#endif
