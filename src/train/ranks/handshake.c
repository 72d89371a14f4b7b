/* train/ranks/handshake.c: rank 0 sends its values to all ranks; each compares them with its own, and all agree. */
#include "train/ranks/handshake.h"

#include "base/quote.h"
#include "base/rng.h"
#include "group/group_ops.h"
#include "io/model_core.h"
#include "recipe/recipe_keys.h"
#include "recipe/recipe_read.h"
#include "train/elements_hash.h"
#include "train/ranks/ranks_work.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* ---- the program ---------------------------------------------------------------------------------------------- */

handshake_program handshake_program_of(const char *version, int number_format, size_t bytes_of_number)
{
    handshake_program p = {{0}};
    snprintf(p.text, sizeof p.text, "rapt %.40s (number format %d, numbers of %zu bytes)", version, number_format,
             bytes_of_number);
    return p;
}

static rapt_code compare_programs(const run *r, rapt_error *err)
{
    const handshake_program mine = handshake_program_of(rapt_version(), HANDSHAKE_NUMBER_FORMAT, sizeof(rapt_real));
    handshake_program first = mine;
    rapt_code code = ranks_give(r, &first, sizeof first, err);
    if (code)
        return code;
    if (memcmp(&first, &mine, sizeof mine) != 0)
        code = rapt_fail(err, RAPT_ERR_VALUE, "this is %s, and on rank 0 (%s) %.90s: install the same rapt on all machines",
                         mine.text, group_host(r->group, 0), quote(first.text).text);
    return ranks_agree(r, code, err);
}

/* ---- the recipe ----------------------------------------------------------------------------------------------- */

/* Paths may differ from machine to machine: their contents are compared instead. */
static bool same_value(const recipe_key *key, const rapt_recipe *a, const rapt_recipe *b)
{
    char one[RECIPE_NUMBER], other[RECIPE_NUMBER];
    if (!recipe_key_is_path(key))
        return recipe_key_equal(key, a, b);
    return !*recipe_key_value(key, a, one) == !*recipe_key_value(key, b, other); /* both have a path, or neither */
}

static const char *shown(const char *value)
{
    return *value ? value : "empty";
}

static rapt_code compare_keys(const run *r, const rapt_recipe *first, rapt_error *err)
{
    char here[RECIPE_NUMBER], there[RECIPE_NUMBER];
    for (size_t i = 0; i < recipe_key_count(); i++) {
        const recipe_key *key = recipe_key_at(i);
        if (!same_value(key, r->recipe, first))
            return rapt_fail(err, RAPT_ERR_VALUE, "%s is %s, and %s on rank 0 (%s): all ranks need the same recipe", key->name,
                             quote(shown(recipe_key_value(key, r->recipe, here))).text,
                             quote(shown(recipe_key_value(key, first, there))).text, group_host(r->group, 0));
    }
    return RAPT_OK;
}

static rapt_code compare_with_text(const run *r, const char *text, size_t size, rapt_error *err)
{
    rapt_recipe first;
    rapt_code code = recipe_parse("the recipe of rank 0", text, size, false, &first, err);
    if (code)
        return code;
    code = compare_keys(r, &first, err);
    rapt_recipe_free(&first);
    return code;
}

static rapt_code compare_recipes(run *r, rapt_error *err)
{
    char *text = NULL;
    rapt_code code = ranks_agree(r, r->rank == 0 ? rapt_recipe_format(r->recipe, &text, err) : RAPT_OK, err);
    size_t size = text ? strlen(text) : 0;
    if (!code)
        code = ranks_give_text(r, &text, &size, err);
    if (!code)
        code = ranks_agree(r, r->rank > 0 ? compare_with_text(r, text, size, err) : RAPT_OK, err);
    free(text);
    return code;
}

/* ---- the options ---------------------------------------------------------------------------------------------- */

/* What besides the recipe decides how far the run goes, and therefore which messages come next. */
typedef struct course {
    uint64_t max_steps;
    uint32_t resume, untrained, init, reset;
    uint32_t tokens, validation_tokens; /* the program's: then rank 0 sends none */
} course;

static const char *shown_steps(const course *c, char text[24])
{
    if (!c->max_steps && !c->untrained)
        return "not given";
    snprintf(text, 24, "%" PRIu64, c->max_steps);
    return text;
}

static rapt_code compare_courses(const run *r, rapt_error *err)
{
    const rapt_train_options *o = r->options;
    const course mine = {o->max_steps, o->resume, o->untrained, r->init != NULL, o->reset_optimizer, o->tokens != NULL,
                         o->validation_tokens != NULL};
    course first = mine;
    const char *host = group_host(r->group, 0), *what = NULL;
    char here[24], there[24];
    rapt_code code = ranks_give(r, &first, sizeof first, err);
    if (code)
        return code;
    if (first.max_steps != mine.max_steps)
        code = rapt_fail(err, RAPT_ERR_VALUE, "--max-steps is %s, and %s on rank 0 (%s)", shown_steps(&mine, here),
                         shown_steps(&first, there), host);
    what = first.resume != mine.resume ? "--resume" : first.untrained != mine.untrained ? "--max-steps 0"
           : first.init != mine.init ? "--init" : first.reset != mine.reset ? "--reset-optimizer"
           : first.tokens != mine.tokens ? "rapt_train_options.tokens"
           : first.validation_tokens != mine.validation_tokens ? "rapt_train_options.validation_tokens" : NULL;
    if (!code && what)
        code = rapt_fail(err, RAPT_ERR_VALUE, "%s is given to only one of this rank and rank 0 (%s)", what, host);
    return ranks_agree(r, code, err);
}

static rapt_code check_shards(const run *r, rapt_error *err)
{
    if (r->ranks <= r->recipe->train.shards)
        return RAPT_OK;
    return rapt_fail(err, RAPT_ERR_VALUE, "%d processes cannot share train.shards %lld: set it to %d or more, and "
                     "train.accumulate at least as high; or start fewer processes", r->ranks,
                     (long long)r->recipe->train.shards, r->ranks);
}

rapt_code handshake_recipe(run *r, rapt_error *err)
{
    if (!r->group)
        return rapt_recipe_check(r->recipe, "the recipe", err);
    rapt_code code = compare_programs(r, err);
    if (!code)
        code = ranks_agree(r, rapt_recipe_check(r->recipe, "the recipe", err), err);
    if (!code)
        code = compare_recipes(r, err);
    if (!code)
        code = compare_courses(r, err);
    return code ? code : ranks_agree(r, check_shards(r, err), err);
}

/* ---- data and numbers ----------------------------------------------------------------------------------------- */

rapt_code handshake_data(run *r, rapt_error *err)
{
    task_input mine[TASK_MAX_INPUTS] = {{0}};
    uint64_t first[TASK_MAX_INPUTS];
    if (!r->group || !r->task->inputs)
        return RAPT_OK;
    r->task->inputs(r, mine);
    for (size_t i = 0; i < TASK_MAX_INPUTS; i++)
        first[i] = mine[i].hash;
    rapt_code code = ranks_give(r, first, sizeof first, err);
    if (code)
        return code;
    for (size_t i = 0; i < TASK_MAX_INPUTS && !code; i++)
        if (first[i] != mine[i].hash)
            code = rapt_fail(err, RAPT_ERR_VALUE, "%s is not the same as on rank 0 (%s): copy it to all machines", mine[i].name,
                             group_host(r->group, 0));
    return ranks_agree(r, code, err);
}

static rapt_code hash_parameters(const rapt_params *set, uint64_t *hash, rapt_error *err)
{
    *hash = rapt_params_size(set);
    return elements_hash(set, true, hash, err);
}

enum { ROWS = 40, INNER = 800, COLUMNS = 56 };

/* Numbers of many sizes and both signs. */
static void fill_numbers(rapt_real *x, size_t count, uint64_t key)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t bits = rng_mix(key, i);
        double size = (double)(1u << (bits & 15)) / 256;
        x[i] = (rapt_real)(((double)(bits >> 11) / 9007199254740992.0 - 0.5) * size);
    }
}

/* A small fixed product on the tape of the run; 0 on out-of-memory. */
static uint64_t hash_product(rapt_tape *t)
{
    rapt_real *a = malloc((size_t)(ROWS + COLUMNS) * INNER * sizeof *a);
    uint64_t hash = 0;
    if (!a)
        return 0;
    rapt_real *b = a + (size_t)ROWS * INNER;
    fill_numbers(a, (size_t)ROWS * INNER, 1);
    fill_numbers(b, (size_t)COLUMNS * INNER, 2);
    rapt_tape_begin(t, (rapt_pass){0});
    rapt_tensor *x = rapt_tape_input(t, 2, (size_t[]){ROWS, INNER}, a, false);
    rapt_tensor *y = rapt_tape_input(t, 2, (size_t[]){INNER, COLUMNS}, b, false);
    const rapt_tensor *product = rapt_op_matmul(t, x, y, false);
    if (rapt_tape_status(t, NULL) == RAPT_OK)
        hash = XXH3_64bits(product->data, rapt_tensor_size(product) * sizeof *product->data);
    free(a);
    return hash;
}

typedef struct numbers {
    char products[32]; /* name of the GEMM kernels */
    uint64_t product, vectors, parameters;
} numbers;

static rapt_code compare_numbers(const run *r, const numbers *mine, const numbers *first, rapt_error *err)
{
    const bool bf16 = r->recipe->train.precision == RAPT_TYPE_BF16;
    const char *host = group_host(r->group, 0);
    if (bf16 && strcmp(mine->products, first->products) != 0)
        return rapt_fail(err, RAPT_ERR_VALUE, "bf16 products are by %s here and by %s on rank 0 (%s), which round differently: "
                         "set RAPT_ISA to what all machines have, or train.precision to fp32", mine->products,
                         quote(first->products).text, host);
    if (mine->product != first->product)
        return rapt_fail(err, RAPT_ERR_VALUE, "a small product by %s has other bits than on rank 0 (%s): one of the two machines "
                         "computes wrongly", mine->products, host);
    if (mine->vectors != first->vectors)
        return rapt_fail(err, RAPT_ERR_VALUE, "the embeddings that train.vectors gives differ from those on rank 0 (%s): copy "
                         "the file to all machines", host);
    if (mine->parameters != first->parameters && r->init)
        return rapt_fail(err, RAPT_ERR_VALUE, "the model in %.200s differs from the one that rank 0 (%s) starts from: copy it to "
                         "all machines", r->init, host);
    if (mine->parameters != first->parameters)
        return rapt_fail(err, RAPT_ERR_VALUE, "the initial parameters differ from those on rank 0 (%s)", host);
    return RAPT_OK;
}

rapt_code handshake_numbers(run *r, rapt_error *err)
{
    if (!r->group)
        return RAPT_OK;
    numbers mine = {.product = hash_product(r->tape), .vectors = r->vectors_hash};
    snprintf(mine.products, sizeof mine.products, "%.31s", rapt_tape_gemm(r->tape));
    numbers first = mine;
    rapt_code code = mine.product ? hash_parameters(r->model->params, &mine.parameters, err)
                                  : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a small product");
    first.parameters = mine.parameters;
    code = ranks_agree(r, code, err);
    if (!code)
        code = ranks_give(r, &first, sizeof first, err);
    return code ? code : ranks_agree(r, compare_numbers(r, &mine, &first, err), err);
}

rapt_code handshake_same_parameters(run *r, rapt_error *err)
{
    if (!r->group)
        return RAPT_OK;
    uint64_t mine = 0;
    rapt_code code = ranks_agree(r, hash_parameters(r->model->params, &mine, err), err);
    uint64_t first = mine;
    code = code ? code : ranks_give(r, &first, sizeof first, err);
    if (code)
        return code;
    if (first != mine)
        code = rapt_fail(err, RAPT_ERR_VALUE, "after step %" PRIu64 " the parameters differ from those on rank 0 (%s): one of "
                         "the two machines, or the network, is faulty%s", r->counters.step, group_host(r->group, 0),
                         r->resumable ? "; the checkpoint of before is kept" : "");
    return ranks_agree(r, code, err);
}
