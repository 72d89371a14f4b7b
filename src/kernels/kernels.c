/* kernels/kernels.c: which table of kernels this process uses. For whoever calls kernels, and for `rapt
 * info`.
 * Not the kernels themselves: see scalar.c, x86/ and body/. */
#include "kernels/kernels.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"

#if defined(__x86_64__) && !defined(RAPT_DOUBLE)
#define HAVE_X86 1
#else
#define HAVE_X86 0
#endif

#if HAVE_X86
const char *const kernels_names[] = {"scalar", "avx2", "avx512", NULL};
#define NAMES_TEXT "scalar, avx2, avx512"
#else
const char *const kernels_names[] = {"scalar", NULL};
#define NAMES_TEXT "scalar"
#endif

static const kernels *best(void)
{
#if HAVE_X86
    cpu_features cpu = cpu_detect();
    if (cpu.avx512)
        return &kernels_avx512;
    if (cpu.avx2_fma)
        return &kernels_avx2;
#endif
    return &kernels_scalar;
}

#if HAVE_X86
/* NULL where the level is unknown; *missing says whether it is only this machine that lacks it. */
static const kernels *x86_level(const char *name, bool *missing)
{
    cpu_features cpu = cpu_detect();
    bool avx2 = strcmp(name, "avx2") == 0, avx512 = strcmp(name, "avx512") == 0;
    *missing = (avx2 && !cpu.avx2_fma) || (avx512 && !cpu.avx512);
    if (*missing)
        return NULL;
    return avx512 ? &kernels_avx512 : avx2 ? &kernels_avx2 : NULL;
}
#endif

const kernels *kernels_level(const char *name, rapt_error *err)
{
    if (strcmp(name, "scalar") == 0)
        return &kernels_scalar;
#if HAVE_X86
    bool missing;
    const kernels *level = x86_level(name, &missing);
    if (level)
        return level;
    if (missing) {
        rapt_fail(err, RAPT_NOT_FOUND, "kernels: this processor or its operating system lacks the level %s",
                  name);
        return NULL;
    }
#endif
    rapt_fail(err, RAPT_VALUE, "kernels: unknown level '%.40s'; this build has " NAMES_TEXT, name);
    return NULL;
}

/* Threads may race to find the answer; it is the same for all, so the last one to store it does no harm. */
const kernels *kernels_active(rapt_error *err)
{
    static _Atomic(const kernels *) active;
    const kernels *k = atomic_load_explicit(&active, memory_order_acquire);
    if (k)
        return k;
    const char *name = getenv("RAPT_ISA");
    k = name && *name ? kernels_level(name, err) : best();
    if (k)
        atomic_store_explicit(&active, k, memory_order_release);
    return k;
}
