/* nn/lora.c: gives linear layers their low-rank adapters (Hu et al. 2021). For models that are fine-tuned with them;
 * ops/lora_op.c computes what an adapter adds, ops/dora_op.c what its magnitudes change. */
#include "nn/lora.h"

#include "base/sized.h"
#include "nn/names.h"
#include "ops/dora_op.h"

#include <math.h>

double lora_scale_of(size_t rank, double alpha, bool rslora)
{
    return alpha / (rslora ? sqrt((double)rank) : (double)rank);
}

/* The lengths of the rows of m's matrix as they are, to be trained. */
static void lora_init_magnitude(const rapt_linear *m, rapt_params *set, const char *prefix, rapt_lora *l)
{
    const size_t out = m->weight->value.shape[0];
    double *squares = rapt_params_alloc(set, out, sizeof *squares);
    l->magnitude = rapt_params_add(set, name_join(prefix, "lora_magnitude_vector").text, 1, &out,
                                   (rapt_init){RAPT_INIT_ZEROS, 0});
    l->squares = squares;
    if (rapt_params_error(set)->code)
        return;
    if (!dora_squares(m->weight, squares, l->magnitude->value.data))
        rapt_params_fail(set, RAPT_ERR_MEMORY, "adapter %s: out of memory for the lengths of rows", prefix);
}

void lora_init_part(rapt_linear *m, rapt_params *set, const char *prefix, const rapt_lora_options *options, rapt_param *a)
{
    const size_t out = m->weight->value.shape[0], in = m->weight->value.shape[1], rank = options->rank;
    rapt_lora *l = rapt_params_alloc(set, 1, sizeof *l);
    if (rank == 0 || rank > in || (rank > out && !a))
        rapt_params_fail(set, RAPT_ERR_SHAPE, "adapter %s: rank %zu; %s has %zu x %zu elements", prefix, rank,
                         m->weight->value.name, out, in);
    if (!l)
        return;
    *l = (rapt_lora){.scale = lora_scale_of(rank, options->alpha != 0 ? options->alpha : (double)rank, options->rslora),
                     .dropout = options->dropout};
    l->a = a ? a : rapt_params_add(set, name_join(prefix, "lora_A.weight").text, 2, (size_t[]){rank, in},
                                   (rapt_init){RAPT_INIT_UNIFORM, 1 / sqrt((double)in)});
    l->b = rapt_params_add(set, name_join(prefix, "lora_B.weight").text, 2, (size_t[]){out, rank},
                           (rapt_init){RAPT_INIT_ZEROS, 0});
    m->lora = l;
    if (options->dora)
        lora_init_magnitude(m, set, prefix, l);
}

void rapt_lora_init(rapt_linear *m, rapt_params *set, const char *prefix, const rapt_lora_options *options)
{
    rapt_error later = {0};
    if (sized_check_reserved(options->reserved, sizeof options->reserved, "lora_options", &later) != RAPT_OK)
        rapt_params_fail(set, later.code, "%s", later.message);
    lora_init_part(m, set, prefix, options, NULL);
}
