/* nn/kv.c: memory for kept keys and values; see kv.h. */
#include "nn/kv.h"

static bool make(rapt_tensor *x, arena *memory, size_t batch, size_t capacity, size_t features)
{
    *x = (rapt_tensor){.ndim = 3, .shape = {batch, capacity, features}, .name = "cache"};
    x->data = arena_array(memory, batch * capacity, features * sizeof *x->data);
    return x->data != NULL;
}

bool kv_make(rapt_kv *kv, arena *memory, size_t batch, size_t capacity, size_t features)
{
    return make(&kv->k, memory, batch, capacity, features) && make(&kv->v, memory, batch, capacity, features);
}
