/* tests/golden/test_golden_ops.c: single operations of language models against PyTorch: outputs, gradients of inputs and
 * parameters. For definitions, as test_golden.c; whole language models are in test_golden_lm.c.
 * labels: arm-first */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "golden.h"

#include <stdlib.h>
#include <string.h>

/* A parameter of the case, or NULL where it has none of this name. */
static rapt_param *parameter(golden *g, const char *name)
{
    char text[64] = "param/";
    const safetensors_entry *e = golden_find(g, strcat(text, name));
    return e ? rapt_params_add(g->set, name, e->ndim, e->shape, (rapt_init){RAPT_INIT_ZEROS, 0}) : NULL;
}

static void test_activation(void **state)
{
    (void)state;
    golden *g = golden_open("activation");
    while (golden_next(g)) {
        rapt_activation a = (rapt_activation)golden_size(g, "activation");
        rapt_param *w = parameter(g, "weight"), *b = parameter(g, "bias");
        rapt_tensor *x = golden_input(g, "x");
        golden_load(g);
        golden_finish(g, w ? rapt_op_linear(g->tape, x, w, b, a) : rapt_op_activate(g->tape, x, a));
        golden_again(g, false); /* inference takes another way */
        w = parameter(g, "weight"), b = parameter(g, "bias"), x = golden_input(g, "x");
        golden_load(g);
        golden_output(g, "out", w ? rapt_op_linear(g->tape, x, w, b, a) : rapt_op_activate(g->tape, x, a));
    }
    golden_close(g);
}

static void test_swiglu(void **state)
{
    (void)state;
    golden *g = golden_open("swiglu");
    while (golden_next(g)) {
        rapt_tensor *gate = golden_input(g, "gate");
        golden_finish(g, rapt_op_swiglu(g->tape, gate, golden_input(g, "up")));
    }
    golden_close(g);
}

static void test_rms_norm(void **state)
{
    (void)state;
    golden *g = golden_open("rms_norm");
    while (golden_next(g)) {
        rapt_param *gamma = parameter(g, "norm.weight");
        golden_load(g);
        golden_finish(g, rapt_op_rms_norm(g->tape, golden_input(g, "x"), gamma, golden_number(g, "eps", 0)));
    }
    golden_close(g);
}

static void test_layer_norm_no_bias(void **state)
{
    (void)state;
    golden *g = golden_open("layer_norm_no_bias");
    while (golden_next(g)) {
        rapt_param *gamma = parameter(g, "norm.weight");
        golden_load(g);
        golden_finish(g, rapt_op_layer_norm(g->tape, golden_input(g, "x"), gamma, NULL, 1e-5));
    }
    golden_close(g);
}

static void test_rotary(void **state)
{
    (void)state;
    golden *g = golden_open("rotary");
    while (golden_next(g)) {
        const safetensors_entry *e = golden_get(g, "in/table");
        rapt_param *table = rapt_params_add(g->set, "table", 2, e->shape, (rapt_init){RAPT_INIT_ZEROS, 0});
        rapt_param_make_buffer(table, false);
        for (size_t i = 0; i < rapt_tensor_size(&table->value); i++)
            table->value.data[i] = (rapt_real)golden_at(e, i);
        golden_finish(g, rapt_op_rotary(g->tape, golden_input(g, "x"), table, golden_size(g, "first")));
    }
    golden_close(g);
}

static void test_lora(void **state)
{
    (void)state;
    golden *g = golden_open("lora");
    while (golden_next(g)) {
        rapt_param *w = parameter(g, "linear.weight"), *b = parameter(g, "linear.bias");
        const rapt_lora m = {.a = parameter(g, "lora_A.weight"), .b = parameter(g, "lora_B.weight"),
                             .scale = golden_number(g, "scale", 0)};
        rapt_tensor *x = golden_input(g, "x");
        golden_load(g);
        golden_finish(g, rapt_op_lora(g->tape, rapt_op_linear(g->tape, x, w, b, RAPT_ACTIVATION_IDENTITY), x, &m));
    }
    golden_close(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_activation),         cmocka_unit_test(test_swiglu), cmocka_unit_test(test_rms_norm),
        cmocka_unit_test(test_layer_norm_no_bias), cmocka_unit_test(test_rotary), cmocka_unit_test(test_lora),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
