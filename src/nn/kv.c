/* nn/kv.c: memory for kept keys and values; see kv.h. */
#include "nn/kv.h"

rapt_real *kv_room(arena *memory, size_t rows, size_t capacity, size_t features)
{
    size_t places;
    return __builtin_mul_overflow(rows, capacity, &places) ? NULL : arena_array(memory, places, features * sizeof(rapt_real));
}

static bool kv_do_make(rapt_tensor *x, arena *memory, size_t batch, size_t capacity, size_t features)
{
    *x = (rapt_tensor){.ndim = 3, .shape = {batch, capacity, features}, .name = "cache"};
    x->data = kv_room(memory, batch, capacity, features);
    return x->data != NULL;
}

bool kv_make(rapt_kv *kv, arena *memory, size_t batch, size_t capacity, size_t features)
{
    return kv_do_make(&kv->k, memory, batch, capacity, features) && kv_do_make(&kv->v, memory, batch, capacity, features);
}
