/* train/ranks/ranks_work.h: what the ranks of a run do together outside of its steps. For set-up, reports and checkpoints, whose
 * code is the same with a group and without: alone, there is nobody to wait for or to tell. */
#ifndef TRAIN_RANKS_RANKS_WORK_H
#define TRAIN_RANKS_RANKS_WORK_H

#include "train/run.h"

/* Makes the run one of a group's ranks: NULL, or a group of one, is a run alone. */
rapt_code ranks_join(run *r, rapt_group *group, rapt_error *err);

/* Between ranks_begin and ranks_end a rank works on its own, for as long as it takes, or has nothing to do and waits for the
 * others in ranks_end. Work that takes long asks run_stop_asked now and then, by which all learn whether one of them is asked to
 * stop. No other operation of the group comes between the two. */
void ranks_begin(run *r);
/* `code`, with `err`, says how the work has ended here. Fails on every rank alike where it has on one; see group_agree. `err` is
 * not NULL. */
rapt_code ranks_end(run *r, rapt_code code, rapt_error *err);

typedef rapt_code ranks_task(run *r, rapt_error *err);

/* Work of every rank, between the two. */
rapt_code ranks_each(run *r, ranks_task *work, rapt_error *err);
/* The same of rank 0 alone. */
rapt_code ranks_first(run *r, ranks_task *work, rapt_error *err);

/* Fails on every rank where `code` fails on one. Alone, it returns `code`. What all ranks do together (the functions of this
 * file, and those of group_ops.h) fails on all of them alike: that is not agreed once more. */
rapt_code ranks_agree(const run *r, rapt_code code, rapt_error *err);
/* The failure of the group, if it has failed meanwhile; it waits for nobody. Alone: RAPT_OK. */
rapt_code ranks_lost(const run *r, rapt_error *err);
/* `bytes` of rank 0 to all. */
rapt_code ranks_give(const run *r, void *data, size_t bytes, rapt_error *err);
/* The same of a text whose size only rank 0 knows; on the others, *text gets memory that the caller frees. */
rapt_code ranks_give_text(const run *r, char **text, size_t *size, rapt_error *err);

/* run_stop_asked of a run with a group. */
bool ranks_stop_asked(run *r);

#endif
