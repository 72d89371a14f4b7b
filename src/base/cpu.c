/* base/cpu.c: CPU feature detection: CPUID says what the processor has, XCR0 which registers the operating system saves; a
 * feature needs both. For kernels/kernels.c and `rapt info`. Not a choice of code: it reads no environment and knows no kernels.
 * It describes this processor only; cpu_mask.c has others. */
#define _GNU_SOURCE
#include "base/cpu.h"

#include <stdint.h>
#include <string.h>
#ifdef __linux__
#include <sys/syscall.h>
#include <unistd.h>
#endif

#if defined(__x86_64__) || defined(__i386__)

#include <cpuid.h>

typedef struct registers { uint32_t a, b, c, d; } registers;

/* Features of the processor by CPUID, whether or not the operating system saves their registers. */
typedef struct capability {
    bool osxsave, avx, fma, f16c, avx2, avx512f, avx512dq, avx512bw, avx512vl, avx_vnni, avx512_vnni, avx512_bf16,
        amx_tile, amx_bf16;
} capability;

/* Which registers the operating system keeps for each thread. */
typedef struct os_state { bool ymm, zmm, tiles; } os_state;

static registers cpuid(uint32_t leaf, uint32_t subleaf)
{
    registers r = {0, 0, 0, 0};
    __get_cpuid_count(leaf, subleaf, &r.a, &r.b, &r.c, &r.d); /* leaves zeros if the leaf does not exist */
    return r;
}

static bool bit(uint32_t word, int position) { return word >> position & 1; }

static capability ask_processor(void)
{
    registers one = cpuid(1, 0), seven = cpuid(7, 0), seven_one = {0, 0, 0, 0};
    if (seven.a >= 1)
        seven_one = cpuid(7, 1);
    return (capability){
        .osxsave = bit(one.c, 27), .avx = bit(one.c, 28), .fma = bit(one.c, 12), .f16c = bit(one.c, 29),
        .avx2 = bit(seven.b, 5),
        .avx512f = bit(seven.b, 16), .avx512dq = bit(seven.b, 17), .avx512bw = bit(seven.b, 30),
        .avx512vl = bit(seven.b, 31), .avx512_vnni = bit(seven.c, 11), .avx512_bf16 = bit(seven_one.a, 5),
        .avx_vnni = bit(seven_one.a, 4),
        .amx_bf16 = bit(seven.d, 22), .amx_tile = bit(seven.d, 24),
    };
}

/* XCR0's bits: 1 SSE, 2 AVX, 5-7 AVX-512, 17-18 AMX (Intel SDM volume 1, 13.3). macOS sets the ones of AVX-512 when a thread uses
 * it for the first time: there it counts as missing. */
static os_state ask_system(bool osxsave)
{
    if (!osxsave)
        return (os_state){false, false, false};
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (os_state){
        .ymm = (low & 0x6) == 0x6,
        .zmm = (low & 0xe6) == 0xe6,
        .tiles = (low & 0x60000) == 0x60000,
    };
}

/* The name comes in three leaves of 16 characters, padded with spaces in front on some processors. */
static void ask_brand(char brand[49])
{
    char text[49] = {0};
    if ((uint32_t)__get_cpuid_max(0x80000000, NULL) < 0x80000004)
        return;
    for (uint32_t i = 0; i < 3; i++) {
        registers r = cpuid(0x80000002 + i, 0);
        memcpy(text + 16 * i, &r, sizeof r);
    }
    size_t first = strspn(text, " "), length = strlen(text);
    while (length > first && text[length - 1] == ' ')
        length--;
    memcpy(brand, text + first, length - first);
}

cpu_features cpu_detect(void)
{
    capability cpu = ask_processor();
    os_state os = ask_system(cpu.osxsave);
    cpu_features f = {
        .avx2_fma = os.ymm && cpu.avx && cpu.avx2 && cpu.fma && cpu.f16c,
        .avx_vnni = os.ymm && cpu.avx && cpu.avx_vnni,
        .avx512 = os.zmm && cpu.avx512f && cpu.avx512bw && cpu.avx512dq && cpu.avx512vl,
        .amx_bf16 = os.tiles && cpu.amx_tile && cpu.amx_bf16,
    };
    f.avx512_vnni = f.avx512 && cpu.avx512_vnni;
    f.avx512_bf16 = f.avx512_vnni && cpu.avx512_bf16;
    f.intel = cpuid(0, 0).b == 0x756e6547; /* "Genu" of GenuineIntel */
    ask_brand(f.brand);
    return f;
}

#ifdef __linux__
/* Linux 5.16 and later: Documentation/arch/x86/xstate.rst. */
bool cpu_permit_tiles(void)
{
    const long request = 0x1023, tile_data = 18;
    return syscall(SYS_arch_prctl, request, tile_data) == 0;
}
#else
bool cpu_permit_tiles(void)
{
    return false;
}
#endif

#else

#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>

/* Linux: Documentation/arch/arm64/elf_hwcaps.rst; HWCAP_ASIMDDP. */
static bool has_arm_dot(void)
{
    return getauxval(AT_HWCAP) >> 20 & 1;
}
#elif defined(__aarch64__) && defined(__APPLE__)
#include <sys/sysctl.h>

/* macOS 11 does not know the question, and runs on processors that have it. */
static bool has_arm_dot(void)
{
    int has = 0;
    size_t size = sizeof has;
    return sysctlbyname("hw.optional.arm.FEAT_DotProd", &has, &size, NULL, 0) != 0 || has;
}
#else
static bool has_arm_dot(void)
{
    return false;
}
#endif

cpu_features cpu_detect(void)
{
    cpu_features f;
    memset(&f, 0, sizeof f);
    f.arm_dot = has_arm_dot();
    return f;
}

bool cpu_permit_tiles(void)
{
    return false;
}

#endif
