/* base/cpu.h: what the processor and the operating system offer. For the kernel tables and `rapt info`. Not the choice of an ISA,
 * which is the policy of kernels/kernels.c. */
#ifndef BASE_CPU_H
#define BASE_CPU_H

#include <stdbool.h>

#include "rapt/base.h"

/* A feature is true if the processor has it and the operating system saves its registers. */
typedef struct cpu_features {
    bool avx2_fma;    /* AVX2, FMA and F16C */
    bool avx_vnni;    /* for registers of 32 bytes */
    bool avx512;      /* AVX-512 F, BW, DQ and VL */
    bool avx512_vnni; /* and these */
    bool avx512_bf16; /* the processor has avx512 as well */
    bool amx_bf16;    /* Linux also requires a permission: cpu_permit_tiles */
    bool arm_dot;     /* the dot product of bytes of AArch64 */
    bool intel;       /* made by Intel: some choices of speed depend on it */
    char brand[49];   /* the processor's name; "" if it states none */
} cpu_features;

/* Knows processors of x86 and AArch64; all false on others. Costs a few microseconds under a hypervisor: ask once. */
cpu_features cpu_detect(void);

/* Clears the features that the processor called `name` lacks, so that a test runs as on that processor. RAPT_ERR_VALUE: unknown
 * name; RAPT_ERR_NOT_FOUND: this machine lacks a feature of that processor (the message names it). A failure does not change
 * `f`. */
rapt_code cpu_mask(cpu_features *f, const char *name, rapt_error *err);

/* Asks the operating system to let this process use AMX's tiles; false if it refuses. Asking again is harmless. */
bool cpu_permit_tiles(void);

#endif
