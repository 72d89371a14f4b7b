/* tests/print/test_print.c: numbers as text against what PyTorch 2.15 and pandas 3.1 print of the same matrices, and
 * statistics against PyTorch's. The expectations are their output, pasted: str(x), and
 * x.to_string(max_rows=..., max_cols=..., show_dimensions="truncate"). */
#define _GNU_SOURCE
#include "options.h"
#include "print/printer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a matrix holds: a list of numbers, or a pattern that is exact in single precision, times a factor. */
typedef struct filling {
    double list[16];
    float factor; /* 0: the list */
} filling;

#define LIST(...) {{__VA_ARGS__}, 0}
#define PATTERN(factor) {{0}, factor}

/* ((i * 7919) % 2003 - 1001) / 512, as float32 */
static rapt_real *fill(const filling *f, size_t n)
{
    rapt_real *x = malloc(n * sizeof *x);
    assert_non_null(x);
    for (size_t i = 0; i < n; i++)
        x[i] = f->factor ? ((float)((long)(i * 7919 % 2003) - 1001) / 512) * f->factor : (float)f->list[i];
    return x;
}

/* Text that is being printed. */
typedef struct printed {
    FILE *to;
    char *text;
    size_t size;
} printed;

static void open_text(printed *p)
{
    p->to = open_memstream(&p->text, &p->size);
    assert_non_null(p->to);
}

static void assert_text(printed *p, const char *name, const char *wanted)
{
    fclose(p->to);
    if (strcmp(p->text, wanted) != 0)
        fail_msg("%s: not\n%s but\n%s", name, wanted, p->text);
    free(p->text);
}

/* ---- tensors ----------------------------------------------------------------------------------------------------- */

typedef struct tensor_case {
    const char *name;
    filling values;
    int ndim;
    size_t shape[4];
    bool full;
    const char *torch;
} tensor_case;

static const tensor_case TENSORS[] = {
    {"a matrix", PATTERN(1), 2, {2, 3}, false,
     "tensor([[-1.9551,  1.7754,  1.5938],\n"
     "        [ 1.4121,  1.2305,  1.0488]])\n"},
    {"a vector of several lines", PATTERN(1), 1, {20}, false,
     "tensor([-1.9551,  1.7754,  1.5938,  1.4121,  1.2305,  1.0488,  0.8672,  0.6855,\n"
     "         0.5039,  0.3223,  0.1406, -0.0410, -0.2227, -0.4043, -0.5859, -0.7676,\n"
     "        -0.9492, -1.1309, -1.3125, -1.4941])\n"},
    {"an empty line between matrices", PATTERN(1), 3, {2, 3, 4}, false,
     "tensor([[[-1.9551,  1.7754,  1.5938,  1.4121],\n"
     "         [ 1.2305,  1.0488,  0.8672,  0.6855],\n"
     "         [ 0.5039,  0.3223,  0.1406, -0.0410]],\n"
     "\n"
     "        [[-0.2227, -0.4043, -0.5859, -0.7676],\n"
     "         [-0.9492, -1.1309, -1.3125, -1.4941],\n"
     "         [-1.6758, -1.8574,  1.8730,  1.6914]]])\n"},
    {"rows of several lines", PATTERN(1), 3, {1, 4, 12}, false,
     "tensor([[[-1.9551,  1.7754,  1.5938,  1.4121,  1.2305,  1.0488,  0.8672,\n"
     "           0.6855,  0.5039,  0.3223,  0.1406, -0.0410],\n"
     "         [-0.2227, -0.4043, -0.5859, -0.7676, -0.9492, -1.1309, -1.3125,\n"
     "          -1.4941, -1.6758, -1.8574,  1.8730,  1.6914],\n"
     "         [ 1.5098,  1.3281,  1.1465,  0.9648,  0.7832,  0.6016,  0.4199,\n"
     "           0.2383,  0.0566, -0.1250, -0.3066, -0.4883],\n"
     "         [-0.6699, -0.8516, -1.0332, -1.2148, -1.3965, -1.5781, -1.7598,\n"
     "          -1.9414,  1.7891,  1.6074,  1.4258,  1.2441]]])\n"},
    {"the corners of the book's batch", PATTERN(1), 3, {32, 50, 512}, false,
     "tensor([[[-1.9551,  1.7754,  1.5938,  ..., -0.5195, -0.7012, -0.8828],\n"
     "         [-1.0645, -1.2461, -1.4277,  ...,  0.3711,  0.1895,  0.0078],\n"
     "         [-0.1738, -0.3555, -0.5371,  ...,  1.2617,  1.0801,  0.8984],\n"
     "         ...,\n"
     "         [ 0.7832,  0.6016,  0.4199,  ..., -1.6934, -1.8750,  1.8555],\n"
     "         [ 1.6738,  1.4922,  1.3105,  ..., -0.8027, -0.9844, -1.1660],\n"
     "         [-1.3477, -1.5293, -1.7109,  ...,  0.0879, -0.0938, -0.2754]],\n"
     "\n"
     "        [[-0.4570, -0.6387, -0.8203,  ...,  0.9785,  0.7969,  0.6152],\n"
     "         [ 0.4336,  0.2520,  0.0703,  ...,  1.8691,  1.6875,  1.5059],\n"
     "         [ 1.3242,  1.1426,  0.9609,  ..., -1.1523, -1.3340, -1.5156],\n"
     "         ...,\n"
     "         [-1.6309, -1.8125,  1.9180,  ..., -0.1953, -0.3770, -0.5586],\n"
     "         [-0.7402, -0.9219, -1.1035,  ...,  0.6953,  0.5137,  0.3320],\n"
     "         [ 0.1504, -0.0312, -0.2129,  ...,  1.5859,  1.4043,  1.2227]],\n"
     "\n"
     "        [[ 1.0410,  0.8594,  0.6777,  ..., -1.4355, -1.6172, -1.7988],\n"
     "         [ 1.9316,  1.7500,  1.5684,  ..., -0.5449, -0.7266, -0.9082],\n"
     "         [-1.0898, -1.2715, -1.4531,  ...,  0.3457,  0.1641, -0.0176],\n"
     "         ...,\n"
     "         [-0.1328, -0.3145, -0.4961,  ...,  1.3027,  1.1211,  0.9395],\n"
     "         [ 0.7578,  0.5762,  0.3945,  ..., -1.7188, -1.9004,  1.8301],\n"
     "         [ 1.6484,  1.4668,  1.2852,  ..., -0.8281, -1.0098, -1.1914]],\n"
     "\n"
     "        ...,\n"
     "\n"
     "        [[-1.5449, -1.7266, -1.9082,  ..., -0.1094, -0.2910, -0.4727],\n"
     "         [-0.6543, -0.8359, -1.0176,  ...,  0.7812,  0.5996,  0.4180],\n"
     "         [ 0.2363,  0.0547, -0.1270,  ...,  1.6719,  1.4902,  1.3086],\n"
     "         ...,\n"
     "         [ 1.1934,  1.0117,  0.8301,  ..., -1.2832, -1.4648, -1.6465],\n"
     "         [-1.8281,  1.9023,  1.7207,  ..., -0.3926, -0.5742, -0.7559],\n"
     "         [-0.9375, -1.1191, -1.3008,  ...,  0.4980,  0.3164,  0.1348]],\n"
     "\n"
     "        [[-0.0469, -0.2285, -0.4102,  ...,  1.3887,  1.2070,  1.0254],\n"
     "         [ 0.8438,  0.6621,  0.4805,  ..., -1.6328, -1.8145,  1.9160],\n"
     "         [ 1.7344,  1.5527,  1.3711,  ..., -0.7422, -0.9238, -1.1055],\n"
     "         ...,\n"
     "         [-1.2207, -1.4023, -1.5840,  ...,  0.2148,  0.0332, -0.1484],\n"
     "         [-0.3301, -0.5117, -0.6934,  ...,  1.1055,  0.9238,  0.7422],\n"
     "         [ 0.5605,  0.3789,  0.1973,  ..., -1.9160,  1.8145,  1.6328]],\n"
     "\n"
     "        [[ 1.4512,  1.2695,  1.0879,  ..., -1.0254, -1.2070, -1.3887],\n"
     "         [-1.5703, -1.7520, -1.9336,  ..., -0.1348, -0.3164, -0.4980],\n"
     "         [-0.6797, -0.8613, -1.0430,  ...,  0.7559,  0.5742,  0.3926],\n"
     "         ...,\n"
     "         [ 0.2773,  0.0957, -0.0859,  ...,  1.7129,  1.5312,  1.3496],\n"
     "         [ 1.1680,  0.9863,  0.8047,  ..., -1.3086, -1.4902, -1.6719],\n"
     "         [-1.8535,  1.8770,  1.6953,  ..., -0.4180, -0.5996, -0.7812]]])\n"},
    {"1001 numbers in a row", PATTERN(1), 3, {1, 1, 1001}, false,
     "tensor([[[-1.9551,  1.7754,  1.5938,  ...,  0.6367,  0.4551,  0.2734]]])\n"},
    {"corners of small numbers", PATTERN(0.001f), 3, {1, 40, 40}, false,
     "tensor([[[-1.9551e-03,  1.7754e-03,  1.5938e-03,  ..., -8.5156e-04,\n"
     "          -1.0332e-03, -1.2148e-03],\n"
     "         [-1.3965e-03, -1.5781e-03, -1.7598e-03,  ..., -2.9297e-04,\n"
     "          -4.7461e-04, -6.5625e-04],\n"
     "         [-8.3789e-04, -1.0195e-03, -1.2012e-03,  ...,  2.6563e-04,\n"
     "           8.3984e-05, -9.7656e-05],\n"
     "         ...,\n"
     "         [-8.4766e-04, -1.0293e-03, -1.2109e-03,  ...,  2.5586e-04,\n"
     "           7.4219e-05, -1.0742e-04],\n"
     "         [-2.8906e-04, -4.7070e-04, -6.5234e-04,  ...,  8.1445e-04,\n"
     "           6.3281e-04,  4.5117e-04],\n"
     "         [ 2.6953e-04,  8.7891e-05, -9.3750e-05,  ...,  1.3730e-03,\n"
     "           1.1914e-03,  1.0098e-03]]])\n"},
    {"exponents", PATTERN(0.001f), 2, {2, 15}, false,
     "tensor([[-1.9551e-03,  1.7754e-03,  1.5938e-03,  1.4121e-03,  1.2305e-03,\n"
     "          1.0488e-03,  8.6719e-04,  6.8555e-04,  5.0391e-04,  3.2227e-04,\n"
     "          1.4063e-04, -4.1016e-05, -2.2266e-04, -4.0430e-04, -5.8594e-04],\n"
     "        [-7.6758e-04, -9.4922e-04, -1.1309e-03, -1.3125e-03, -1.4941e-03,\n"
     "         -1.6758e-03, -1.8574e-03,  1.8730e-03,  1.6914e-03,  1.5098e-03,\n"
     "          1.3281e-03,  1.1465e-03,  9.6484e-04,  7.8320e-04,  6.0156e-04]])\n"},
    {"whole numbers", LIST(1, 2, 300, 0, -5, 7), 2, {2, 3}, false,
     "tensor([[  1.,   2., 300.],\n"
     "        [  0.,  -5.,   7.]])\n"},
    {"zeros", LIST(0, 0, 0, 0), 2, {2, 2}, false,
     "tensor([[0., 0.],\n"
     "        [0., 0.]])\n"},
    {"whole numbers and others", LIST(1, 2, -INFINITY, NAN), 1, {4}, false,
     "tensor([1., 2., -inf, nan])\n"},
    {"no number but 0", LIST(0, INFINITY, -INFINITY, NAN), 1, {4}, false,
     "tensor([0., inf, -inf, nan])\n"},
    {"small numbers", LIST(1e-5, 2e-5, 0), 1, {3}, false,
     "tensor([1.0000e-05, 2.0000e-05, 0.0000e+00])\n"},
    {"unlike numbers", LIST(1234.5, 0.5, -3), 1, {3}, false,
     "tensor([ 1.2345e+03,  5.0000e-01, -3.0000e+00])\n"},
    {"a large number", LIST(1e9, 2.5), 1, {2}, false,
     "tensor([1.0000e+09, 2.5000e+00])\n"},
    {"whole and unlike", LIST(1, 2000, 0), 1, {3}, false,
     "tensor([1.0000e+00, 2.0000e+03, 0.0000e+00])\n"},
    {"1000 times as large is not unlike", LIST(0.5, 500), 1, {2}, false,
     "tensor([  0.5000, 500.0000])\n"},
    {"negative zero", LIST(-0.0, 0.25), 1, {2}, false,
     "tensor([-0.0000, 0.2500])\n"},
    {"one number", LIST(0.12), 1, {1}, false,
     "tensor([0.1200])\n"},};

static void test_tensors(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof TENSORS / sizeof *TENSORS; i++) {
        const tensor_case *c = &TENSORS[i];
        size_t n = 1;
        for (int j = 0; j < c->ndim; j++)
            n *= c->shape[j];
        rapt_real *x = fill(&c->values, n);
        printed p;
        open_text(&p);
        print_tensor(p.to, &(print_elements){.values = x, .ndim = c->ndim, .shape = c->shape},
                     &TENSOR_TEXT(.threshold = c->full ? SIZE_MAX : 1000));
        assert_text(&p, c->name, c->torch);
        free(x);
    }
}

/* With all numbers, and where there are 1000, there are no dots. */
static void test_all_numbers(void **state)
{
    (void)state;
    static const filling pattern = PATTERN(1);
    for (int full = 0; full < 2; full++) {
        size_t shape[] = {250, full ? 20 : 4}, numbers = 0;
        rapt_real *x = fill(&pattern, shape[0] * shape[1]);
        printed p;
        open_text(&p);
        print_tensor(p.to, &(print_elements){.values = x, .ndim = 2, .shape = shape},
                     &TENSOR_TEXT(.threshold = full ? SIZE_MAX : 1000));
        fclose(p.to);
        for (const char *at = p.text; (at = strchr(at, '.')); at++)
            numbers++;
        assert_int_equal(numbers, shape[0] * shape[1]);
        assert_null(strstr(p.text, "..."));
        free(p.text);
        free(x);
    }
}

/* ---- texts in memory, and PyTorch's print options --------------------------------------------------------------------- */

typedef struct option_case {
    const char *name;
    filling values;
    int ndim;
    size_t shape[4];
    rapt_tensor_text_options options;
    const char *torch;
} option_case;

static const option_case OPTIONS[] = {
    {"two digits", PATTERN(1), 2, {2, 3}, {TENSOR_TEXT_DEFAULTS, .precision = 2},
     "tensor([[-1.96,  1.78,  1.59],\n"
     "        [ 1.41,  1.23,  1.05]])\n"},
    {"eight digits", PATTERN(0.001f), 2, {2, 3}, {TENSOR_TEXT_DEFAULTS, .precision = 8},
     "tensor([[-0.00195508,  0.00177539,  0.00159375],\n"
     "        [ 0.00141211,  0.00123047,  0.00104883]])\n"},
    {"a threshold", PATTERN(1), 2, {7, 8}, {TENSOR_TEXT_DEFAULTS, .threshold = 55},
     "tensor([[-1.9551,  1.7754,  1.5938,  ...,  1.0488,  0.8672,  0.6855],\n"
     "        [ 0.5039,  0.3223,  0.1406,  ..., -0.4043, -0.5859, -0.7676],\n"
     "        [-0.9492, -1.1309, -1.3125,  ..., -1.8574,  1.8730,  1.6914],\n"
     "        ...,\n"
     "        [ 0.0566, -0.1250, -0.3066,  ..., -0.8516, -1.0332, -1.2148],\n"
     "        [-1.3965, -1.5781, -1.7598,  ...,  1.6074,  1.4258,  1.2441],\n"
     "        [ 1.0625,  0.8809,  0.6992,  ...,  0.1543, -0.0273, -0.2090]])\n"},
    {"two at each edge", PATTERN(1), 2, {7, 8}, {TENSOR_TEXT_DEFAULTS, .threshold = 10, .edge_items = 2},
     "tensor([[-1.9551,  1.7754,  ...,  0.8672,  0.6855],\n"
     "        [ 0.5039,  0.3223,  ..., -0.5859, -0.7676],\n"
     "        ...,\n"
     "        [-1.3965, -1.5781,  ...,  1.4258,  1.2441],\n"
     "        [ 1.0625,  0.8809,  ..., -0.0273, -0.2090]])\n"},
    {"short lines", PATTERN(1), 2, {2, 12}, {TENSOR_TEXT_DEFAULTS, .line_width = 40},
     "tensor([[-1.9551,  1.7754,  1.5938,\n"
     "          1.4121,  1.2305,  1.0488,\n"
     "          0.8672,  0.6855,  0.5039,\n"
     "          0.3223,  0.1406, -0.0410],\n"
     "        [-0.2227, -0.4043, -0.5859,\n"
     "         -0.7676, -0.9492, -1.1309,\n"
     "         -1.3125, -1.4941, -1.6758,\n"
     "         -1.8574,  1.8730,  1.6914]])\n"},
    {"lines shorter than a number", PATTERN(1), 2, {1, 3}, {TENSOR_TEXT_DEFAULTS, .line_width = 9},
     "tensor([[-1.9551,\n"
     "          1.7754,\n"
     "          1.5938]])\n"},
    {"four dimensions", PATTERN(1), 4, {2, 2, 2, 3}, {TENSOR_TEXT_DEFAULTS},
     "tensor([[[[-1.9551,  1.7754,  1.5938],\n"
     "          [ 1.4121,  1.2305,  1.0488]],\n"
     "\n"
     "         [[ 0.8672,  0.6855,  0.5039],\n"
     "          [ 0.3223,  0.1406, -0.0410]]],\n"
     "\n"
     "\n"
     "        [[[-0.2227, -0.4043, -0.5859],\n"
     "          [-0.7676, -0.9492, -1.1309]],\n"
     "\n"
     "         [[-1.3125, -1.4941, -1.6758],\n"
     "          [-1.8574,  1.8730,  1.6914]]]])\n"},
    {"a number without dimensions", LIST(0.12), 0, {0}, {TENSOR_TEXT_DEFAULTS}, "tensor(0.1200)\n"},
    {"a whole one", LIST(3), 0, {0}, {TENSOR_TEXT_DEFAULTS}, "tensor(3.)\n"},
    {"a small one", LIST(1e-5), 0, {0}, {TENSOR_TEXT_DEFAULTS}, "tensor(1.0000e-05)\n"},};

static void assert_owned(char *text, const char *name, const char *wanted)
{
    assert_non_null(text);
    if (strcmp(text, wanted) != 0)
        fail_msg("%s: not\n%s but\n%s", name, wanted, text);
    free(text);
}

static void test_options(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof OPTIONS / sizeof *OPTIONS; i++) {
        const option_case *c = &OPTIONS[i];
        rapt_tensor x = {.ndim = c->ndim};
        memcpy(x.shape, c->shape, sizeof c->shape);
        x.data = fill(&c->values, rapt_tensor_size(&x));
        assert_owned(rapt_tensor_text(&x, &c->options, NULL), c->name, c->torch);
        free(x.data);
    }
    rapt_error err = {0};
    assert_null(rapt_tensor_text(&(rapt_tensor){0}, &TENSOR_TEXT(.precision = 21), &err));
    assert_int_equal(err.code, RAPT_ERR_VALUE);
}

/* str(torch.tensor(ids)) */
static void test_tokens(void **state)
{
    (void)state;
    int32_t many[1200];
    for (int i = 0; i < 1200; i++)
        many[i] = i * 7919 % 100070;
    assert_owned(rapt_tokens_text((rapt_tokens){(int32_t[]){2, 5, 1}, 0, 3, NULL}, NULL, NULL), "a sentence",
                 "tensor([2, 5, 1])\n");
    assert_owned(rapt_tokens_text((rapt_tokens){(int32_t[]){627, 1380, 65170, 574, 35348, 3187, 315, 15676, 13, 0, 0, -1}, 3, 4,
                                                NULL}, NULL, NULL), "three windows",
                 "tensor([[  627,  1380, 65170,   574],\n"
                 "        [35348,  3187,   315, 15676],\n"
                 "        [   13,     0,     0,    -1]])\n");
    assert_owned(rapt_tokens_text((rapt_tokens){many, 2, 600, NULL}, NULL, NULL), "many ids",
                 "tensor([[    0,  7919, 15838,  ..., 24353, 32272, 40191],\n"
                 "        [48110, 56029, 63948,  ..., 72463, 80382, 88301]])\n");
}

static void test_table_text(void **state)
{
    (void)state;
    const rapt_table table = {.values = (rapt_real[]){0.5, 1, 2, 1.25, 0, 3}, .rows = 2, .columns = 3};
    assert_owned(rapt_table_text(&table, NULL), "a table", "      0    1    2\n0  0.50  1.0  2.0\n1  1.25  0.0  3.0\n");
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

static const char *const NAMES[] = {"0 the", "1 cat", "2 moonlight"};
static const char *const WIDE_NAMES[] = {"0 the", "1 cat sat on it"};

typedef struct table_case {
    const char *name;
    filling values;
    rapt_table frame;
    const char *pandas;
} table_case;

static const table_case TABLES[] = {
    {"a matrix", PATTERN(1), {.rows = 3, .columns = 4},
     "          0         1         2         3\n"
     "0 -1.955078  1.775391  1.593750  1.412109\n"
     "1  1.230469  1.048828  0.867188  0.685547\n"
     "2  0.503906  0.322266  0.140625 -0.041016\n"},
    {"as many decimals as a column needs", LIST(0.5, 1, 2, 1.25, 0, 3), {.rows = 2, .columns = 3},
     "      0    1    2\n"
     "0  0.50  1.0  2.0\n"
     "1  1.25  0.0  3.0\n"},
    {"masked scores", LIST(0.5, -INFINITY, -INFINITY, 1.25, -0.123456789, -INFINITY, 1, NAN, INFINITY),
     {.rows = 3, .columns = 3},
     "      0         1    2\n"
     "0  0.50      -inf -inf\n"
     "1  1.25 -0.123457 -inf\n"
     "2  1.00       NaN  inf\n"},
    {"no number", LIST(NAN, INFINITY), {.rows = 1, .columns = 2},
     "    0    1\n"
     "0 NaN  inf\n"},
    {"exponents by column", LIST(1e-9, 1e9, 1e5, 1234567, 1.25, -0.5, 3, 0.123456), {.rows = 2, .columns = 4},
     "              0             1         2             3\n"
     "0  1.000000e-09  1.000000e+09  100000.0  1.234567e+06\n"
     "1  1.250000e+00 -5.000000e-01       3.0  1.234560e-01\n"},
    {"large numbers", LIST(100000, 2, 3e7, 1e6), {.rows = 2, .columns = 2},
     "            0          1\n"
     "0    100000.0        2.0\n"
     "1  30000000.0  1000000.0\n"},
    {"too large numbers", LIST(1e5, 2, 3e15, 1), {.rows = 2, .columns = 2},
     "              0    1\n"
     "0  1.000000e+05  2.0\n"
     "1  3.000000e+15  1.0\n"},
    {"small, but not 0 with six digits", LIST(0.000001, 0.5), {.rows = 2, .columns = 1},
     "          0\n"
     "0  0.000001\n"
     "1  0.500000\n"},
    {"rows left out", PATTERN(1), {.rows = 12, .columns = 3, .max_rows = 6},
     "           0         1         2\n"
     "0  -1.955078  1.775391  1.593750\n"
     "1   1.412109  1.230469  1.048828\n"
     "2   0.867188  0.685547  0.503906\n"
     "..       ...       ...       ...\n"
     "9   0.964844  0.783203  0.601562\n"
     "10  0.419922  0.238281  0.056641\n"
     "11 -0.125000 -0.306641 -0.488281\n"
     "\n"
     "[12 rows x 3 columns]\n"},
    {"rows and columns left out", PATTERN(1), {.rows = 12, .columns = 30, .max_rows = 6, .max_columns = 6},
     "          0         1         2   ...        27        28        29\n"
     "0  -1.955078  1.775391  1.593750  ...  0.964844  0.783203  0.601562\n"
     "1   0.419922  0.238281  0.056641  ... -0.572266 -0.753906 -0.935547\n"
     "2  -1.117188 -1.298828 -1.480469  ...  1.802734  1.621094  1.439453\n"
     "..       ...       ...       ...  ...       ...       ...       ...\n"
     "9  -0.140625 -0.322266 -0.503906  ... -1.132812 -1.314453 -1.496094\n"
     "10 -1.677734 -1.859375  1.871094  ...  1.242188  1.060547  0.878906\n"
     "11  0.697266  0.515625  0.333984  ... -0.294922 -0.476562 -0.658203\n"
     "\n"
     "[12 rows x 30 columns]\n"},
    {"odd limits", PATTERN(1), {.rows = 5, .columns = 12, .max_rows = 3, .max_columns = 5},
     "          0         1   ...        10        11\n"
     "0  -1.955078  1.775391  ...  0.140625 -0.041016\n"
     "..       ...       ...  ...       ...       ...\n"
     "4   1.062500  0.880859  ... -0.753906 -0.935547\n"
     "\n"
     "[5 rows x 12 columns]\n"},
    {"column numbers of unlike width", LIST(0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0),
     {.rows = 1, .columns = 11},
     "    0    1    2    3    4    5    6    7    8    9    10\n"
     "0  0.0  0.5  1.0  1.5  2.0  2.5  3.0  3.5  4.0  4.5  5.0\n"},
    {"row names", PATTERN(1), {.rows = 3, .columns = 12, .max_columns = 4, .row_names = NAMES},
     "                   0         1   ...        10        11\n"
     "0 the       -1.955078  1.775391  ...  0.140625 -0.041016\n"
     "1 cat       -0.222656 -0.404297  ...  1.873047  1.691406\n"
     "2 moonlight  1.509766  1.328125  ... -0.306641 -0.488281\n"
     "\n"
     "[3 rows x 12 columns]\n"},
    {"column names", LIST(0, 0, 0, 0), {.rows = 2, .columns = 2, .column_names = WIDE_NAMES},
     "   0 the  1 cat sat on it\n"
     "0    0.0              0.0\n"
     "1    0.0              0.0\n"},
    {"one column", PATTERN(1), {.rows = 3, .columns = 1},
     "          0\n"
     "0 -1.955078\n"
     "1  1.775391\n"
     "2  1.593750\n"},
    {"as many columns as fit", PATTERN(1), {.rows = 3, .columns = 64, .width = 67},
     "         0         1         2   ...        61        62        63\n"
     "0 -1.955078  1.775391  1.593750  ... -1.298828 -1.480469 -1.662109\n"
     "1 -1.843750  1.886719  1.705078  ... -1.187500 -1.369141 -1.550781\n"
     "2 -1.732422 -1.914062  1.816406  ... -1.076172 -1.257812 -1.439453\n"
     "\n"
     "[3 rows x 64 columns]\n"},};

static void test_tables(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof TABLES / sizeof *TABLES; i++) {
        const table_case *c = &TABLES[i];
        rapt_table f = c->frame;
        rapt_real *x = fill(&c->values, f.rows * f.columns);
        rapt_error err = {0};
        printed p;
        f.values = x;
        open_text(&p);
        assert_int_equal(print_table(p.to, &f, &err), RAPT_OK);
        assert_text(&p, c->name, c->pandas);
        free(x);
    }
}

/* The longest line of a table. */
static size_t longest_line(const rapt_table *f)
{
    printed p;
    size_t most = 0;
    open_text(&p);
    assert_int_equal(print_table(p.to, f, NULL), RAPT_OK);
    fclose(p.to);
    for (const char *line = p.text; *line; line += strcspn(line, "\n") + 1) {
        size_t length = strcspn(line, "\n");
        most = length > most ? length : most;
    }
    free(p.text);
    return most;
}

/* No line is longer than it may be, but where two columns take more; and two more columns would not fit. */
static void test_width(void **state)
{
    (void)state;
    static const filling pattern = PATTERN(1);
    rapt_real *x = fill(&pattern, 5 * 40);
    for (size_t width = 30; width < 120; width++) {
        rapt_table f = {.values = x, .rows = 5, .columns = 40, .width = width}, g = {.values = x, .rows = 5, .columns = 40};
        size_t length = longest_line(&f), columns = 2;
        assert_true(length <= width);
        for (g.max_columns = 2; g.max_columns < 40 && longest_line(&g) <= width; g.max_columns += 2)
            columns = g.max_columns;
        g.max_columns = columns;
        assert_int_equal(length, longest_line(&g));
    }
    free(x);
}

/* Where 20 columns are too few for three columns of six digits: four digits after the point, no column for a sign that no number
 * has, and names cut to the room of a number: "1 \xe6\xad\xa3\xe7\xa1\xae" takes six columns of text; with the last
 * character it would take eight. One name has room that the numbers leave. */
static void test_narrow(void **state)
{
    (void)state;
    static const char *const rows[] = {"0 a"}, *const columns[] = {"0 abcdefgh", "1 \xe6\xad\xa3\xe7\xa1\xae\xe7\x9a\x84"};
    rapt_table f = {.values = (rapt_real[]){0.123456f, 0.5f}, .rows = 1, .columns = 2, .row_names = rows,
                    .column_names = columns, .width = 20};
    char *text = rapt_table_text(&f, NULL);
    assert_string_equal(text, "     0 abcdefgh  1 \xe6\xad\xa3\xe7\xa1\xae\xe7\x9a\x84\n0 a    0.123456       0.5\n");
    free(text);
    static const rapt_real x[] = {0.123456f, 0.5f, 1e-5f, -0.25f};
    static const char *const names[] = {"0 abcdefgh", "1 \xe6\xad\xa3\xe7\xa1\xae\xe7\x9a\x84", "2", "3"};
    f = (rapt_table){.values = x, .rows = 1, .columns = 4, .row_names = rows, .column_names = names, .width = 33, .narrow = true};
    text = rapt_table_text(&f, NULL);
    assert_string_equal(text, "    0 abc\xe2\x80\xa6 1 \xe6\xad\xa3\xe2\x80\xa6         2     3\n"
                              "0 a 0.1235    0.5 1.00e-05 -0.25\n");
    free(text);
    f.width = 80; /* room for all: as pandas prints it */
    text = rapt_table_text(&f, NULL);
    assert_non_null(strstr(text, "0.123456"));
    assert_null(strstr(text, "\xe2\x80\xa6"));
    free(text);
    f.width = 0, f.max_columns = 3; /* two are shown as asked for, which is no reason for fewer digits */
    text = rapt_table_text(&f, NULL);
    assert_non_null(strstr(text, "0.123456"));
    free(text);
}

/* Letters that take two columns of a terminal (U+65E5, U+672C), a mark that takes none (U+0301). */
static void test_wide_letters(void **state)
{
    (void)state;
    static const char *const names[] = {"\xe6\x97\xa5\xe6\x9c\xac", "e\xcc\x81", "four"};
    rapt_table f = {.values = (rapt_real[]){1, 2, 3}, .rows = 3, .columns = 1, .row_names = names};
    printed p;
    assert_int_equal(print_width(names[0]), 4);
    assert_int_equal(print_width(names[1]), 1);
    assert_int_equal(print_width(""), 0);
    open_text(&p);
    assert_int_equal(print_table(p.to, &f, NULL), RAPT_OK);
    assert_text(&p, "names of any script", "        0\n\xe6\x97\xa5\xe6\x9c\xac  1.0\ne\xcc\x81     2.0\nfour  3.0\n");
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

/* str(torch.tensor(x)) without the word */
static void test_numbers(void **state)
{
    (void)state;
    static const struct { double x; const char *torch; } cases[] = {
        {0.12, "0.1200"}, {3, "3."}, {1e-5, "1.0000e-05"}, {-INFINITY, "-inf"}, {INFINITY, "inf"}, {-NAN, "nan"}, {0, "0."},
        {123456.7891, "123456.7891"}, {2.5e9, "2.5000e+09"}, {-0.00012, "-0.0001"}};
    char text[PRINT_NUMBER];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(print_number(cases[i].x, text), cases[i].torch);
}

static void assert_near(double got, double wanted)
{
    if (!(fabs(got - wanted) <= 1e-14 * (1 + fabs(wanted))))
        fail_msg("%.17g, not %.17g", got, wanted);
}

/* x.double().min(), mean(), max(), std() of the pattern's first 1000 numbers; std of 7 numbers. */
static void test_statistics(void **state)
{
    (void)state;
    static const filling pattern = PATTERN(1);
    static const rapt_real seven[] = {-0.25, 0.125, -0.125, 0.25, 0, -0.25, 0.125};
    rapt_real *x = fill(&pattern, 1000);
    print_statistics s = print_statistics_of(x, 1000);
    assert_near(s.min, -1.955078125);
    assert_near(s.mean, 0.00894921875);
    assert_near(s.max, 1.955078125);
    assert_near(s.std, 1.1315230435270316);
    assert_int_equal(s.finite, 1000);
    s = print_statistics_of(seven, 7);
    assert_near(s.mean, -0.017857142857142856);
    assert_near(s.std, 0.19669894811736077);
    free(x);
}

/* Numbers that are not finite are counted and left out. */
static void test_not_finite(void **state)
{
    (void)state;
    static const rapt_real x[] = {-INFINITY, 1, NAN, 3, INFINITY};
    print_statistics s = print_statistics_of(x, 5);
    assert_int_equal(s.count, 5);
    assert_int_equal(s.finite, 2);
    assert_near(s.min, 1);
    assert_near(s.mean, 2);
    assert_near(s.max, 3);
    assert_near(s.std, sqrt(2));
    s = print_statistics_of(x, 1);
    assert_int_equal(s.finite, 0);
    assert_true(s.min == 0 && s.mean == 0 && s.max == 0 && s.std == 0);
    s = print_statistics_of(x + 1, 1);
    assert_true(s.min == 1 && s.max == 1 && s.std == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tensors),      cmocka_unit_test(test_all_numbers), cmocka_unit_test(test_tables),
        cmocka_unit_test(test_width),        cmocka_unit_test(test_narrow),      cmocka_unit_test(test_wide_letters),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_statistics),   cmocka_unit_test(test_not_finite), cmocka_unit_test(test_options),
        cmocka_unit_test(test_tokens),       cmocka_unit_test(test_table_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
