/* kernels/kernels.c: ISA dispatch: selects the table of kernels by CPU features. For tapes, and for `rapt info`. The kernels
 * are in scalar.c, x86/, arm/, wasm/ and body/. */
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

/* An ISA: its table, and whether this machine and its operating system can run it. */
typedef struct isa {
    const kernels *table;
    bool (*here)(const cpu_features *cpu);
} isa;

static bool anywhere(const cpu_features *cpu)
{
    return cpu != NULL;
}

#if defined(__aarch64__) && !defined(RAPT_DOUBLE)
static bool has_neon_dot(const cpu_features *cpu)
{
    return cpu->arm_dot;
}
#endif

#if defined(__wasm__) && !defined(RAPT_DOUBLE)
static bool has_fused_relaxed(const cpu_features *cpu)
{
    return cpu != NULL && kernels_relaxed_is_fused();
}
#endif

#if HAVE_X86
static bool has_avx2(const cpu_features *cpu)
{
    return cpu->avx2_fma;
}

static bool has_avx2_vnni(const cpu_features *cpu)
{
    return cpu->avx2_fma && cpu->avx_vnni;
}

static bool has_avx512(const cpu_features *cpu)
{
    return cpu->avx512;
}

static bool has_avx512_vnni(const cpu_features *cpu)
{
    return cpu->avx512_vnni;
}

static bool has_avx512_bf16(const cpu_features *cpu)
{
    return cpu->avx512_bf16;
}

static bool has_amx(const cpu_features *cpu)
{
    return cpu->avx512_bf16 && cpu->amx_bf16 && cpu_permit_tiles();
}

const char *const kernels_names[] = {"scalar", "avx2", "avx2_vnni", "avx512", "avx512_vnni", "avx512_bf16", "amx", NULL};
#define NAMES_TEXT "scalar, avx2, avx2_vnni, avx512, avx512_vnni, avx512_bf16, amx"
static const isa ISAS[] = {{&kernels_scalar, anywhere}, {&kernels_avx2, has_avx2}, {&kernels_avx2_vnni, has_avx2_vnni},
                           {&kernels_avx512, has_avx512}, {&kernels_avx512_vnni, has_avx512_vnni},
                           {&kernels_avx512_bf16, has_avx512_bf16}, {&kernels_amx, has_amx}};
#elif defined(__aarch64__) && !defined(RAPT_DOUBLE)
const char *const kernels_names[] = {"scalar", "neon", "neon_dot", NULL};
#define NAMES_TEXT "scalar, neon, neon_dot"
static const isa ISAS[] = {{&kernels_scalar, anywhere}, {&kernels_neon, anywhere}, {&kernels_neon_dot, has_neon_dot}};
#elif defined(__wasm__) && !defined(RAPT_DOUBLE)
const char *const kernels_names[] = {"scalar", "simd128", "relaxed", NULL};
#define NAMES_TEXT "scalar, simd128, relaxed"
static const isa ISAS[] = {{&kernels_scalar, anywhere}, {&kernels_simd128, anywhere}, {&kernels_relaxed, has_fused_relaxed}};
#else
const char *const kernels_names[] = {"scalar", NULL};
#define NAMES_TEXT "scalar"
static const isa ISAS[] = {{&kernels_scalar, anywhere}};
#endif
#define COUNT (sizeof ISAS / sizeof *ISAS)

/* The features that kernels may use: all that the machine has, or in tests only those that the processor named by RAPT_CPU_MASK
 * has. */
static rapt_code usable(cpu_features *cpu, rapt_error *err)
{
    const char *mask = getenv("RAPT_CPU_MASK");
    *cpu = cpu_detect();
    return mask && *mask ? cpu_mask(cpu, mask, err) : RAPT_OK;
}

/* The last ISA that can run and is not slower than fp32: Intel's processors take two cycles for a product of bf16 pairs (0.55
 * of the speed of fp32 on Sapphire Rapids), AMD's one (twice fp32 on Zen 4). */
static const kernels *best(rapt_error *err)
{
    cpu_features cpu;
    if (usable(&cpu, err))
        return NULL;
    size_t i = COUNT - 1;
    while (!ISAS[i].here(&cpu) || (strcmp(ISAS[i].table->name, "avx512_bf16") == 0 && cpu.intel))
        i--;
    return ISAS[i].table;
}

const kernels *kernels_of_isa(const char *name, rapt_error *err)
{
    cpu_features cpu;
    if (usable(&cpu, err))
        return NULL;
    for (size_t i = 0; i < COUNT; i++) {
        if (strcmp(name, ISAS[i].table->name) != 0)
            continue;
        if (ISAS[i].here(&cpu))
            return ISAS[i].table;
        rapt_fail(err, RAPT_ERR_NOT_FOUND, "kernels: this processor or its operating system lacks the ISA %s", name);
        return NULL;
    }
    rapt_fail(err, RAPT_ERR_VALUE, "kernels: unknown ISA '%.40s'; this build has " NAMES_TEXT, name);
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
    k = name && *name ? kernels_of_isa(name, err) : best(err);
    if (k)
        atomic_store_explicit(&active, k, memory_order_release);
    return k;
}
