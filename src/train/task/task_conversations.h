/* train/task/task_conversations.h: what runs on conversations and on preferences share: all but the loss. */
#ifndef TRAIN_TASK_TASK_CONVERSATIONS_H
#define TRAIN_TASK_TASK_CONVERSATIONS_H

#include "data/conversation_set.h"
#include "train/task/task_language_model.h"

typedef struct conversations {
    conversation_file *file, *valid; /* valid: data.validation, or NULL */
    rapt_chat_template *chat;        /* NULL: the model has none, because of */
    rapt_error no_chat;
    rapt_dataset *train, *validation;
    rapt_loader *loader, *validation_loader;
    int32_t *zeros; /* ids of a batch that is only counted */
    rapt_real *reference, *validation_reference; /* of preferences: [rows of the set] log-probabilities by the reference */
} conversations;

/* The batches of a set. */
rapt_loader *task_conversations_loader(const run *r, const rapt_dataset *d, bool shuffle, rapt_error *err);

/* Members of train_task. */
rapt_code task_conversations_open(run *r, rapt_error *err);
void task_conversations_inputs(const run *r, task_input list[TASK_MAX_INPUTS]);
rapt_code task_conversations_load(run *r, rapt_error *err);
rapt_code task_conversations_make(run *r, uint64_t seed, rapt_error *err);
void task_conversations_close(run *r);
rapt_code task_conversations_batch(run *r, uint64_t index, train_batch *out, rapt_error *err);
rapt_code task_conversations_validation(run *r, size_t index, train_batch *out, rapt_error *err);
rapt_code task_conversations_sized(run *r, size_t size, bool validation, train_batch *out, rapt_error *err);
uint64_t task_conversations_hash(const run *r);
void task_conversations_describe(const run *r, rapt_memory_plan *plan);
rapt_code task_conversations_files(const run *r, const char *names[TASK_MAX_FILES + 1], rapt_error *err);
rapt_code task_conversations_write(const run *r, rapt_error *err);

#define TASK_CONVERSATIONS                                                                                                  \
    .open = task_conversations_open, .inputs = task_conversations_inputs, .load = task_conversations_load,                  \
    .make = task_conversations_make, .close = task_conversations_close, .batch = task_conversations_batch,                  \
    .validation_batch = task_conversations_validation, .sized = task_conversations_sized, .hash = task_conversations_hash,  \
    .describe = task_conversations_describe, .files = task_conversations_files, .write = task_conversations_write,          \
    .sample = task_language_model_sample

#endif
