/* train/elements_hash.c: hashes elements where they are, or as they are read from a file. */
#include "train/elements_hash.h"

#include "base/rng.h"
#include "tensor/param_source.h"
#include "tensor/params.h"

#include <stdlib.h>
#include <xxhash.h>

#define ROWS 64 /* rows of a matrix in a file that are read at a time */

static bool hash_stored(const rapt_param *p, uint64_t *hash)
{
    const size_t rows = p->value.shape[0], width = rapt_tensor_features(&p->value);
    XXH3_state_t *state = XXH3_createState();
    rapt_real *some = malloc(ROWS * width * sizeof *some);
    const bool ok = state && some && XXH3_64bits_reset(state) == XXH_OK;
    for (size_t i = 0; ok && i < rows; i += ROWS) {
        const size_t count = rows - i < ROWS ? rows - i : ROWS;
        param_source_read(p, i, count, some);
        XXH3_64bits_update(state, some, count * width * sizeof *some);
    }
    if (ok)
        *hash = XXH3_64bits_digest(state);
    XXH3_freeState(state);
    free(some);
    return ok;
}

rapt_code elements_hash(const rapt_params *set, bool buffers, uint64_t *hash, rapt_error *err)
{
    for (size_t i = 0; i < rapt_params_count(set); i++) {
        const rapt_param *p = params_at(set, i);
        uint64_t own;
        if (p->buffer && !buffers)
            continue;
        if (param_source_type(p)) {
            if (!hash_stored(p, &own))
                return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory to hash \"%s\"", p->value.name);
        } else {
            const rapt_tensor *x = &rapt_params_at(set, i)->value;
            own = XXH3_64bits(x->data, rapt_tensor_size(x) * sizeof *x->data);
        }
        *hash = rng_mix(*hash, own);
    }
    return RAPT_OK;
}
