/* train/ranks/ranks_work.h: what the ranks of a run do together outside of its steps. For set-up, reports and checkpoints, whose
 * code is the same with and without a group: a process alone has nobody to wait for. */
#ifndef TRAIN_RANKS_RANKS_WORK_H
#define TRAIN_RANKS_RANKS_WORK_H

#include "train/run.h"

/* Makes the run one of a group's ranks: NULL, or a group of one, is a run alone. */
rapt_code ranks_join(run *r, rapt_group *group, rapt_error *err);

/* Between ranks_begin and ranks_end a rank works on its own, for as long as it takes, or has nothing to do and waits for the
 * others in ranks_end. Long work calls run_stop_asked now and then, which tells all ranks whether one of them is asked to stop.
 * No other operation of the group may come between the two. */
void ranks_begin(run *r);
/* `code`, with `err`, is the result of this rank's work. Fails on every rank alike if it has failed on one (group_agree). `err`
 * must not be NULL. */
rapt_code ranks_end(run *r, rapt_code code, rapt_error *err);

typedef rapt_code ranks_task(run *r, rapt_error *err);

/* Work of every rank, between the two. */
rapt_code ranks_each(run *r, ranks_task *work, rapt_error *err);
/* Does work on rank 0 only. */
rapt_code ranks_first(run *r, ranks_task *work, rapt_error *err);

/* Fails on every rank if `code` is a failure on one. A process alone gets `code` back. Operations of all ranks together (the
 * functions of this file and of group_ops.h) fail on all ranks alike and need no agreement. */
rapt_code ranks_agree(const run *r, rapt_code code, rapt_error *err);
/* The failure of the group, if it has failed meanwhile; does not wait. RAPT_OK without a group. */
rapt_code ranks_lost(const run *r, rapt_error *err);
/* `bytes` of rank 0 to all. */
rapt_code ranks_give(const run *r, void *data, size_t bytes, rapt_error *err);
/* Gives all ranks a text whose size only rank 0 knows; on the others, *text gets memory that the caller frees. */
rapt_code ranks_give_text(const run *r, char **text, size_t *size, rapt_error *err);

/* run_stop_asked of a run with a group. */
bool ranks_stop_asked(run *r);

/* ---- ranks_plan.c: the memory plan of a run of several processes. For the set-up in train.c. */

/* With a group: tells options->on_plan of rank 0 the most that any process takes, from the plans of all (run.plan). */
rapt_code ranks_tell_plan(run *r, rapt_error *err);

#endif
