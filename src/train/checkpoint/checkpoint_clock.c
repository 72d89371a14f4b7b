/* train/checkpoint/checkpoint_clock.c: intervals between checkpoints, from the time that writing one takes. They decide which
 * steps have a checkpoint, never its contents. */
#include "train/checkpoint/checkpoint_clock.h"

#define SECONDS 10 /* at least between two checkpoints */
#define SHARE 0.05 /* max share of the time */

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
