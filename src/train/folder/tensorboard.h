/* train/folder/tensorboard.h: the lines of train.jsonl as a file of TensorBoard's events (train.tensorboard). For log.c. */
#ifndef TRAIN_FOLDER_TENSORBOARD_H
#define TRAIN_FOLDER_TENSORBOARD_H

#include "rapt/base.h"

/* TensorBoard takes each file for events whose name has "tfevents" in it. */
#define TENSORBOARD_FILE "events.out.tfevents.rapt"

/* Appends the event of one line; a file that is not there is begun. */
rapt_code tensorboard_append(const char *folder, const char *line, size_t size, rapt_error *err);

/* Makes the file one of these lines, each with its line break, unless it is already: a TensorBoard that has it open reads on. */
rapt_code tensorboard_rewrite(const char *folder, const char *lines, size_t size, rapt_error *err);

#endif
