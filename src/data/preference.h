/* data/preference.h: two answers to a prompt of which one is better, from a line of JSON as TRL has them. For the data sets of
 * preference tuning, and `rapt data check`. */
#ifndef DATA_PREFERENCE_H
#define DATA_PREFERENCE_H

#include "data/conversation_tokens.h"

typedef struct preference {
    conversation chosen, rejected; /* each with the prompt */
    bool shared;                   /* plain texts without a "prompt": it is what their tokens begin with */
    conversation_fault fault;      /* set if preference_read fails with RAPT_ERR_FORMAT */
} preference;

/* Reads a line, which it may change:
 *
 *     {"prompt": "...", "chosen": "...", "rejected": "..."}, or all three as lists of messages (conversation.h)
 *     {"chosen": [...], "rejected": [...]}: conversations; the prompt is the messages with which both begin
 *     {"chosen": "...", "rejected": "..."}: texts, likewise
 *
 * The first message in which the two differ is the assistant's. Other keys are ignored. RAPT_ERR_FORMAT with out->fault, and a
 * message that says what is wrong without naming the line. Free the preference in any case. */
rapt_code preference_read(char *line, size_t size, preference *out, rapt_error *err);
void preference_free(preference *p);
/* Whether a line has the keys of a preference, whatever else is wrong with it. False if out of memory. */
bool preference_is(const char *line, size_t size);

typedef struct preference_tokens {
    conversation_tokens chosen, rejected; /* answers carry loss */
} preference_tokens;

/* conversation_encode for both; rule->all must be false. RAPT_ERR_FORMAT also if one of them has no token that carries loss. Free
 * the tokens in any case. */
rapt_code preference_encode(const preference *p, const conversation_rule *rule, preference_tokens *out, rapt_error *err);
void preference_tokens_free(preference_tokens *t);

#endif
