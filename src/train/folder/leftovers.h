/* train/folder/leftovers.h: removes what killed runs have left in a model folder. For the holder of the folder's lock. */
#ifndef TRAIN_FOLDER_LEFTOVERS_H
#define TRAIN_FOLDER_LEFTOVERS_H

#include <stdbool.h>

/* Removes files with the names of unfinished files of other processes (.NAME.PROCESS.TRY.tmp; with `of_run`, for the folder of a
 * run, also text.tokens.before and text.txt.before of rapt 0.1) in `folder`, its checkpoints/, best/ and untrained/. Only regular
 * files; no link is followed except `folder` itself. A file that can't be removed stays, without an error, because it does no
 * harm. The caller must hold the folder's lock, because otherwise the files may belong to a running process. */
void leftovers_remove(const char *folder, bool of_run);

#endif
