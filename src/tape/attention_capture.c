/* tape/attention_capture.c: captured attention weights, stored for one pass under the names of their modules. For plots of
 * attention and alignments; attention_op.c writes them. */
#include "tape/tape_core.h"

#include <string.h>

void rapt_tape_capture_attention(rapt_tape *t, rapt_attention_capture capture)
{
    t->capture = capture;
}

rapt_attention_capture rapt_tape_attention_capture(const rapt_tape *t)
{
    return t->capture;
}

void rapt_tape_store_attention(rapt_tape *t, const char *name, rapt_tensor *weights)
{
    tape_weights *w = tape_failed(t) ? NULL : tape_alloc(t, 1, sizeof *w);
    if (!w)
        return;
    *w = (tape_weights){t->weights, name, weights};
    t->weights = w;
}

rapt_tensor *rapt_tape_attention(const rapt_tape *t, const char *name)
{
    for (const tape_weights *w = t->weights; w; w = w->previous)
        if (strcmp(w->name, name) == 0)
            return w->weights;
    return NULL;
}
