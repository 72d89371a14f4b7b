/* view/principal.c: principal components from the inner products of all pairs of points (the Gram matrix), whose eigenvectors
 * Jacobi's method finds. For `rapt plot embedding`. It needs no initial values and no random numbers, and equal
 * eigenvalues do it no harm. */
#include "view/principal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SWEEPS 60
#define OFF_THE_MIDDLE 1e-6 /* a share of the largest coordinate; a smaller distance may be rounding */
#define MIN_SHARE (OFF_THE_MIDDLE * OFF_THE_MIDDLE) /* a share of the variance */

/* Symmetric `a` [n, n] becomes diagonal; `v` [n, n] collects the rotations, so that its columns become the eigenvectors. */
typedef struct jacobi {
    size_t n;
    double *a, *v;
} jacobi;

/* Row i of the centered points times row j. */
static double principal_product(const double *x, const double *mean, size_t features, size_t i, size_t j)
{
    double sum = 0;
    for (size_t k = 0; k < features; k++)
        sum += (x[i * features + k] - mean[k]) * (x[j * features + k] - mean[k]);
    return sum;
}

static void fill_gram(const jacobi *m, const double *x, size_t features, double *mean)
{
    memset(mean, 0, features * sizeof *mean);
    for (size_t i = 0; i < m->n; i++)
        for (size_t k = 0; k < features; k++)
            mean[k] += x[i * features + k] / (double)m->n;
    for (size_t i = 0; i < m->n; i++)
        for (size_t j = i; j < m->n; j++)
            m->a[i * m->n + j] = m->a[j * m->n + i] = principal_product(x, mean, features, i, j);
    for (size_t i = 0; i < m->n * m->n; i++)
        m->v[i] = i % (m->n + 1) == 0;
}

static void principal_turn(double *x, double *y, double c, double s)
{
    double old = *x;
    *x = c * old - s * *y;
    *y = s * old + c * *y;
}

/* The rotation that makes a[p][q] zero (Golub & Van Loan, "Matrix Computations", section 8.5.2). */
static void rotate(const jacobi *m, size_t p, size_t q)
{
    size_t n = m->n;
    double *a = m->a, apq = a[p * n + q];
    if (apq == 0)
        return;
    double tau = (a[q * n + q] - a[p * n + p]) / (2 * apq);
    double t = (tau >= 0 ? 1 : -1) / (fabs(tau) + sqrt(1 + tau * tau)), c = 1 / sqrt(1 + t * t), s = t * c;
    for (size_t i = 0; i < n; i++)
        principal_turn(&a[i * n + p], &a[i * n + q], c, s);
    for (size_t i = 0; i < n; i++)
        principal_turn(&a[p * n + i], &a[q * n + i], c, s);
    for (size_t i = 0; i < n; i++)
        principal_turn(&m->v[i * n + p], &m->v[i * n + q], c, s);
    a[p * n + q] = a[q * n + p] = 0;
}

static double squares(const jacobi *m, bool diagonal)
{
    double sum = 0;
    for (size_t i = 0; i < m->n * m->n; i++)
        sum += (i % (m->n + 1) == 0) == diagonal ? m->a[i] * m->a[i] : 0;
    return sum;
}

static void diagonalize(const jacobi *m)
{
    for (int sweep = 0; sweep < MAX_SWEEPS && squares(m, false) > 1e-30 * squares(m, true); sweep++)
        for (size_t p = 0; p < m->n; p++)
            for (size_t q = p + 1; q < m->n; q++)
                rotate(m, p, q);
}

static double eigenvalue(const jacobi *m, size_t i)
{
    return m->a[i * m->n + i];
}

/* The index of the largest eigenvalue that is not taken, the first among equals; m->n if none is above `min`. */
static size_t next_largest(const jacobi *m, const bool *taken, double min)
{
    size_t best = m->n;
    for (size_t i = 0; i < m->n; i++)
        if (!taken[i] && eigenvalue(m, i) > (best < m->n ? eigenvalue(m, best) : min))
            best = i;
    return best;
}

/* Column `axis` of the coordinates: eigenvector times the root of its eigenvalue, turned as the header says. */
static void fill_axis(const jacobi *m, size_t vector, size_t axis, size_t axes, double *coordinates)
{
    double root = sqrt(eigenvalue(m, vector)), max = 0, sign = 1;
    for (size_t i = 0; i < m->n; i++)
        max = fmax(max, fabs(m->v[i * m->n + vector]));
    for (size_t i = m->n; i-- > 0;)
        if (fabs(m->v[i * m->n + vector]) > OFF_THE_MIDDLE * max)
            sign = m->v[i * m->n + vector] < 0 ? -1 : 1;
    for (size_t i = 0; i < m->n; i++)
        coordinates[i * axes + axis] = sign * root * m->v[i * m->n + vector];
}

static void principal_deliver(const jacobi *m, size_t axes, bool *taken, double *coordinates, double *shares)
{
    double total = 0;
    memset(coordinates, 0, m->n * axes * sizeof *coordinates);
    memset(shares, 0, axes * sizeof *shares);
    for (size_t i = 0; i < m->n; i++)
        total += fmax(eigenvalue(m, i), 0);
    for (size_t axis = 0; axis < axes; axis++) {
        size_t vector = next_largest(m, taken, MIN_SHARE * total);
        if (vector == m->n)
            return;
        taken[vector] = true;
        shares[axis] = eigenvalue(m, vector) / total;
        fill_axis(m, vector, axis, axes, coordinates);
    }
}

rapt_code principal_components(const double *x, size_t rows, size_t features, size_t axes, double *coordinates,
                               double *shares, rapt_error *err)
{
    jacobi m = {rows, calloc(rows * rows + 1, sizeof *m.a), calloc(rows * rows + 1, sizeof *m.v)};
    double *mean = calloc(features + 1, sizeof *mean);
    bool *taken = calloc(rows + 1, sizeof *taken);
    rapt_code code = m.a && m.v && mean && taken ? RAPT_OK
                                             : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu points", rows);
    if (!code) {
        fill_gram(&m, x, features, mean);
        diagonalize(&m);
        principal_deliver(&m, axes, taken, coordinates, shares);
    }
    free(taken);
    free(mean);
    free(m.v);
    free(m.a);
    return code;
}
