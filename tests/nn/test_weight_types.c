/* tests/nn/test_weight_types.c: lists of types of weights: which one a parameter gets, which lists are none, and that models are
 * packed so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "nn/lm_model.h"
#include "nn/pack.h"
#include "nn/weight_types.h"
#include "tape/tape_core.h"

enum { NOTHING = -1 };

static int type_in(const char *list, const char *name, bool output)
{
    rapt_type type;
    uint64_t used = 0;
    const rapt_param p = {.value = {.name = name}, .origin = "model.layers.1.mlp.up_proj.weight"};
    return weight_types_find(list, &p, output, &used, &type) ? (int)type : NOTHING;
}

static void lists_name_types(void **state)
{
    (void)state;
    const char *mixed = "q4_0,blocks.0.*=fp32,*.ffn.*=q8_0,output=bf16";
    assert_int_equal(type_in(NULL, "blocks.1.attention.q.weight", false), NOTHING);
    assert_int_equal(type_in("*.ffn.*=q8_0", "blocks.1.attention.q.weight", false), NOTHING);
    assert_int_equal(type_in(mixed, "blocks.1.attention.q.weight", false), RAPT_TYPE_Q4_0);
    assert_int_equal(type_in(mixed, "blocks.0.attention.q.weight", false), RAPT_TYPE_FP32);
    assert_int_equal(type_in(mixed, "blocks.0.ffn.dense1.weight", false), RAPT_TYPE_Q8_0); /* the last one that fits */
    assert_int_equal(type_in(mixed, "embedding.weight", true), RAPT_TYPE_BF16);
    assert_int_equal(type_in(mixed, "embedding.weight", false), RAPT_TYPE_Q4_0);
    assert_int_equal(type_in("q4_0", "output.weight", true), RAPT_TYPE_Q8_0); /* the default of an output matrix */
    assert_int_equal(type_in("q4_0,output.*=q4_0", "output.weight", true), RAPT_TYPE_Q4_0);
    assert_int_equal(type_in("*.up_proj.*=bf16", "blocks.1.ffn.up.weight", false), RAPT_TYPE_BF16); /* of the file */
    assert_int_equal(type_in("*.down_proj.*=bf16", "blocks.1.ffn.up.weight", false), NOTHING);
}

static void check_refused(const char *list, const char *part)
{
    rapt_type all;
    rapt_error err = {0};
    assert_int_equal(weight_types_check(list, &all, &err), RAPT_ERR_VALUE);
    if (!strstr(err.message, part))
        fail_msg("%s: '%s' lacks '%s'", list, err.message, part);
}

static void wrong_lists_are_refused(void **state)
{
    (void)state;
    rapt_type all;
    assert_int_equal(weight_types_check("q4_0,a=bf16", &all, NULL), RAPT_OK);
    assert_int_equal(all, RAPT_TYPE_Q4_0);
    assert_int_equal(weight_types_check("a=b=bf16", &all, NULL), RAPT_OK); /* a name may have '=' */
    assert_int_equal(all, RAPT_TYPE_FP32);
    assert_int_equal(weight_types_check(NULL, &all, NULL), RAPT_OK);
    check_refused("", "'' is no type");
    check_refused("q4_1", "'q4_1' is no type");
    check_refused("q8_0,", "'' is no type");
    check_refused("a=", "'' is no type");
    check_refused("=q8_0", "PATTERN=TYPE");
    check_refused("a=q8_0,q8_0", "PATTERN=TYPE");
    char many[(WEIGHT_TYPES_MAX + 1) * 7 + 1] = "";
    for (size_t i = 0; i < WEIGHT_TYPES_MAX; i++)
        strcat(many, i > 0 ? ",a=q8_0" : "a=q8_0");
    assert_int_equal(weight_types_check(many, &all, NULL), RAPT_OK);
    check_refused(strcat(many, ",a=q8_0"), "more than 64 types");
}

static const kernels_gemm *packed_for(const packed_weights *p, const rapt_tape *t, const rapt_lm *m, const char *name)
{
    const packed_weight *w = packed_weights_find(p, rapt_params_find(m->params, name), t->packs);
    assert_non_null(w);
    return w->gemm;
}

static void models_are_packed_so(void **state)
{
    (void)state;
    rapt_error err = {0};
    const rapt_lm_config c = lm_variant(0);
    rapt_lm *m = lm_model(&c);
    rapt_tape *t = rapt_tape_new(&(rapt_compute){.threads = 1, .weights = "q8_0,*.ffn.*=q4_0,*.q.weight=fp32"}, &err);
    packed_weights *p = pack_lm(m, t, t->pool, false, &err);
    assert_non_null(p);
    assert_ptr_equal(packed_for(p, t, m, "blocks.0.attention.q.weight"), &t->k->gemm);
    assert_ptr_equal(packed_for(p, t, m, "blocks.0.attention.k.weight"), &t->k->quantized->q8_0);
    assert_ptr_equal(packed_for(p, t, m, "blocks.0.ffn.dense1.weight"), &t->k->quantized->q4_0);
    packed_weights_free(p);
    rapt_tape_free(t);
    t = rapt_tape_new(&(rapt_compute){.threads = 1, .weights = "q8"}, &err);
    assert_null(pack_lm(m, t, t->pool, false, &err));
    assert_int_equal(err.code, RAPT_ERR_VALUE);
    rapt_tape_free(t);
    rapt_lm_free(m);
}

/* A misspelled name, the one of a lookup, and of what is no matrix. */
static void patterns_that_fit_nothing_are_refused(void **state)
{
    static const char *const lists[] = {"q8_0,output=bf16,block.0.*=fp32", "block.0.*=fp32,output=bf16",
                                        "output=bf16,embedding.*=q8_0", "*.bias=fp32"};
    static const char *const says[] = {"'block.0.*' fits no matrix", "'block.0.*' fits no matrix", "'embedding.*' fits no matrix",
                                       "'*.bias' fits no matrix"};
    (void)state;
    const rapt_lm_config c = lm_variant(0);
    rapt_lm *m = lm_model(&c);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        rapt_error err = {0};
        rapt_tape *t = rapt_tape_new(&(rapt_compute){.threads = 1, .weights = lists[i]}, &err);
        assert_null(pack_lm(m, t, t->pool, false, &err));
        assert_int_equal(err.code, RAPT_ERR_VALUE);
        if (!strstr(err.message, says[i]))
            fail_msg("%s: %s", lists[i], err.message);
        rapt_tape_free(t);
    }
    rapt_lm_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lists_name_types), cmocka_unit_test(wrong_lists_are_refused),
                                       cmocka_unit_test(models_are_packed_so),
                                       cmocka_unit_test(patterns_that_fit_nothing_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
