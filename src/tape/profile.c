/* tape/profile.c: sums up calls, time, arithmetic and memory traffic of each kind of operation. */
#include "tape/profile_op.h"

#include "base/clock.h"

#include <string.h>

void rapt_tape_profile(rapt_tape *t, bool on)
{
    t->profile = (tape_profile){.on = on};
    pool_measure(t->team.pool, on);
}

/* The entry of an operation, new if need be; NULL once there are more than TAPE_PROFILE_KINDS. */
static rapt_profile_entry *entry_of(tape_profile *p, const char *op, bool backward)
{
    for (size_t i = 0; i < p->count; i++)
        if (p->entries[i].backward == backward && strcmp(p->entries[i].op, op) == 0)
            return &p->entries[i];
    if (p->count == TAPE_PROFILE_KINDS)
        return NULL;
    p->entries[p->count] = (rapt_profile_entry){.op = op, .backward = backward};
    return &p->entries[p->count++];
}

void profile_count(rapt_tape *t, const char *op, double flops, double bytes)
{
    tape_profile *p = &t->profile;
    double now = clock_seconds();
    if (p->running)
        p->running->seconds += now - p->since;
    p->running = op ? entry_of(p, op, t->in_backward) : NULL;
    p->since = now;
    if (!p->running)
        return;
    p->running->calls++;
    p->running->flops += flops;
    p->running->bytes += bytes;
}

const rapt_profile_entry *rapt_tape_profile_entries(rapt_tape *t, size_t *count)
{
    profile_end(t);
    *count = t->profile.count;
    return t->profile.entries;
}
