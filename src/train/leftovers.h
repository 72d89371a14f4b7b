/* train/leftovers.h: what killed runs have left in a model folder. For whoever has the folder's lock. */
#ifndef TRAIN_LEFTOVERS_H
#define TRAIN_LEFTOVERS_H

/* Removes files with the names that unfinished ones have (.NAME.PROCESS.TRY.tmp; of rapt 0.1 text.tokens.before and
 * text.txt.before) in `folder`, its checkpoints and its best. Regular files only, and no link is followed but `folder` itself.
 * What can't be removed stays: nothing hangs on it. Only with the folder's lock, or they may be a running process's. */
void leftovers_remove(const char *folder);

#endif
