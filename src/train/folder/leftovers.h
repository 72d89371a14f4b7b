/* train/folder/leftovers.h: what killed runs have left in a model folder. For whoever has the folder's lock. */
#ifndef TRAIN_FOLDER_LEFTOVERS_H
#define TRAIN_FOLDER_LEFTOVERS_H

#include <stdbool.h>

/* Removes files with the names that unfinished ones of other processes have (.NAME.PROCESS.TRY.tmp; where `of_run` says that
 * this is the folder of a run, text.tokens.before and text.txt.before of rapt 0.1, too) in `folder`, its checkpoints, its
 * best and its untrained model. Regular files only, and no link is followed but `folder` itself. What can't be removed stays:
 * nothing hangs on it. Only with the folder's lock, or they may be a running process's. */
void leftovers_remove(const char *folder, bool of_run);

#endif
