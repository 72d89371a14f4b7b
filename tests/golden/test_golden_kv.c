/* tests/golden/test_golden_kv.c: attention to a KV cache that is stored in fp32, bf16 or Q8_0, against PyTorch's attention to
 * keys and values that PyTorch and GGUF's reference have rounded (tools/golden_kv.py). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "golden.h"
#include "kernels/kernels.h"
#include "tensor/stored.h"

#include <stdlib.h>
#include <string.h>

/* Attention whose projections change nothing; its parameters are in `set`. */
static rapt_multi_head_attention plain_attention(rapt_params *set, size_t heads, size_t hidden)
{
    rapt_multi_head_attention m;
    rapt_multi_head_attention_init(&m, set, "", &(rapt_attention_options){.hidden = hidden, .heads = heads});
    rapt_param *weights[] = {m.q.weight, m.k.weight, m.v.weight, m.o.weight};
    for (size_t i = 0; i < 4; i++) {
        memset(weights[i]->value.data, 0, hidden * hidden * sizeof(rapt_real));
        for (size_t j = 0; j < hidden; j++)
            weights[i]->value.data[j * hidden + j] = 1;
    }
    return m;
}

/* What the cache holds, exactly. */
static void check_stored(golden *g, const rapt_kv *kv, const uint8_t *stored, const rapt_tensor *fp32)
{
    const size_t count = rapt_tensor_size(fp32), rows = count / kv->head, bytes = stored_bytes(kv->storage, kv->head);
    rapt_real *numbers = malloc(count * sizeof *numbers);
    assert_non_null(numbers);
    for (size_t i = 0; i < rows; i++)
        if (stored)
            stored_read(kernels_active(NULL), kv->storage, kv->head, stored + i * bytes, numbers + i * kv->head);
    golden_compare(g, "stored", stored ? numbers : fp32->data, count, 0);
    free(numbers);
}

/* In steps of up to `length` positions. */
static void check_pieces(golden *g, const rapt_multi_head_attention *m, const rapt_tensor *x, rapt_kv_cache *c, size_t length)
{
    const size_t time = x->shape[1], width = x->shape[2];
    rapt_kv *kv = rapt_kv_cache_layer(c, 0);
    rapt_tensor *all = rapt_tape_tensor(g->tape, 3, x->shape, false);
    for (size_t past = 0; past < time; past += length) {
        const size_t count = time - past < length ? time - past : length;
        rapt_tensor *in = rapt_tape_tensor(g->tape, 3, (size_t[]){x->shape[0], count, width}, false);
        for (size_t b = 0; b < x->shape[0]; b++)
            memcpy(in->data + b * count * width, x->data + (b * time + past) * width, count * width * sizeof *in->data);
        const rapt_tensor *out = rapt_causal_self_attention(g->tape, m, in, kv, past);
        for (size_t b = 0; b < x->shape[0]; b++)
            memcpy(all->data + (b * time + past) * width, out->data + b * count * width, count * width * sizeof *in->data);
    }
    golden_output(g, "out", all);
    check_stored(g, kv, kv->k_stored, &kv->k);
    check_stored(g, kv, kv->v_stored, &kv->v);
}

static void test_kv_cache(void **state)
{
    (void)state;
    golden *g = golden_open("kv_cache");
    while (golden_next(g)) {
        golden_again(g, false);
        const rapt_tensor *x = golden_input(g, "x");
        const size_t heads = golden_size(g, "heads"), width = x->shape[2];
        rapt_params *set = rapt_params_new(1, NULL);
        const rapt_multi_head_attention m = plain_attention(set, heads, width);
        rapt_kv_cache *c = rapt_kv_cache_new((rapt_kv_sizes){1, x->shape[0], x->shape[1], width, .head = width / heads,
                                                             .storage = (rapt_type)golden_size(g, "storage")}, NULL);
        assert_non_null(c);
        check_pieces(g, &m, x, c, x->shape[1]);
        check_pieces(g, &m, x, c, 3);
        rapt_kv_cache_free(c);
        rapt_params_free(set);
    }
    golden_close(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kv_cache)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
