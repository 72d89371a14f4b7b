/* kernels/body/elementwise.h: y = f(x), one element at a time. For the ops that add, scale and clip. Reductions are in
 * body/reduce.h. */
#ifndef KERNELS_BODY_ELEMENTWISE_H
#define KERNELS_BODY_ELEMENTWISE_H

static void fill_all(size_t n, rapt_real value, rapt_real *y)
{
    const v16 x = v_set1(value);
    EACH_VECTOR(i, k, n, {
        v_store_n(y + i, x, k);
    });
}

static void add_all(size_t n, const rapt_real *a, const rapt_real *b, rapt_real *y)
{
    EACH_VECTOR(i, k, n, {
        v_store_n(y + i, v_add(v_load_n(a + i, k), v_load_n(b + i, k)), k);
    });
}

static void mul_all(size_t n, const rapt_real *a, const rapt_real *b, rapt_real *y)
{
    EACH_VECTOR(i, k, n, {
        v_store_n(y + i, v_mul(v_load_n(a + i, k), v_load_n(b + i, k)), k);
    });
}

static void mul_add_all(size_t n, const rapt_real *a, const rapt_real *b, rapt_real *y)
{
    EACH_VECTOR(i, k, n, {
        v_store_n(y + i, v_fma(v_load_n(a + i, k), v_load_n(b + i, k), v_load_n(y + i, k)), k);
    });
}

static void scale_all(size_t n, rapt_real alpha, const rapt_real *x, rapt_real *y)
{
    const v16 a = v_set1(alpha);
    EACH_VECTOR(i, k, n, {
        v_store_n(y + i, v_mul(a, v_load_n(x + i, k)), k);
    });
}

static void scale_add_all(size_t n, rapt_real alpha, const rapt_real *x, const rapt_real *b, rapt_real *y)
{
    const v16 a = v_set1(alpha);
    EACH_VECTOR(i, k, n, {
        v_store_n(y + i, v_fma(a, v_load_n(x + i, k), v_load_n(b + i, k)), k);
    });
}

static void axpy_all(size_t n, rapt_real alpha, const rapt_real *x, rapt_real *y)
{
    scale_add_all(n, alpha, x, y, y);
}

static void relu_all(size_t n, const rapt_real *x, rapt_real *y)
{
    EACH_VECTOR(i, k, n, {
        v_store_n(y + i, v_max(v_zero(), v_load_n(x + i, k)), k);
    });
}

static void relu_backward_all(size_t n, const rapt_real *y, const rapt_real *dy, rapt_real *dx)
{
    EACH_VECTOR(i, k, n, {
        v_store_n(dx + i, v_select(m_gt(v_load_n(y + i, k), v_zero()), v_load_n(dy + i, k), v_zero()), k);
    });
}

static void exp_all(size_t n, const rapt_real *x, rapt_real *y)
{
    EACH_VECTOR(i, k, n, {
        v_store_n(y + i, v_exp(v_load_n(x + i, k)), k);
    });
}

#endif
