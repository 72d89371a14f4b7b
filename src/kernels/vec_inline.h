/* kernels/vec_inline.h: declarations of primitives and bodies that use an ISA's intrinsics, and loops over registers. For
 * x86/vec_x86.h, arm/vec_neon.h and wasm/vec_wasm.h. Not for vec_portable.h, which leaves both to the compiler. */
#ifndef KERNELS_VEC_INLINE_H
#define KERNELS_VEC_INLINE_H

/* Words, the primitives, and bodies are always inlined: their constant arguments choose the code. */
#define VEC static inline __attribute__((always_inline))
#define WORD VEC

/* Accumulators stay in registers only if the loops over them vanish; clang ignores gcc's pragma and the
 * reverse. With a sanitizer's checks in each of the copies, compiling would take many minutes. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define UNROLL
#elif !defined(__clang__)
#define UNROLL _Pragma("GCC unroll 16")
#elif __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(undefined_behavior_sanitizer)
#define UNROLL
#else
#define UNROLL _Pragma("clang loop unroll(full)")
#endif

#endif
