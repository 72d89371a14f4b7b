/* data/conversation_set.h: files of conversations as data sets, whose batches a rapt_loader makes: a conversation a row, with
 * its length. For fine-tuning. */
#ifndef DATA_CONVERSATION_SET_H
#define DATA_CONVERSATION_SET_H

#include "rapt/data.h"

#include "data/conversation_tokens.h"

/* A file of JSON lines, maybe expanded from gzip. Lines of white space are skipped. */
typedef struct conversation_file conversation_file;
/* NULL with `err` set: a file that cannot be read, is not UTF-8, or has only blank lines. */
conversation_file *conversation_file_open(const char *path, rapt_error *err);
void conversation_file_close(conversation_file *f); /* NULL is fine */

/* Calls `each` with the conversation of every line in order, until it fails; RAPT_ERR_FORMAT of conversation_read goes to `each`
 * as `code` and `why`. */
typedef rapt_code conversation_fn(void *context, size_t line, const conversation *c, rapt_code code, const rapt_error *why,
                                  rapt_error *err);
rapt_code conversation_file_each(const conversation_file *f, conversation_fn *each, void *context, rapt_error *err);

typedef struct conversation_set_options {
    conversation_rule rule;
    size_t context;             /* max tokens that a row of inputs has */
    rapt_too_long too_long;     /* what happens to longer conversations. Cut ones that have no answer left are dropped */
    double validation_fraction; /* by conversation_key */
    bool validation;            /* take the validation split; if false, the training split */
    bool packed;                /* batches of a loader have batch_tokens, about; if false, batch_size conversations */
} conversation_set_options;

/* NULL with `err` set, "PATH:LINE: ..." for a bad line. */
rapt_dataset *conversation_set_new(const conversation_file *f, const conversation_set_options *o, rapt_error *err);
/* Conversations that were cut at `context`; most of them have lost their last end of turn. */
size_t conversation_set_cut(const rapt_dataset *d);
/* A hash of all tokens and labels. */
uint64_t conversation_set_hash(const rapt_dataset *d);
int32_t conversation_set_max_id(const rapt_dataset *d);

#endif
