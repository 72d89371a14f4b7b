/* tests/kernels/check.h: what the files of check_kernels share: the list of kernels, guarded memory,
 * comparisons.
 * For check_*.c in this folder.
 * Not for other tests: they go through the library. */
#ifndef TESTS_KERNELS_CHECK_H
#define TESTS_KERNELS_CHECK_H

#include <math.h>
#include <stdio.h>

#include "kernels/kernels.h"

/* Every function of the table; pack_bf16 stands for both packings of `bf16`, whose tile is checked by tests/tensor.
 * check_kernels.c holds a static assertion that none is missing; each one needs a check_NAME and a bench_NAME. */
#define CHECK_KERNELS(X)                                                                                    \
    X(gemm_tile) X(pack_a) X(pack_b) X(pack_bf16) X(softmax) X(attend) X(softmax_recompute) X(softmax_backward) \
    X(layer_norm) X(layer_norm_backward) X(rms_norm) X(rms_norm_backward) X(rotary) X(log_sum_exp)          \
    X(softmax_gradient)                                                                                     \
    X(fill) X(add) X(mul) X(mul_add) X(scale) X(axpy) X(scale_add) X(relu) X(relu_backward) X(gelu)         \
    X(gelu_tanh) X(silu) X(softcap) X(swiglu) X(swiglu_backward) X(exp) X(sum) X(sum_squares) X(all_finite)     \
    X(argmax) X(first_at_least) X(column_sums) X(dropout) X(adam) X(adam_replay)                               \
    X(round_bf16) X(widen_bf16) X(round_q8) X(widen_q8) X(adam8) X(sgd)

/* One kernel at one level. */
typedef struct check {
    const kernels *k, *scalar;
    const char *kernel;
    bool exhaustive; /* minutes instead of a second */
    long cases, failures;
} check;

#define CHECK_DECLARE(name)      \
    void check_##name(check *c); \
    void bench_##name(const kernels *k);
CHECK_KERNELS(CHECK_DECLARE)
#undef CHECK_DECLARE
void check_fused(check *c); /* a part of check_mul_add */

#define CHECK_U 0x1p-24 /* half an ulp of 1: the largest relative error of one rounding */

/* Counts a case; a failure is described (the first ten of a kernel). Returns ok. */
bool check_that(check *c, bool ok, const char *format, ...) RAPT_PRINTF(3, 4);

/* Room for n floats whose end is the end of a page that is followed by a page nobody may touch. The floats,
 * and the ones before them, hold a canary (a NaN). There are CHECK_SLOTS rooms of CHECK_SLOT_FLOATS; one call
 * empties one. */
#define CHECK_SLOTS 12
#define CHECK_SLOT_FLOATS ((size_t)1 << 18)
float *check_slot(int slot, size_t n);

/* Room for n floats away from the guard page, for timing: a masked load that reaches into such a page takes
 * some hundred cycles, though it reads nothing there. */
float *check_room(int slot, size_t n);

/* Room for n bytes that end at a guard page. */
uint8_t *check_slot_bytes(int slot, size_t n);

/* Nothing before the slot's numbers was written. `first` is what check_slot returned. */
void check_canary(check *c, const float *first, const char *what);

/* Checks that in `rows` rows of `columns` floats the gaps up to ld still hold the canary. */
void check_gaps(check *c, const float *x, size_t rows, size_t columns, size_t ld, const char *what);

/* Numbers of one sign and size: about N(0, 1). */
void check_random(float *x, size_t n);

/* Like check_random, with NaN, infinities, zeros of both signs, denormals and huge numbers among them. */
void check_random_wild(float *x, size_t n);

/* A whole number below `below`, from the same stream. */
uint32_t check_random_int(uint32_t below);

/* All n equal in their bits; a NaN equals a NaN, for which NaN comes out is the processor's choice. */
void check_same(check *c, size_t n, const float *got, const float *want, const char *what);

/* |got - want| <= bound, and both finite. */
void check_within(check *c, size_t index, double got, double want, double bound, const char *what);

/* The sizes that rows are tried with: 1 .. 33, and some odd large ones. Ends with 0. */
extern const size_t check_sizes[];

/* Seconds that the statement takes, the best of some repetitions. */
double check_now(void);
#define CHECK_TIME(seconds, statement)                             \
    do {                                                           \
        seconds = 1e9;                                             \
        for (int round_ = 0; round_ < 16; round_++) {              \
            long calls_ = 0;                                       \
            double begin_ = check_now(), end_ = begin_;            \
            for (; end_ - begin_ < 1e-3; end_ = check_now())       \
                for (int call_ = 0; call_ < 16; call_++, calls_++) \
                    statement;                                     \
            double each_ = (end_ - begin_) / (double)calls_;       \
            seconds = each_ < seconds ? each_ : seconds;           \
        }                                                          \
    } while (0)

/* Prints a line of the benchmark; the unit is GFLOP/s (amount: operations a call) or ns/element. */
void check_report(const kernels *k, const char *kernel, const char *what, double amount, double seconds,
                  bool flops);

/* Row lengths that are timed: attention over 10 keys, small and usual model widths, a vocabulary. Ends with
 * 0. */
extern const size_t check_bench_sizes[];

#endif
