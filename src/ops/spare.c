/* ops/spare.c: a list of free blocks: neighbours become one, what is taken is cut off the front of the smallest that has
 * room. For the tape's gradients. It allocates nothing: what finds no room in the list is out of use until the pass is
 * over. */
#include "ops/spare.h"

#define LINE (64 / sizeof(rapt_real))

size_t spare_size(size_t numbers)
{
    return (numbers + LINE - 1) / LINE * LINE;
}

/* Takes a block off the list; those behind it move up. */
static void spare_drop(spare *s, int i)
{
    for (s->count--; i < s->count; i++)
        s->blocks[i] = s->blocks[i + 1];
}

/* The smallest that has room, of several the newest; -1: none has. */
static int best_block(const spare *s, size_t size)
{
    int best = -1;
    for (int i = s->count - 1; i >= 0; i--)
        if (s->blocks[i].numbers >= size && (best < 0 || s->blocks[i].numbers < s->blocks[best].numbers))
            best = i;
    return best;
}

rapt_real *spare_take(spare *s, size_t numbers)
{
    size_t size = spare_size(numbers);
    int i = best_block(s, size);
    if (i < 0)
        return NULL;
    rapt_real *at = s->blocks[i].at;
    s->blocks[i].at += size;
    s->blocks[i].numbers -= size;
    if (s->blocks[i].numbers == 0)
        spare_drop(s, i);
    return at;
}

void spare_give(spare *s, rapt_real *at, size_t numbers)
{
    spare_block whole = {at, spare_size(numbers)};
    for (int i = s->count - 1; i >= 0; i--) {
        spare_block b = s->blocks[i];
        if (b.at + b.numbers != whole.at && whole.at + whole.numbers != b.at)
            continue;
        whole = (spare_block){b.at < whole.at ? b.at : whole.at, b.numbers + whole.numbers};
        spare_drop(s, i);
    }
    if (whole.numbers > 0 && s->count < SPARE_MOST)
        s->blocks[s->count++] = whole;
}
