/* train/folder/log.h: train.jsonl, one line a report; with `events` also as TensorBoard's (tensorboard.h). */
#ifndef TRAIN_FOLDER_LOG_H
#define TRAIN_FOLDER_LOG_H

#include "rapt/train.h"

/* Appends a line; `partial` marks one that a stopped run leaves and a resumed one drops, and that is no event. */
rapt_code log_append(const char *folder, const rapt_progress *p, const rapt_memory_plan *plan, bool partial, bool events,
                     rapt_error *err);

/* Whether there is a log with anything in it. */
rapt_code log_has_lines(const char *folder, bool *lines, rapt_error *err);

/* Drops partial lines, lines after step `step`, which its checkpoint does not know, and everything that is not a line of a log.
 * Events are made of the lines that are left. On failure the log is either unchanged or complete. */
rapt_code log_rewind(const char *folder, uint64_t step, bool events, rapt_error *err);

/* The step of the first report with the best number of this kind; 0 if there is none, or no log. */
uint64_t log_best_step(const char *folder, rapt_recipe_best_by by);

#endif
