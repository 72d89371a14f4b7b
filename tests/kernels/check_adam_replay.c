/* tests/kernels/check_adam_replay.c: many Adam steps without a gradient at once. For check_kernels. Their definition is the step
 * itself (`adam`, tested in check_elements.c) with a gradient of 0, so everything is bitwise. */
#include "check.h"

#include <string.h>

#define MOST_STEPS 40

enum { P, M, V, WANT, WANT_M, WANT_V, GRAD };

static kernels_adam steps[MOST_STEPS];

/* Constants as a schedule and the bias corrections make them; decay 1 where there is none. */
static void draw_steps(size_t count, bool decays)
{
    for (size_t i = 0; i < count; i++)
        steps[i] = (kernels_adam){.beta1 = 0.9f,
                                  .beta2 = 0.98f,
                                  .step_size = 1e-3f * (float)(1 + check_random_int(1000)),
                                  .inv_sqrt_bc2 = 1 + 0.01f * (float)check_random_int(100),
                                  .eps = 1e-8f,
                                  .grad_scale = 0.5f,
                                  .decay = decays ? 1 - 1e-4f * (float)check_random_int(100) : 1};
}

/* Moments of all sizes, some of them zero of either sign; v is no less than 0. */
static void draw_moments(size_t n, float *m, float *v)
{
    const float sizes[4] = {1, 1e-30f, 1e-43f, 0}; /* normal numbers, ones whose squares vanish, denormals, zeros */
    check_random(m, n);
    check_random(v, n);
    for (size_t i = 0; i < n; i++) {
        m[i] *= sizes[check_random_int(4)];
        v[i] = v[i] * v[i] * sizes[check_random_int(4)];
    }
}

static void repeat_adam(const kernels *k, size_t n, float *p, float *m, float *v, size_t count)
{
    float *zero = check_slot(GRAD, n);
    memset(zero, 0, n * sizeof *zero);
    for (size_t i = 0; i < count; i++)
        k->adam(n, p, zero, m, v, &steps[i]);
}

static void check_out(check *c, size_t n, const float *out, const float *want, const char *what)
{
    check_same(c, n, out, want, what);
    check_canary(c, out, what);
}

static void run(check *c, size_t n, size_t count, bool wild)
{
    float *p = check_slot(P, n), *m = check_slot(M, n), *v = check_slot(V, n);
    float *want = check_slot(WANT, n), *want_m = check_slot(WANT_M, n), *want_v = check_slot(WANT_V, n);
    draw_steps(count, check_random_int(2));
    draw_moments(n, m, v);
    (wild ? check_random_wild : check_random)(p, n);
    memcpy(want, p, n * sizeof *p);
    memcpy(want_m, m, n * sizeof *m);
    memcpy(want_v, v, n * sizeof *v);
    repeat_adam(c->scalar, n, want, want_m, want_v, count);
    c->k->adam_replay(n, p, m, v, count, steps);
    check_out(c, n, p, want, "p");
    check_out(c, n, m, want_m, "m");
    check_out(c, n, v, want_v, "v");
}

static void run_decay(check *c, size_t n, size_t count)
{
    float *p = check_slot(P, n), *want = check_slot(WANT, n), *m = check_slot(WANT_M, n), *v = check_slot(WANT_V, n);
    draw_steps(count, true);
    check_random_wild(p, n);
    memcpy(want, p, n * sizeof *p);
    memset(m, 0, n * sizeof *m);
    memset(v, 0, n * sizeof *v);
    repeat_adam(c->scalar, n, want, m, v, count);
    c->k->adam_replay(n, p, NULL, NULL, count, steps);
    check_out(c, n, p, want, "decay alone");
}

void check_adam_replay(check *c)
{
    for (const size_t *n = check_sizes; *n; n++)
        for (size_t count = 0; count <= MOST_STEPS; count += *n > 64 ? 13 : 5) {
            run(c, *n, count, false);
            run(c, *n, count, true);
            run_decay(c, *n, count);
        }
}

void bench_adam_replay(const kernels *k)
{
    size_t n = 64;
    float *p = check_room(P, n), *m = check_room(M, n), *v = check_room(V, n);
    double seconds;
    draw_steps(MOST_STEPS, true);
    check_random(p, n);
    check_random(m, n);
    check_random(v, n);
    for (size_t i = 0; i < n; i++)
        v[i] *= v[i];
    CHECK_TIME(seconds, k->adam_replay(n, p, m, v, MOST_STEPS, steps));
    check_report(k, "adam_replay", "64 numbers, 40 steps", (double)(n * MOST_STEPS), seconds, false);
    CHECK_TIME(seconds, k->adam_replay(n, p, NULL, NULL, MOST_STEPS, steps));
    check_report(k, "adam_replay", "the same without moments", (double)(n * MOST_STEPS), seconds, false);
}
