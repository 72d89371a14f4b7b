/* nn/ffn.c: the position-wise feed-forward network (Vaswani et al. 2017, eq. 2). */
#include "rapt/nn.h"

#include "nn/names.h"

void rapt_ffn_init(rapt_ffn *m, rapt_params *set, const char *prefix, size_t in, size_t hidden, size_t out,
                   rapt_linear_init_kind kind)
{
    rapt_linear_init(&m->dense1, set, name_join(prefix, "dense1.").text, in, hidden, true, kind);
    rapt_linear_init(&m->dense2, set, name_join(prefix, "dense2.").text, hidden, out, true, kind);
}

rapt_tensor *rapt_ffn_forward(rapt_tape *t, const rapt_ffn *m, rapt_tensor *x)
{
    return rapt_linear_forward(t, &m->dense2, rapt_linear_op(t, x, m->dense1.weight, m->dense1.bias, RAPT_RELU));
}
