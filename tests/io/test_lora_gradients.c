/* tests/io/test_lora_gradients.c: the loss of a text and the gradients of low-rank adapters, compared with PEFT's: plain adapters
 * of a joint matrix, rank-stabilized ones with ranks and alphas by pattern, others beside matrices saved whole, and with
 * magnitudes. For src/io/lora and src/nn/lora.c.
 * tests/golden/adapters is made by tools/make_hub_adapters.py.
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

#include "distance.h"
#include "folder.h"
#include "io/model_core.h"
#include "io/safetensors.h"
#include "loading.h"
#include "options.h"
#include "rapt/tape.h"

#define GOLDEN RAPT_SOURCE_DIR "/tests/golden/"

/* As tools/make_hub_adapters.py asked PEFT for them. */
static const struct {
    const char *name, *base, *modules;
    size_t rank;
    double alpha;
    bool rslora, dora;
    const char *rank_pattern, *alpha_pattern, *save;
} CASES[] = {{"gpt2", "gpt2", "c_attn,c_fc", 2, 6, false, false, NULL, NULL, NULL},
             {"patterns", "qwen2", "q_proj,v_proj,down_proj", 3, 5, true, false,
              "layers.0.self_attn.q_proj=5,.*\\.[1-9]\\.mlp\\.down_proj=2",
              "v_proj=7.5,^model.layers.1.self_attn.q_proj=4", NULL},
             {"saved", "llama3", "q_proj,up_proj", 2, 4, false, false, NULL, NULL, "embed_tokens,lm_head"},
             {"tied", "qwen2", "q_proj,up_proj", 2, 4, false, false, NULL, NULL, "embed_tokens"},
             {"dora", "qwen2", "q_proj,v_proj,down_proj", 3, 5, false, true, NULL, NULL, NULL},
             {"dora_joint", "gpt2", "c_attn,c_fc", 2, 6, false, true, NULL, NULL, NULL}};
enum { COUNT = sizeof CASES / sizeof *CASES, NAME = 512, PARTS = 3, ROWS = 64 /* of a whole matrix that the file has */ };

static safetensors *golden_file(const char *name, const char *file)
{
    char path[1024];
    safetensors *found;
    snprintf(path, sizeof path, GOLDEN "adapters/%s/%s", name, file);
    assert_int_equal(safetensors_open(path, &found, NULL), RAPT_OK);
    return found;
}

static double number_of(const safetensors *file, const char *name)
{
    return *(const double *)safetensors_find(file, name)->data;
}

/* The tensor of a parameter, and its first element there. A part of c_attn has the module's A, and a third of the rows of B
 * and of the magnitudes. */
static const safetensors_entry *tensor_of(const safetensors *file, const rapt_param *p, size_t *first)
{
    static const char *const parts[PARTS] = {".q.lora_", ".k.lora_", ".v.lora_"};
    const char *name = p->value.name, *found = NULL;
    size_t part = 0;
    for (size_t i = 0; i < PARTS && !found; i++)
        if ((found = strstr(name, parts[i])) != NULL)
            part = i;
    char whole[NAME];
    if (strcmp(name, "embedding.weight") == 0 || strcmp(name, "output.weight") == 0) /* saved whole */
        name = *name == 'e' ? "base_model.model.model.embed_tokens.weight" : "base_model.model.lm_head.weight";
    snprintf(whole, sizeof whole, "%.*s%s", found ? (int)(found - name) : (int)strlen(name), name, found ? found + 2 : "");
    *first = strstr(name, "lora_B") || strstr(name, "magnitude") ? part * rapt_tensor_size(&p->value) : 0;
    const safetensors_entry *e = safetensors_find(file, whole);
    if (!e)
        fail_msg("\"%s\" is not in the file", whole);
    return e;
}

static rapt_model *trained(size_t i)
{
    rapt_error err = {0};
    char folder[1024];
    size_t first;
    snprintf(folder, sizeof folder, GOLDEN "hub/%s", CASES[i].base);
    rapt_model *m = load_adapted(folder, NULL, &err);
    assert_non_null(m);
    const rapt_model_lora_options o = MODEL_LORA(
        .lora = {.rank = CASES[i].rank, .alpha = CASES[i].alpha, .rslora = CASES[i].rslora, .dora = CASES[i].dora},
        .modules = CASES[i].modules, .rank_pattern = CASES[i].rank_pattern, .alpha_pattern = CASES[i].alpha_pattern,
        .save = CASES[i].save);
    if (rapt_model_add_lora(m, &o, &err) != RAPT_OK)
        fail_msg("%s: %s", CASES[i].name, err.message);
    safetensors *values = golden_file(CASES[i].name, "adapter_model.safetensors");
    for (size_t k = 0; k < rapt_params_count(m->params); k++) {
        rapt_param *p = rapt_params_at(m->params, k);
        if (!p->value.requires_grad)
            continue;
        const safetensors_entry *e = tensor_of(values, p, &first);
        assert_true((first + rapt_tensor_size(&p->value)) * sizeof(float) <= e->bytes);
        for (size_t n = 0; n < rapt_tensor_size(&p->value); n++)
            p->value.data[n] = ((const float *)e->data)[first + n];
    }
    safetensors_close(values);
    return m;
}

static double gradient_distance(const rapt_model *m, const safetensors *exact)
{
    double worst = 0;
    size_t first;
    for (size_t k = 0; k < rapt_params_count(m->params); k++) {
        const rapt_param *p = rapt_params_at(m->params, k);
        if (!p->value.requires_grad)
            continue;
        const safetensors_entry *e = tensor_of(exact, p, &first);
        assert_true(p->value.grad_filled);
        const size_t size = strstr(p->value.name, "lora_") ? rapt_tensor_size(&p->value) : ROWS * p->value.shape[1];
        assert_true((first + size) * sizeof(double) <= e->bytes);
        for (size_t n = 0; n < size; n++)
            worst = fmax(worst, fabs((double)p->value.grad[n] - ((const double *)e->data)[first + n]));
    }
    return worst;
}

/* The distances from PyTorch in float64 are at most twice the distances of PyTorch in float32; the loss, a number near 6, is
 * rounded to fp32 as well. */
static void loss_and_gradients_are_those_of_peft(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        safetensors *expected = golden_file(CASES[i].name, "expected.safetensors");
        safetensors *exact = golden_file(CASES[i].name, "gradients.safetensors");
        rapt_model *m = trained(i);
        const safetensors_entry *ids = safetensors_find(expected, "ids");
        const size_t time = ids->shape[0] - 1;
        const int32_t *text = ids->data;
        rapt_tape *t = rapt_tape_new(&(rapt_compute){.threads = 2}, NULL);
        rapt_tape_begin(t, (rapt_pass){.record = true});
        rapt_tensor *loss = rapt_lm_loss(t, m->language.net, (rapt_tokens){.ids = text, .batch = 1, .time = time},
                                         (rapt_tokens){.ids = text + 1, .batch = 1, .time = time}, NULL, NULL);
        assert_int_equal(rapt_backward(t, loss, NULL), RAPT_OK);
        const double loss_error = number_of(exact, "loss_error"), error = number_of(exact, "gradient_error");
        const double loss_is = fabs((double)loss->data[0] - number_of(exact, "loss")), is = gradient_distance(m, exact);
        distance_show(CASES[i].name, "gradients of adapters", is, error);
        if (!(loss_is <= 2 * loss_error + 5e-7) || !(is <= 2 * error))
            fail_msg("%s: loss %g from float64, PyTorch's %g; gradients %g, PyTorch's %g", CASES[i].name, loss_is, loss_error, is,
                     error);
        rapt_tape_free(t);
        rapt_model_free(m);
        safetensors_close(exact);
        safetensors_close(expected);
    }
}

/* Before the first step magnitudes are the lengths of the rows, to the bit: the reference of preferences is the model itself. */
static void magnitudes_change_nothing_at_first(void **state)
{
    static const char *const bases[] = {"qwen2", "gpt2"};
    static const int32_t text[] = {5, 17, 40, 3, 90, 8, 61};
    (void)state;
    for (size_t i = 0; i < 2; i++)
        for (int bf16 = 0; bf16 < 2; bf16++) {
            rapt_real losses[2];
            for (int dora = 0; dora < 2; dora++) {
                char folder[1024];
                snprintf(folder, sizeof folder, GOLDEN "hub/%s", bases[i]);
                rapt_model *m = load_adapted(folder, NULL, NULL);
                assert_int_equal(rapt_model_add_lora(m, &MODEL_LORA(.lora = {.rank = 2, .dora = dora}), NULL), RAPT_OK);
                rapt_tape *t = rapt_tape_new(&(rapt_compute){.type = bf16 ? RAPT_TYPE_BF16 : RAPT_TYPE_FP32}, NULL);
                rapt_tape_begin(t, (rapt_pass){0});
                losses[dora] = rapt_lm_loss(t, m->language.net, (rapt_tokens){.ids = text, .batch = 1, .time = 6},
                                            (rapt_tokens){.ids = text + 1, .batch = 1, .time = 6}, NULL, NULL)->data[0];
                rapt_tape_free(t);
                rapt_model_free(m);
            }
            assert_true(losses[0] == losses[1]);
        }
}

/* ---- what is written ---------------------------------------------------------------------------------------------- */

/* adapter_config.json has the members as PEFT wrote them. */
static void configuration_is_that_of_peft(void **state)
{
    static const char *const keys[] = {"use_rslora", "rank_pattern", "alpha_pattern", "r", "lora_alpha", "modules_to_save",
                                       "use_dora", "ensure_weight_tying"};
    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        char path[1024];
        rapt_model *m = trained(i);
        assert_int_equal(rapt_model_save(m, folder_path, NULL), RAPT_OK);
        snprintf(path, sizeof path, GOLDEN "adapters/%s/adapter_config.json", CASES[i].name);
        json_t *theirs = json_load_file(path, 0, NULL), *ours = json_load_file(folder_in("adapter_config.json"), 0, NULL);
        const bool both = json_is_true(json_object_get(ours, "ensure_weight_tying")); /* PEFT leaves out the name of the output */
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
            if (!(both && strcmp(keys[k], "modules_to_save") == 0) &&
                !json_equal(json_object_get(ours, keys[k]), json_object_get(theirs, keys[k])))
                fail_msg("%s: %s", CASES[i].name, keys[k]);
        json_decref(theirs);
        json_decref(ours);
        rapt_model_free(m);
    }
}

static void other_patterns_are_refused(void **state)
{
    static const struct {
        const char *ranks, *alphas, *says;
    } cases[] = {{"q_proj=0", NULL, "\"rank_pattern\" of \"q_proj\" must be a whole number from 1 to 65536"},
                 {"q_proj=2.5", NULL, "\"rank_pattern\" of \"q_proj\" must be a whole number"},
                 {"q_proj=99999999", NULL, "from 1 to 65536"},
                 {"q_proj", NULL, "rank_pattern: \"q_proj\" is not NAME=NUMBER"},
                 {"=2", NULL, "is not NAME=NUMBER"},
                 {"q_proj=2,,v_proj=3", NULL, "\"\" is not NAME=NUMBER"},
                 {"q_proj=2,q_proj=3", NULL, "\"q_proj\" comes twice"},
                 {"k_proj=2", NULL, "rank_pattern: no layer with an adapter is called \"k_proj\""},
                 {"q_proj=49", NULL, "rank 49"},
                 {"(?i)q_proj=2", NULL, "groups with an extension"},
                 {"q_proj++=2", NULL, "possessive"},
                 {"\\bq_proj=2", NULL, "only letters, digits"},
                 {"(q_proj=2", NULL, "which is no regular expression"},
                 {"(((((((((.*)*)*)*)*)*)*)*)*)*jj=2", NULL, "takes too many steps"},
                 {NULL, "q_proj=0", "\"alpha_pattern\" of \"q_proj\" must be a number from"},
                 {NULL, "q_proj=nan", "is not NAME=NUMBER"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rapt_error err = {0};
        rapt_model *m = load_adapted(GOLDEN "hub/qwen2", NULL, NULL);
        const rapt_model_lora_options o = MODEL_LORA(.lora = {.rank = 2}, .modules = "q_proj,v_proj",
                                                     .rank_pattern = cases[i].ranks, .alpha_pattern = cases[i].alphas);
        if (rapt_model_add_lora(m, &o, &err) == RAPT_OK)
            fail_msg("\"%s\" is accepted", cases[i].says);
        if (!strstr(err.message, cases[i].says))
            fail_msg("\"%s\" does not say \"%s\"", err.message, cases[i].says);
        rapt_model_free(m);
    }
}

static void other_matrices_are_not_saved_whole(void **state)
{
    static const struct {
        const char *base, *save, *says;
    } cases[] = {{"llama3", "lm_head,q_proj", "is called \"q_proj\"; there are model.embed_tokens,lm_head"},
                 {"llama3", "lm_head,", "is called \"\""},
                 {"gpt2", "h", "is called \"h\"; there are transformer.wte,lm_head"},
                 {"../hub_translation/marian", "shared", "of language models alone"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rapt_error err = {0};
        char folder[1024];
        snprintf(folder, sizeof folder, GOLDEN "hub/%s", cases[i].base);
        rapt_model *m = load_adapted(folder, NULL, NULL);
        assert_int_equal(rapt_model_add_lora(m, &MODEL_LORA(.lora = {.rank = 2}, .save = cases[i].save), &err), RAPT_ERR_VALUE);
        if (!strstr(err.message, cases[i].says))
            fail_msg("\"%s\" does not say \"%s\"", err.message, cases[i].says);
        rapt_model_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(loss_and_gradients_are_those_of_peft),
                                       cmocka_unit_test(magnitudes_change_nothing_at_first),
                                       cmocka_unit_test(configuration_is_that_of_peft),
                                       cmocka_unit_test(other_patterns_are_refused),
                                       cmocka_unit_test(other_matrices_are_not_saved_whole)};
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
