/* tests/io/test_lora.c: models whose low-rank adapters are trained: which modules have one, under which names and in what shapes
 * PEFT's files have them, and that such a file computes what the model did. For src/io/lora. Names and shapes are compared with
 * files that PEFT wrote, tests/golden/adapters; what rapt makes of such files with PEFT's numbers, in test_adapter.c.
 * labels: raced-late */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "folder.h"
#include "io/model_core.h"
#include "io/safetensors.h"
#include "loading.h"
#include "nn/linear.h"
#include "nn/lora.h"
#include "options.h"
#include "rapt/tape.h"

#define GOLDEN RAPT_SOURCE_DIR "/tests/golden/"

/* As tools/make_hub_adapters.py asked PEFT for them. */
static const struct {
    const char *name, *modules;
    size_t rank;
} CASES[] = {{"qwen2", "q_proj,v_proj,down_proj", 3}, {"gpt2", "c_attn,c_fc", 2}, {"gpt_neox", "query_key_value,dense", 2},
             {"phi3", "all", 4}};
enum { COUNT = sizeof CASES / sizeof *CASES, TIME = 12 };

static rapt_model *load(const char *folder, const char *adapter)
{
    rapt_error err = {0};
    rapt_model *m = load_adapted(folder, adapter, &err);
    assert_string_equal(err.message, "");
    return m;
}

static rapt_model *hub_model(const char *name, const char *adapter)
{
    char folder[1024];
    snprintf(folder, sizeof folder, GOLDEN "hub/%s", name);
    return load(folder, adapter);
}

static rapt_model *adapted(const char *name, const char *modules, size_t rank)
{
    rapt_error err = {0};
    rapt_model *m = hub_model(name, NULL);
    const rapt_model_lora_options o = MODEL_LORA(.lora = {.rank = rank, .alpha = 5}, .modules = modules, .seed = 3);
    if (rapt_model_add_lora(m, &o, &err) != RAPT_OK)
        fail_msg("%s: %s", name, err.message);
    return m;
}

/* Values as after a training. */
static void fill_adapters(rapt_model *m)
{
    uint32_t x = 1;
    for (size_t i = 0; i < rapt_params_count(m->params); i++) {
        rapt_param *p = rapt_params_at(m->params, i);
        for (size_t k = 0; !p->transient && k < rapt_tensor_size(&p->value); k++)
            p->value.data[k] = (rapt_real)((double)((x = x * 1664525 + 1013904223) >> 8) / (1 << 24) - 0.5);
    }
}

/* The caller frees the logits of all positions; `count` of them. */
static rapt_real *logits_of(const rapt_model *m, size_t *count)
{
    int32_t ids[TIME];
    for (int i = 0; i < TIME; i++)
        ids[i] = 3 + 5 * i % 31;
    rapt_tape *t = rapt_tape_new(&(rapt_compute){.threads = 2}, NULL);
    rapt_tape_begin(t, (rapt_pass){0});
    const rapt_tensor *y = rapt_lm_forward(t, m->language.net, (rapt_tokens){.ids = ids, .batch = 1, .time = TIME});
    *count = rapt_tensor_size(y);
    rapt_real *copy = malloc(*count * sizeof *copy);
    memcpy(copy, y->data, *count * sizeof *copy);
    rapt_tape_free(t);
    return copy;
}

static double distance(const rapt_real *a, const rapt_real *b, size_t n)
{
    double most = 0;
    for (size_t i = 0; i < n; i++)
        most = fmax(most, fabs((double)a[i] - (double)b[i]));
    return most;
}

/* Also for joint matrices: rows of B are where the reference has them. */
static void a_folder_computes_what_the_model_did(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        rapt_error err = {0};
        size_t n;
        rapt_model *m = adapted(CASES[i].name, "all", CASES[i].rank), *plain = hub_model(CASES[i].name, NULL);
        fill_adapters(m);
        assert_int_equal(rapt_model_save(m, folder_in(CASES[i].name), &err), RAPT_OK);
        rapt_model *again = hub_model(CASES[i].name, folder_in(CASES[i].name));
        rapt_real *trained = logits_of(m, &n), *read = logits_of(again, &n), *without = logits_of(plain, &n);
        double most = distance(trained, without, n);
        assert_true(most > 1);
        if (!(distance(trained, read, n) < 1e-5 * most))
            fail_msg("%s: %g of %g", CASES[i].name, distance(trained, read, n), most);
        free(trained);
        free(read);
        free(without);
        rapt_model_free(m);
        rapt_model_free(again);
        rapt_model_free(plain);
    }
}

static void tensors_are_those_of_peft(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        rapt_error err = {0};
        safetensors *ours, *theirs;
        char path[1024];
        rapt_model *m = adapted(CASES[i].name, CASES[i].modules, CASES[i].rank);
        assert_int_equal(rapt_model_save(m, folder_path, &err), RAPT_OK);
        snprintf(path, sizeof path, GOLDEN "adapters/%s/adapter_model.safetensors", CASES[i].name);
        assert_int_equal(safetensors_open(path, &theirs, NULL), RAPT_OK);
        assert_int_equal(safetensors_open(folder_in("adapter_model.safetensors"), &ours, NULL), RAPT_OK);
        assert_int_equal(safetensors_count(ours), safetensors_count(theirs));
        for (size_t k = 0; k < safetensors_count(theirs); k++) {
            const safetensors_entry *wanted = safetensors_at(theirs, k), *e = safetensors_find(ours, wanted->name);
            if (!e || e->shape[0] != wanted->shape[0] || e->shape[1] != wanted->shape[1])
                fail_msg("%s: %s is missing, or of another shape", CASES[i].name, wanted->name);
        }
        safetensors_close(ours);
        safetensors_close(theirs);
        rapt_model_free(m);
    }
}

/* ---- names of modules --------------------------------------------------------------------------------------------- */

/* PEFT takes each module whose name ends so: another one of the same end must not be among them. */
static void targets_are_of_no_other_module(void **state)
{
    static const struct {
        const char *model, *modules, *targets;
    } cases[] = {{"gpt2", "mlp.c_proj", "[\"mlp.c_proj\"]"},
                 {"gpt2", "attn.c_proj,mlp.c_proj", "[\"c_proj\"]"},
                 {"gpt2", "c_proj,mlp.c_proj,c_proj", "[\"c_proj\"]"},
                 {"gpt2", "h.1.attn.c_attn", "[\"1.attn.c_attn\"]"},
                 {"gpt2", "1.mlp.c_proj,attn.c_proj", "[\"attn.c_proj\", \"1.mlp.c_proj\"]"},
                 {"gpt_neox", "dense", "[\"dense\"]"},
                 {"phi3", "qkv_proj,mlp.gate_up_proj", "[\"qkv_proj\", \"gate_up_proj\"]"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rapt_error err = {0};
        rapt_model *m = adapted(cases[i].model, cases[i].modules, 1);
        assert_int_equal(rapt_model_save(m, folder_path, &err), RAPT_OK);
        json_t *wanted = json_loads(cases[i].targets, 0, NULL);
        json_t *config = json_load_file(folder_in("adapter_config.json"), 0, NULL);
        if (!json_equal(json_object_get(config, "target_modules"), wanted))
            fail_msg("%s, \"%s\": not %s", cases[i].model, cases[i].modules, cases[i].targets);
        assert_int_equal(json_is_true(json_object_get(config, "fan_in_fan_out")), strcmp(cases[i].model, "gpt2") == 0);
        json_decref(config);
        json_decref(wanted);
        rapt_model_free(m);
    }
}

static void other_names_are_refused(void **state)
{
    static const char *const cases[][2] = {{"q", "\"q\"; there are c_attn,c_proj,c_fc"}, {"c_attn,,c_fc", "\"\"; there are"},
                                           {"attn", "\"attn\""}, {"_attn", "\"_attn\""}, {"c_attn,lm_head", "\"lm_head\""},
                                           {"wte", "\"wte\""}, {"c_attn,", "\"\""}, {"all,c_fc", "\"all\""}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rapt_error err = {0};
        rapt_model *m = hub_model("gpt2", NULL);
        const rapt_model_lora_options o = MODEL_LORA(.lora = {.rank = 2}, .modules = cases[i][0]);
        assert_int_equal(rapt_model_add_lora(m, &o, &err), RAPT_ERR_VALUE);
        if (!strstr(err.message, cases[i][1]))
            fail_msg("%s: %s", cases[i][0], err.message);
        rapt_model_free(m);
    }
}

/* ---- one matrix A of several layers ------------------------------------------------------------------------------- */

enum { IN = 6, OUT = 4, RANK = 2 };

/* Two layers with equal matrices. */
typedef struct layer_pair {
    rapt_params *set;
    rapt_linear layers[2];
    rapt_param *x;
} layer_pair;

static layer_pair pair_of(bool shared, double dropout)
{
    layer_pair p = {.set = rapt_params_new(1, NULL)};
    const rapt_lora_options o = {.rank = RANK, .dropout = dropout};
    p.x = rapt_params_add(p.set, "x", 2, (size_t[]){3, IN}, (rapt_init){RAPT_INIT_UNIFORM, 1});
    for (int i = 0; i < 2; i++) {
        rapt_linear_init(&p.layers[i], p.set, i ? "second." : "first.", IN, OUT, NULL);
        lora_init_part(&p.layers[i], p.set, i ? "second." : "first.", &o, i && shared ? p.layers[0].lora->a : NULL);
    }
    for (size_t k = 0; k < OUT * RANK; k++)
        p.layers[0].lora->b->value.data[k] = p.layers[1].lora->b->value.data[k] = (rapt_real)(0.5 + (double)k);
    for (size_t k = 0; k < IN * RANK; k++)
        p.layers[0].lora->a->value.data[k] = p.layers[1].lora->a->value.data[k] = (rapt_real)(1 - 0.3 * (double)k);
    memcpy(p.layers[1].weight->value.data, p.layers[0].weight->value.data, IN * OUT * sizeof(rapt_real));
    memset(p.layers[0].bias->value.data, 0, OUT * sizeof(rapt_real));
    memset(p.layers[1].bias->value.data, 0, OUT * sizeof(rapt_real));
    return p;
}

static void pair_forward(rapt_tape *t, const layer_pair *p, rapt_tensor *y[2])
{
    rapt_tape_begin(t, (rapt_pass){.record = true, .training = true, .seed = 5});
    for (int i = 0; i < 2; i++)
        y[i] = rapt_op_linear(t, &p->x->value, p->layers[i].weight, p->layers[i].bias, RAPT_ACTIVATION_IDENTITY);
    linears_adapt(t, 2, (const rapt_linear *[]){&p->layers[0], &p->layers[1]}, (rapt_tensor *[]){&p->x->value, &p->x->value}, y);
}

static void its_input_is_dropped_once(void **state)
{
    (void)state;
    for (int shared = 0; shared < 2; shared++) {
        layer_pair p = pair_of(shared, 0.5);
        rapt_tape *t = rapt_tape_new(NULL, NULL);
        rapt_tensor *y[2];
        pair_forward(t, &p, y);
        assert_int_equal(memcmp(y[0]->data, y[1]->data, 3 * OUT * sizeof *y[0]->data) == 0, shared);
        rapt_tape_free(t);
        rapt_params_free(p.set);
    }
}

/* Each layer adds to its gradient what it would have of its own. */
static void its_gradient_is_the_sum(void **state)
{
    rapt_real a[2][IN * RANK], sum[IN * RANK];
    (void)state;
    for (int shared = 0; shared < 2; shared++) {
        layer_pair p = pair_of(shared, 0);
        rapt_tape *t = rapt_tape_new(NULL, NULL);
        rapt_tensor *y[2];
        pair_forward(t, &p, y);
        rapt_tensor *loss = rapt_op_sum(t, rapt_op_multiply(t, y[0], rapt_op_add(t, y[1], y[1])));
        assert_int_equal(rapt_backward(t, loss, NULL), RAPT_OK);
        for (int i = 0; i < 2; i++)
            memcpy(shared ? sum : a[i], p.layers[i].lora->a->value.grad, sizeof sum);
        rapt_tape_free(t);
        rapt_params_free(p.set);
    }
    for (size_t k = 0; k < IN * RANK; k++)
        assert_float_equal(sum[k], a[0][k] + a[1][k], 1e-5 * fabs((double)sum[k]) + 1e-5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_folder_computes_what_the_model_did), cmocka_unit_test(tensors_are_those_of_peft),
        cmocka_unit_test(targets_are_of_no_other_module),       cmocka_unit_test(other_names_are_refused),
        cmocka_unit_test(its_input_is_dropped_once),            cmocka_unit_test(its_gradient_is_the_sum)};
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
