/* tape/free_list.c: a best-fit list of free blocks: adjacent blocks are merged, and an allocation is cut off the front of the
 * smallest block that is large enough. For the tape's gradient buffers. It allocates nothing: if the list is full, a further
 * block is not reused before the pass is over. */
#include "tape/free_list.h"

#define LINE (64 / sizeof(rapt_real))

size_t free_list_size(size_t elements)
{
    return (elements + LINE - 1) / LINE * LINE;
}

/* Removes block i from the list. */
static void free_list_drop(free_list *s, int i)
{
    for (s->count--; i < s->count; i++)
        s->blocks[i] = s->blocks[i + 1];
}

/* The index of the smallest block that is large enough, the newest among equals; -1 if there is none. */
static int best_block(const free_list *s, size_t size)
{
    int best = -1;
    for (int i = s->count - 1; i >= 0; i--)
        if (s->blocks[i].elements >= size && (best < 0 || s->blocks[i].elements < s->blocks[best].elements))
            best = i;
    return best;
}

rapt_real *free_list_take(free_list *s, size_t elements)
{
    size_t size = free_list_size(elements);
    int i = best_block(s, size);
    if (i < 0)
        return NULL;
    rapt_real *at = s->blocks[i].at;
    s->blocks[i].at += size;
    s->blocks[i].elements -= size;
    if (s->blocks[i].elements == 0)
        free_list_drop(s, i);
    return at;
}

void free_list_give(free_list *s, rapt_real *at, size_t elements)
{
    free_list_block whole = {at, free_list_size(elements)};
    for (int i = s->count - 1; i >= 0; i--) {
        free_list_block b = s->blocks[i];
        if (b.at + b.elements != whole.at && whole.at + whole.elements != b.at)
            continue;
        whole = (free_list_block){b.at < whole.at ? b.at : whole.at, b.elements + whole.elements};
        free_list_drop(s, i);
    }
    if (whole.elements > 0 && s->count < FREE_LIST_MAX_BLOCKS)
        s->blocks[s->count++] = whole;
}
