/* train/shards/value_array.c: moves the elements of parameters into one array. */
#include "train/shards/gradient_layout.h"

#include "base/pages.h"
#include "tensor/params.h"

#include <string.h>

/* Gives whole pages within the memory back to the system; the memory stays mapped. */
static void release_pages(void *memory, size_t bytes)
{
    pages_advise(memory, bytes, false); /* or the kernel may fill them again */
    pages_release(memory, 0, bytes);
}

rapt_real *value_array_move(arena *memory, const rapt_params *set, const gradient_layout *layout)
{
    rapt_real *values = arena_array(memory, layout->size, sizeof *values);
    for (size_t i = 0; values && i < layout->dense; i++) {
        rapt_tensor *x = &params_at(set, layout->order[i])->value;
        rapt_real *to = values + layout->offset[layout->order[i]], *from = x->data;
        size_t size = rapt_tensor_size(x);
        memcpy(to, from, size * sizeof *to);
        memset(to + size, 0, (gradient_layout_room(params_at(set, layout->order[i])) - size) * sizeof *to);
        x->data = to;
        release_pages(from, size * sizeof *from);
    }
    return values;
}
