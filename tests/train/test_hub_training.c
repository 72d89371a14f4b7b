/* tests/train/test_hub_training.c: runs of rapt_train that start from Hugging Face folders: their losses against PyTorch's, the
 * folders that they leave, stopped and resumed. tests/golden/hub_training.json is made by tools/compare_finetune.py.
 * labels: not-raced */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "distance.h"
#include "loading.h"
#include "train/train_folder.h"

#include "io/safetensors.h"
#include "io/weights/weights.h"

#include <math.h>

#define GOLDEN RAPT_SOURCE_DIR "/tests/golden/"
enum { LOSSES = 64 };

#define TRANSLATES "task=translation data.text= data.pairs=pairs.tsv model.context=64 train.batch=3"

/* What it doesn't say of the model, the folder does that is trained. */
static rapt_recipe hub_recipe(const char *changes)
{
    rapt_recipe r;
    rapt_recipe_defaults(&r);
    set_all(&r, "task=language_model data.text=text.txt data.validation_fraction=0 model.context=48 model.dropout=0 "
                "train.batch=1 train.lr=0.001 train.weight_decay=0.1 train.beta1=0.9 train.beta2=0.999 train.clip=0 "
                "train.schedule=constant train.warmup=0 train.label_smoothing=0 train.report_every=1 train.checkpoint_every=6");
    set_all(&r, changes);
    return r;
}

static void tune(const char *name, const char *changes, rapt_train_options o)
{
    char init[1024];
    rapt_error err = {0};
    rapt_recipe r = hub_recipe(changes);
    snprintf(init, sizeof init, GOLDEN "%s", name);
    if (strncmp(name, "hub_translation/", 16) == 0)
        set_all(&r, TRANSLATES);
    o.init = o.init ? o.init : init;
    run(&r, o, &err);
    assert_string_equal(err.message, "");
    rapt_recipe_free(&r);
}

/* ---- losses ---------------------------------------------------------------------------------------------------- */

typedef struct losses {
    double loss[LOSSES];
    size_t count;
} losses;

/* A rapt_progress_fn. */
static void keep_loss(void *context, const rapt_progress *p)
{
    losses *l = context;
    if (p->report) {
        assert_true(l->count < LOSSES);
        l->loss[l->count++] = p->loss;
    }
}

/* Within twice the distance of PyTorch's float32 from its float64, where both began at the same file. */
static void compare_losses(const char *name, const json_t *golden)
{
    char changes[64];
    losses ours = {.count = 0};
    const json_t *theirs = json_object_get(golden, "losses");
    const double error = json_number_value(json_object_get(golden, "error"));
    double worst = 0;
    assert_true(error > 0 && error < 1e-4 && json_array_size(theirs) > 10);
    snprintf(changes, sizeof changes, "train.steps=%zu", json_array_size(theirs));
    tune(name, changes, (rapt_train_options){.out = "model", .on_progress = keep_loss, .context = &ours});
    assert_int_equal(system("rm -r model"), 0);
    assert_int_equal(ours.count, json_array_size(theirs));
    for (size_t i = 0; i < ours.count; i++) {
        const double loss = json_number_value(json_array_get(theirs, i));
        worst = fmax(worst, fabs(ours.loss[i] - loss));
        if (!(fabs(ours.loss[i] - loss) <= 2 * error))
            fail_msg("%s: the loss of step %zu is %.9g; PyTorch's is %.9g, its error %.1g", name, i + 1, ours.loss[i], loss,
                     error);
    }
    distance_show(strrchr(name, '/') + 1, "losses", worst, error);
}

/* With what is trained on: text.txt and pairs.tsv. */
static json_t *read_golden(void)
{
    json_error_t where;
    json_t *golden = json_load_file(GOLDEN "hub_training.json", 0, &where), *pair;
    size_t i;
    assert_non_null(golden);
    put("text.txt", json_string_value(json_object_get(golden, "text")));
    FILE *pairs = fopen("pairs.tsv", "w");
    assert_non_null(pairs);
    json_array_foreach(json_object_get(golden, "pairs"), i, pair)
        fprintf(pairs, "%s\t%s\n", json_string_value(json_array_get(pair, 0)), json_string_value(json_array_get(pair, 1)));
    fclose(pairs);
    return golden;
}

static void losses_are_those_of_pytorch(void **state)
{
    (void)state;
    json_t *golden = read_golden(), *one;
    const char *name;
    json_object_foreach(json_object_get(golden, "models"), name, one)
        compare_losses(name, one);
    json_decref(golden);
}

/* ---- what a run leaves ----------------------------------------------------------------------------------------- */

static weights *open_tensors(const char *folder)
{
    weights *w = NULL;
    rapt_error err = {0};
    weights_open(folder, &w, &err);
    assert_string_equal(err.message, "");
    return w;
}

/* The names and shapes that transformers gave the tensors, all in F32; a matrix that is tied may be in its file once more. */
static void assert_same_tensors(const char *folder, const char *golden)
{
    weights *ours = open_tensors(folder), *theirs = open_tensors(golden);
    size_t tied = 0;
    for (size_t i = 0; i < weights_count(theirs); i++) {
        const weights_tensor *a = weights_at(theirs, i), *b = weights_find(ours, a->name);
        const bool missing = !b && strcmp(a->name, "lm_head.weight") == 0;
        tied += missing;
        if (!missing && (!b || b->dtype != SAFETENSORS_F32 || b->ndim != a->ndim ||
                         memcmp(b->shape, a->shape, (size_t)a->ndim * sizeof *a->shape) != 0))
            fail_msg("%s: tensor %s is not as in %s", folder, a->name, golden);
    }
    assert_int_equal(weights_count(ours) + tied, weights_count(theirs));
    weights_close(ours);
    weights_close(theirs);
}

/* Which from_pretrained of transformers 4 asks for. */
static void assert_named_format(const char *folder)
{
    safetensors *file = NULL;
    char *path = file_join(folder, "model.safetensors");
    assert_int_equal(safetensors_open(path, &file, NULL), RAPT_OK);
    assert_string_equal(safetensors_metadata(file, "format"), "pt");
    safetensors_close(file);
    free(path);
}

/* But for the type of the tensors, which from_pretrained gives the model. */
static void assert_same_config(const char *folder, const char *golden)
{
    json_error_t where;
    char *one = file_join(folder, "config.json"), *other = file_join(golden, "config.json");
    json_t *ours = json_load_file(one, 0, &where), *theirs = json_load_file(other, 0, &where);
    const char *key = json_object_get(theirs, "dtype") ? "dtype" : "torch_dtype";
    assert_string_equal(json_string_value(json_object_get(ours, key)), "float32");
    json_object_set(theirs, key, json_object_get(ours, key));
    assert_true(json_equal(ours, theirs));
    json_decref(ours);
    json_decref(theirs);
    free(one);
    free(other);
}

/* Without a step, the values of the file that was read, to the bit; steps change all but what is a buffer of the reference. */
static void assert_same_numbers(const char *folder, const char *golden, bool same)
{
    rapt_error err = {0};
    rapt_model *a = rapt_model_load(folder, NULL, &err), *b = rapt_model_load(golden, NULL, &err);
    assert_string_equal(err.message, "");
    const rapt_params *own = rapt_model_params(a), *others = rapt_model_params(b);
    for (size_t i = 0; i < rapt_params_count(own); i++) {
        const rapt_tensor *x = &rapt_params_at(own, i)->value, *y = &rapt_params_at(others, i)->value;
        if (!rapt_params_at(own, i)->buffer)
            assert_true((memcmp(x->data, y->data, rapt_tensor_size(x) * sizeof *x->data) == 0) ==
                        (same || !x->requires_grad));
    }
    rapt_model_free(a);
    rapt_model_free(b);
}

/* All that say how text becomes tokens and tokens become text. */
static void assert_same_files(const char *folder, const char *golden)
{
    static const char *const names[] = {"tokenizer.json", "generation_config.json", "source.spm", "target.spm", "vocab.json",
                                        "target_vocab.json"};
    size_t same = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *path = file_join(golden, names[i]);
        if (file_exists(path))
            assert_same_bytes(folder, golden, names[i], 0, 0), same++;
        free(path);
    }
    assert_true(same >= 2);
}

static void folders_are_what_transformers_reads(void **state)
{
    (void)state;
    json_t *all = read_golden(), *one;
    const char *name;
    json_object_foreach(json_object_get(all, "models"), name, one)
    {
        char golden[1024];
        snprintf(golden, sizeof golden, GOLDEN "%s", name);
        tune(name, "train.steps=2", (rapt_train_options){.out = "untrained", .untrained = true});
        tune(name, "train.steps=2", (rapt_train_options){.out = "trained"});
        assert_same_tensors("trained", golden);
        assert_same_config("trained", golden);
        assert_named_format("trained");
        assert_same_files("trained", golden);
        assert_same_numbers("untrained", golden, true);
        assert_same_numbers("trained", golden, false);
        assert_int_equal(system("rm -r untrained trained"), 0);
    }
    json_decref(all);
}

/* ---- stopped and resumed, averaged ------------------------------------------------------------------------------ */

static const char SHORT[] = "train.steps=12 train.batch=2 model.context=16 train.report_every=5 data.validation_fraction=0.1 "
                            "model.dropout=0.1 train.accumulate=2 train.shards=2";

static void resumed_is_never_stopped(void **state)
{
    static const char *const models[] = {"hub/gpt2", "hub/qwen2_window"};
    (void)state;
    put_words("text.txt", 300);
    for (size_t i = 0; i < 2; i++) {
        tune(models[i], SHORT, (rapt_train_options){.out = "whole", .threads = 1});
        tune(models[i], SHORT, (rapt_train_options){.out = "parts", .max_steps = 7, .threads = 3});
        tune(models[i], SHORT, (rapt_train_options){.out = "parts", .resume = true, .threads = 2});
        assert_same_model("whole", "parts");
        assert_same_checkpoint("whole", "parts", 12);
        tune(models[i], SHORT, (rapt_train_options){.out = "parts", .resume = true}); /* there is nothing left to do */
        assert_same_model("whole", "parts");
        assert_int_equal(system("rm -r whole parts"), 0);
    }
}

static void an_untrained_folder_is_resumed(void **state)
{
    (void)state;
    put_words("text.txt", 300);
    tune("hub/gpt2", SHORT, (rapt_train_options){.out = "whole"});
    tune("hub/gpt2", SHORT, (rapt_train_options){.out = "later", .untrained = true});
    tune("hub/gpt2", SHORT, (rapt_train_options){.out = "later", .resume = true});
    assert_same_model("whole", "later");
}

/* Parameter by parameter, the mean of the two checkpoints that are kept. */
static void checkpoints_are_averaged(void **state)
{
    (void)state;
    rapt_error err = {0};
    put_words("text.txt", 300);
    tune("hub/llama", SHORT, (rapt_train_options){.out = "whole"});
    assert_int_equal(rapt_average("whole", 0, "mean", &err), RAPT_OK);
    rapt_model *mean = rapt_model_load("mean", NULL, &err), *six = rapt_model_load_checkpoint("whole", 6, &err),
               *twelve = rapt_model_load_checkpoint("whole", 12, &err);
    assert_string_equal(err.message, "");
    for (size_t i = 0; i < rapt_params_count(rapt_model_params(mean)); i++) {
        const rapt_tensor *x = &rapt_params_at(rapt_model_params(mean), i)->value;
        const rapt_real *a = rapt_params_at(rapt_model_params(six), i)->value.data;
        const rapt_real *b = rapt_params_at(rapt_model_params(twelve), i)->value.data;
        for (size_t j = 0; j < rapt_tensor_size(x); j++)
            assert_true(x->data[j] == (rapt_real)(((double)a[j] + (double)b[j]) / 2));
    }
    rapt_model_free(mean);
    rapt_model_free(six);
    rapt_model_free(twelve);
    assert_same_tensors("mean", GOLDEN "hub/llama");
}

/* What was trained is fine-tuned again. */
static void a_run_starts_from_a_run(void **state)
{
    (void)state;
    put_words("text.txt", 300);
    tune("hub/qwen2", SHORT, (rapt_train_options){.out = "first"});
    tune("hub/qwen2", SHORT, (rapt_train_options){.out = "second", .init = "first"});
    assert_same_tensors("second", GOLDEN "hub/qwen2");
    assert_false(same_parameters("first", "second"));
}

/* With greedy translations of the validation set, by the folder's tokenizers: the same bits with any number of threads, stopped
 * and resumed. */
static void translators_are_resumed(void **state)
{
    static const char changes[] = "train.steps=12 train.report_every=5 data.validation=pairs.tsv train.eval_bleu=true "
                                  "model.dropout=0.1 train.label_smoothing=0.1";
    (void)state;
    json_decref(read_golden());
    tune("hub_translation/marian", changes, (rapt_train_options){.out = "whole", .threads = 1});
    tune("hub_translation/marian", changes, (rapt_train_options){.out = "parts", .max_steps = 7, .threads = 3});
    tune("hub_translation/marian", changes, (rapt_train_options){.out = "parts", .resume = true, .threads = 2});
    assert_same_bytes("whole", "parts", "model.safetensors", 0, 0);
    assert_same_bytes("whole", "parts", "best/model.safetensors", 0, 0);
    assert_same_log("whole", "parts");
    assert_true(last_figure("whole", "val_bleu") >= 0);
    assert_same_tensors("whole/best", GOLDEN "hub_translation/marian");
}

/* ---- refused ---------------------------------------------------------------------------------------------------- */

static void assert_not_tuned(const char *name, const char *changes, const char *reason)
{
    char init[1024];
    rapt_error err = {0};
    rapt_recipe r = hub_recipe(changes);
    snprintf(init, sizeof init, GOLDEN "%s", name);
    assert_int_equal(run(&r, (rapt_train_options){.out = "refused", .init = init}, &err), RAPT_ERR_VALUE);
    if (!strstr(err.message, reason))
        fail_msg("%s", err.message);
    assert_false(file_exists("refused/config.json"));
    rapt_recipe_free(&r);
}

static void what_is_not_trained_is_refused(void **state)
{
    (void)state;
    put_words("text.txt", 300);
    assert_not_tuned("hub/gpt2", "model.context=65", "model.context is 65; the model in " GOLDEN "hub/gpt2 has 64 positions");
    assert_not_tuned("hub/gpt2", "model.layers=7", "model.layers is 7; the model in");
    put("pairs.tsv", ">>deu<< go\tgeh\n>>xyz<< go\tgeh\n");
    assert_not_tuned("hub_translation/marian", TRANSLATES, "pairs.tsv:2: ");
    assert_not_tuned("hub_translation/t5", TRANSLATES, "of type t5, which rapt runs, but does not train; it trains gpt2, ");
    assert_not_tuned("hub/gpt2", "tokenizer.type=bpe", "tokenizer.type is bpe; the model in");
    assert_int_equal(system("mkdir -p refused && echo {} >refused/generation_config.json"), 0);
    assert_not_tuned("hub/gpt2", "", "refused holds generation_config.json, as the model in");
}

static void models_for_inference_are_not_saved(void **state)
{
    (void)state;
    rapt_error err = {0};
    rapt_model *m = load_inference(GOLDEN "hub/gpt2", RAPT_TASK_LANGUAGE_MODEL, &err);
    assert_non_null(m);
    assert_int_equal(rapt_model_save(m, "saved", &err), RAPT_ERR_VALUE);
    assert_non_null(strstr(err.message, "loaded for inference"));
    assert_false(file_exists("saved/config.json"));
    rapt_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(losses_are_those_of_pytorch), IN_FOLDER(folders_are_what_transformers_reads),
        IN_FOLDER(resumed_is_never_stopped), IN_FOLDER(an_untrained_folder_is_resumed), IN_FOLDER(checkpoints_are_averaged),
        IN_FOLDER(a_run_starts_from_a_run), IN_FOLDER(translators_are_resumed), IN_FOLDER(what_is_not_trained_is_refused),
        IN_FOLDER(models_for_inference_are_not_saved)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
