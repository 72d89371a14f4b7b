/* train/checkpoint/checkpoint_list.h: which checkpoints a model folder holds. For resuming, deleting old ones, and averages. */
#ifndef TRAIN_CHECKPOINT_CHECKPOINT_LIST_H
#define TRAIN_CHECKPOINT_CHECKPOINT_LIST_H

#include "rapt/base.h"

/* Steps of the files in `folder`/checkpoints, ascending. */
typedef struct checkpoint_list {
    uint64_t *steps;
    size_t count;
} checkpoint_list;

/* Reads the folder once: whoever decides by it looks at one state of it. Without a folder of checkpoints the list is empty;
 * one that is there and can't be read to its end, a link that leads nowhere among them, is an error, for it may hold any.
 * On failure the list is empty. checkpoint_list_free after either. */
rapt_code checkpoint_list_read(const char *folder, checkpoint_list *l, rapt_error *err);
void checkpoint_list_free(checkpoint_list *l);

/* The newest step, 0 where there is none. */
uint64_t checkpoint_list_newest(const checkpoint_list *l);

/* Whether `folder` is known to hold a checkpoint: for messages, no decision can hang on it. */
bool checkpoint_list_any(const char *folder);

/* Where the checkpoint of a step is; the caller frees it. NULL without memory. */
char *checkpoint_path(const char *folder, uint64_t step);
char *checkpoint_folder(const char *folder);

#endif
