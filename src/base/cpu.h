/* base/cpu.h: what the processor and the operating system offer. For the kernel tables and `rapt info`.
 * Not the choice of an ISA: that is policy, see kernels/kernels.c. */
#ifndef BASE_CPU_H
#define BASE_CPU_H

#include <stdbool.h>

#include "rapt/base.h"

/* A feature is true where the processor has it and the operating system saves its registers. */
typedef struct cpu_features {
    bool avx2_fma;    /* AVX2, FMA and F16C */
    bool avx_vnni;    /* for registers of 32 bytes */
    bool avx512;      /* AVX-512 F, BW, DQ and VL */
    bool avx512_vnni; /* and these */
    bool avx512_bf16; /* and these three */
    bool amx_bf16;    /* Linux requires a permission for it too: cpu_permit_tiles */
    bool arm_dot;     /* the dot product of bytes of AArch64 */
    bool intel;       /* the maker, where speed differs by it */
    char brand[49];   /* the processor's own name; "" where it has none */
} cpu_features;

/* Knows processors of x86 and AArch64; all false on others. Costs a few microseconds under a hypervisor: ask once. */
cpu_features cpu_detect(void);

/* Takes away what the processor called `name` lacks: a test can then run as on that one. RAPT_ERR_VALUE where there is no such
 * name, RAPT_ERR_NOT_FOUND, with the feature's name, where this machine lacks one that it has; `f` is as before then. */
rapt_code cpu_mask(cpu_features *f, const char *name, rapt_error *err);

/* Asks the operating system to let this process use AMX's tiles; false where it refuses. Asking again is harmless. */
bool cpu_permit_tiles(void);

#endif
