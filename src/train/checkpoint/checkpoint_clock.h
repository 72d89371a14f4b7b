/* train/checkpoint/checkpoint_clock.h: when a checkpoint is due by the clock, for recipes that set no number of steps. */
#ifndef TRAIN_CHECKPOINT_CHECKPOINT_CLOCK_H
#define TRAIN_CHECKPOINT_CHECKPOINT_CLOCK_H

#include <stdbool.h>

/* In seconds of one clock. Begins as {now, 0}: the cost of a checkpoint is known after the first. */
typedef struct checkpoint_clock {
    double last; /* when the last one was written, or the run began */
    double cost; /* seconds that it took */
} checkpoint_clock;

/* Due after 10 s, or if writing one takes more than half a second, after 20 times as long, so that checkpoints take at most 5 %
 * of the time. */
bool checkpoint_clock_due(const checkpoint_clock *c, double now);
void checkpoint_clock_written(checkpoint_clock *c, double began, double ended);

#endif
