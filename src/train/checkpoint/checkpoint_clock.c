/* train/checkpoint/checkpoint_clock.c: see checkpoint_clock.h. For the loop; decides which steps have a checkpoint,
 * never what is in it. */
#include "train/checkpoint/checkpoint_clock.h"

#define SECONDS 10 /* at least between two checkpoints */
#define SHARE 0.05 /* of the time, at most */

bool checkpoint_clock_due(const checkpoint_clock *c, double now)
{
    double interval = c->cost / SHARE;
    return now - c->last > (interval > SECONDS ? interval : SECONDS);
}

void checkpoint_clock_written(checkpoint_clock *c, double began, double ended)
{
    c->last = ended;
    c->cost = ended - began;
}
