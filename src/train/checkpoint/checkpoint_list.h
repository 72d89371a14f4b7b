/* train/checkpoint/checkpoint_list.h: the checkpoints in a model folder. For resuming, deleting old ones, and averages. */
#ifndef TRAIN_CHECKPOINT_CHECKPOINT_LIST_H
#define TRAIN_CHECKPOINT_CHECKPOINT_LIST_H

#include "rapt/base.h"

/* Steps of the files in `folder`/checkpoints, ascending. */
typedef struct checkpoint_list {
    uint64_t *steps;
    size_t count, capacity;
} checkpoint_list;

/* Reads the folder once, so that all decisions are made from one state of it. Without a folder of checkpoints the list is empty;
 * one that exists and cannot be read to its end, such as a dangling link, is an error, for it may hold checkpoints. On failure
 * the list is empty. checkpoint_list_free after either. */
rapt_code checkpoint_list_read(const char *folder, checkpoint_list *l, rapt_error *err);
void checkpoint_list_free(checkpoint_list *l);

/* The newest step; 0 if there is none. */
uint64_t checkpoint_list_newest(const checkpoint_list *l);

/* Whether `folder` is known to hold a checkpoint: for messages, no decision can hang on it. */
bool checkpoint_list_any(const char *folder);

/* The path of the checkpoint of a step; the caller frees it. NULL on out-of-memory. */
char *checkpoint_path(const char *folder, uint64_t step);
char *checkpoint_folder(const char *folder);

#endif
