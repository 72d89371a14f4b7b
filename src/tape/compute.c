/* tape/compute.c: checks the types and the reserved members of a rapt_compute. `threads` is the pool's to check, `isa` the
 * kernels', `weights` the packed weights'. */
#include "tape/compute.h"

#include "base/sized.h"
#include "tensor/type.h"

/* It lies in the middle of options that have a size: if it grew, all members behind it would move. */
_Static_assert(sizeof(void *) != 8 || sizeof(rapt_compute) == 64, "the size of rapt_compute is fixed");
SIZED_ENDS_WITH(rapt_compute, reserved);

rapt_code compute_check(const rapt_compute *c, rapt_error *err)
{
    rapt_code code = type_check_products(c->type, err);
    return code ? code : sized_check_reserved(c->reserved, sizeof c->reserved, "compute", err);
}

rapt_code compute_check_decoding(const rapt_compute *c, rapt_error *err)
{
    rapt_code code = compute_check(c, err);
    return code ? code : type_check_kv(c->kv_cache, err);
}
