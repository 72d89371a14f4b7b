/* data/conversation_set.h: files of conversations, or of preferences, as data sets, whose batches a rapt_loader makes: a
 * conversation is a row, with its length; a preference two rows, the chosen answer's and the rejected one's. For fine-tuning. */
#ifndef DATA_CONVERSATION_SET_H
#define DATA_CONVERSATION_SET_H

#include "rapt/data.h"

#include "data/conversation_file.h"
#include "data/conversation_tokens.h"

typedef struct conversation_set_options {
    conversation_rule rule;
    size_t context;             /* max tokens that a row of inputs has */
    rapt_too_long too_long;     /* what happens to longer conversations. Cut ones that have no answer left are dropped */
    double validation_fraction; /* by conversation_key */
    bool validation;            /* take the validation split; if false, the training split */
    bool packed;                /* batches of a loader have batch_tokens, about; if false, batch_size conversations */
    bool preferences;           /* lines are preferences, and stay together if one of their two rows is too long */
} conversation_set_options;

/* NULL with `err` set, "PATH:LINE: ..." for a bad line. */
rapt_dataset *conversation_set_new(const conversation_file *f, const conversation_set_options *o, rapt_error *err);
/* Conversations that were cut at `context`; most of them have lost their last end of turn. */
size_t conversation_set_cut(const rapt_dataset *d);
/* A hash of all tokens and labels. */
uint64_t conversation_set_hash(const rapt_dataset *d);
int32_t conversation_set_max_id(const rapt_dataset *d);

#endif
