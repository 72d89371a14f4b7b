/* tape/compute.h: checks a rapt_compute. For tapes, and for options that have one as a member. */
#ifndef TAPE_COMPUTE_H
#define TAPE_COMPUTE_H

#include "rapt/tape.h"

/* RAPT_ERR_VALUE: matrix products are not computed in its type, or a reserved member is not zero. */
rapt_code compute_check(const rapt_compute *c, rapt_error *err);
/* compute_check for what keeps keys and values as well, which has to take the type `kv_cache`. */
rapt_code compute_check_decoding(const rapt_compute *c, rapt_error *err);

#endif
