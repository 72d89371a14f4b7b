/* base/cpu_mask.c: the features of other processors, by name: a mask removes all other features from this one. For
 * kernels/kernels.c, whose tests cover processors that are not available in this way. Not an emulation: it adds no feature. */
#include <stddef.h>
#include <string.h>

#include "base/cpu.h"

typedef struct processor { const char *name; cpu_features has; } processor;

#if defined(__x86_64__) || defined(__i386__)
/* From Intel's ARK and Software Developer's Manual, and AMD's Programmer's Manual. The first row stands for all earlier
 * processors. */
#define AVX2 .avx2_fma = true
#define AVX512 AVX2, .avx512 = true
#define AVX512_BF16 AVX512, .avx512_vnni = true, .avx512_bf16 = true
static const processor PROCESSORS[] = {
    {"scalar", {.intel = true}},
    {"haswell", {AVX2, .intel = true}},
    {"alder-lake", {AVX2, .avx_vnni = true, .intel = true}},
    {"skylake-x", {AVX512, .intel = true}},
    {"ice-lake", {AVX512, .avx512_vnni = true, .intel = true}},
    {"zen4", {AVX512_BF16}},
    {"zen5", {AVX512_BF16, .avx_vnni = true}},
    {"sapphire-rapids-no-tiles", {AVX512_BF16, .avx_vnni = true, .intel = true}},
};
#define NAMES_TEXT "scalar, haswell, alder-lake, skylake-x, ice-lake, zen4, zen5, sapphire-rapids-no-tiles"
#else
static const processor PROCESSORS[] = {{"cortex-a72", {.arm_dot = false}}, {"neoverse-n1", {.arm_dot = true}}};
#define NAMES_TEXT "cortex-a72, neoverse-n1"
#endif

/* Linux's names, except avx512, which stands for four of them. */
static const struct { size_t at; const char *name; } FEATURES[] = {
    {offsetof(cpu_features, avx2_fma), "avx2"},           {offsetof(cpu_features, avx_vnni), "avx_vnni"},
    {offsetof(cpu_features, avx512), "avx512"},           {offsetof(cpu_features, avx512_vnni), "avx512_vnni"},
    {offsetof(cpu_features, avx512_bf16), "avx512_bf16"}, {offsetof(cpu_features, amx_bf16), "amx_bf16"},
    {offsetof(cpu_features, arm_dot), "asimddp"},
};

static bool *feature(cpu_features *f, size_t i)
{
    return (bool *)((char *)f + FEATURES[i].at);
}

rapt_code cpu_mask(cpu_features *f, const char *name, rapt_error *err)
{
    const processor *p = NULL;
    for (size_t i = 0; i < sizeof PROCESSORS / sizeof *PROCESSORS && !p; i++)
        if (strcmp(name, PROCESSORS[i].name) == 0)
            p = &PROCESSORS[i];
    if (!p)
        return rapt_fail(err, RAPT_ERR_VALUE, "unknown CPU mask '%.40s'; there are " NAMES_TEXT, name);
    cpu_features has = p->has, masked = *f;
    for (size_t i = 0; i < sizeof FEATURES / sizeof *FEATURES; i++) {
        if (*feature(&has, i) && !*feature(f, i))
            return rapt_fail(err, RAPT_ERR_NOT_FOUND, "CPU mask %s: this machine lacks %s", name, FEATURES[i].name);
        *feature(&masked, i) = *feature(&has, i);
    }
    masked.intel = has.intel;
    *f = masked;
    return RAPT_OK;
}
