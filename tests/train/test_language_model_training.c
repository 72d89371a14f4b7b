/* tests/train/test_language_model_training.c: runs of rapt_train on a text: stopped and resumed, with any number of
 * threads, with gathered gradients, from another model; the samples and the validation loss against what the saved model
 * says. What is refused is in test_language_model_refusals.c.
 * labels: not-raced */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "loading.h"
#include "options.h"
#include "train/train_folder.h"

#include "train/same_runs.h"

#include "rapt/generate.h"
#include "rapt/stream.h"

#include <math.h>

/* Between them: gradients that are made late, embeddings of which few rows are used (kinds.txt: 700 rows, 16 tokens a
 * step), tied ones, gathered batches, dropout, decay, and all kinds of blocks. */
static const char *const variants[] = {
    "data.text=kinds.txt train.weight_decay=0.1 model.output_bias=true",
    "data.text=kinds.txt train.accumulate=3 train.weight_decay=0.1",
    "data.text=kinds.txt train.lazy=true",
    "data.text=kinds.txt model.tied=true train.beta1=0",
    "model.norm_place=pre model.norm_kind=rms model.ffn_kind=swiglu model.positions=rotary model.kv_heads=1 model.bias=false "
    "model.tied=true model.init=gpt2 model.dropout=0.2 train.accumulate=2 train.schedule=cosine train.warmup=4",
    "tokenizer.type=bpe tokenizer.vocab_size=300 model.positions=learned model.norm_place=pre model.ffn_kind=gelu "
    "train.label_smoothing=0.1 train.clip=0.1 data.validation_tokens=40",
};
#define VARIANTS (sizeof variants / sizeof *variants)

/* ---- resuming -------------------------------------------------------------------------------------------------- */

static void resumed_is_never_stopped(void **state)
{
    (void)state;
    assert_same_resumed(variants, VARIANTS);
    for (size_t i = 0; i < VARIANTS; i++) { /* there is nothing left to do */
        char whole[16], parts[16];
        snprintf(whole, sizeof whole, "whole%zu", i);
        snprintf(parts, sizeof parts, "parts%zu", i);
        train(variants[i], (rapt_train_options){.out = parts, .resume = true});
        assert_same_model(whole, parts);
    }
}

/* What the variants above count on: kinds.txt has rows that a step doesn't use, text.txt hasn't. Only there is `lazy`
 * another rule. */
static void few_rows_are_used(void **state)
{
    (void)state;
    put_texts();
    train("data.text=kinds.txt", (rapt_train_options){.out = "exact"});
    train("data.text=kinds.txt train.lazy=true", (rapt_train_options){.out = "lazy"});
    assert_false(same_parameters("exact", "lazy"));
    train("", (rapt_train_options){.out = "exact-dense"});
    train("train.lazy=true", (rapt_train_options){.out = "lazy-dense"});
    assert_true(same_parameters("exact-dense", "lazy-dense"));
}

/* Rows that no step uses stay behind for hundreds of steps; a checkpoint brings them up to date, and nothing changes. */
static void rows_that_are_rarely_used(void **state)
{
    (void)state;
    static const char changes[] = "data.text=kinds.txt train.steps=560 train.weight_decay=0.05 train.batch=1 "
                                  "train.checkpoint_every=1000 train.report_every=1000 model.layers=1 "
                                  "data.validation_fraction=0.2";
    put_texts();
    train(changes, (rapt_train_options){.out = "whole"});
    train(changes, (rapt_train_options){.out = "parts", .max_steps = 270});
    train(changes, (rapt_train_options){.out = "parts", .max_steps = 555, .resume = true});
    train(changes, (rapt_train_options){.out = "parts", .resume = true});
    assert_same_model("whole", "parts");
    assert_same_checkpoint("whole", "parts", 560);
}

/* The folder keeps all that is needed, so that its own recipe trains the same model from any place. */
static void a_folder_s_recipe_trains_it_again(void **state)
{
    (void)state;
    rapt_recipe r;
    rapt_error err = {0};
    put_texts();
    assert_int_equal(file_make_dir("deep/er", NULL), RAPT_OK);
    train("data.text=text.txt:kinds.txt", (rapt_train_options){.out = "deep/er/model"});
    assert_int_equal(rapt_recipe_read("deep/er/model/recipe.yaml", &r, &err), RAPT_OK);
    assert_int_equal(chdir("deep"), 0);
    assert_int_equal(run(&r, (rapt_train_options){.out = "again"}, &err), RAPT_OK);
    assert_same_model("er/model", "again");
    assert_same_bytes("er/model", "again", "text.txt", 0, 0);
    rapt_recipe_free(&r);
}

/* ---- threads --------------------------------------------------------------------------------------------------- */

/* Large enough that threads share the work, and no size a multiple of what they share. */
static void the_same_bytes_with_any_threads(void **state)
{
    (void)state;
    put_texts();
    for (size_t i = 0; i < VARIANTS; i++) {
        char changes[512], one[16];
        snprintf(changes, sizeof changes, "model.d_model=44 model.ffn=83 model.context=23 train.batch=5 train.steps=6 %s",
                 variants[i]);
        snprintf(one, sizeof one, "one%zu", i);
        train(changes, (rapt_train_options){.out = one, .threads = 1});
        for (int threads = 2; threads <= 7; threads += threads == 3 ? 4 : 1) {
            char more[32];
            snprintf(more, sizeof more, "threads%zu-%d", i, threads);
            train(changes, (rapt_train_options){.out = more, .threads = threads});
            assert_same_model(one, more);
            assert_same_checkpoint(one, more, 6);
        }
        char other[576];
        snprintf(other, sizeof other, "%s seed=8", changes);
        train(other, (rapt_train_options){.out = "other"});
        assert_false(same_parameters(one, "other"));
        assert_int_equal(system("rm -rf other"), 0);
    }
}

/* ---- gathered gradients ------------------------------------------------------------------------------------------- */

/* The largest difference between two models' parameters, by their own reader. */
static double distance(const char *a, const char *b)
{
    rapt_error err = {0};
    rapt_model *x = rapt_model_load(a, NULL, &err), *y = rapt_model_load(b, NULL, &err);
    double largest = 0;
    assert_string_equal(err.message, "");
    for (size_t i = 0; i < rapt_params_count(rapt_model_params(x)); i++) {
        const rapt_tensor *p = &rapt_params_at(rapt_model_params(x), i)->value;
        const rapt_tensor *q = &rapt_params_at(rapt_model_params(y), i)->value;
        for (size_t j = 0; j < rapt_tensor_size(p); j++)
            largest = fmax(largest, fabs((double)p->data[j] - (double)q->data[j]));
    }
    rapt_model_free(x);
    rapt_model_free(y);
    return largest;
}

/* A text of one window: every batch has the same rows, so that 8 at once and 8 gathered have one gradient. With eps 1 a
 * step is nearly proportional to it; Adam's usual step has the gradient's sign, and hides its size. */
static void gathered_windows_are_one_batch(void **state)
{
    (void)state;
    static const char base[] = "data.validation_fraction=0 train.steps=4 train.lr=1 train.eps=1 train.clip=0 "
        "train.report_every=1";
    static const char *const ways[] = {"train.batch=8", "train.batch=2 train.accumulate=4", "train.batch=1 train.accumulate=8"};
    char changes[256];
    put("text.txt", "abcdefgh.");
    for (size_t i = 0; i < 3; i++) {
        snprintf(changes, sizeof changes, "%s %s", base, ways[i]);
        train(changes, (rapt_train_options){.out = i == 0 ? "one" : i == 1 ? "four" : "eight"});
    }
    assert_true(fabs(last_figure("one", "loss") - last_figure("four", "loss")) < 1e-6);
    assert_true(fabs(last_figure("one", "grad_norm") - last_figure("eight", "grad_norm")) < 1e-5);
    assert_true(distance("one", "four") < 1e-5 && distance("one", "eight") < 1e-5);
    train("data.validation_fraction=0 train.steps=3 train.lr=1 train.eps=1 train.clip=0 train.report_every=1 train.batch=8",
          (rapt_train_options){.out = "shorter"});
    assert_true(distance("one", "shorter") > 0.01); /* so a step is no small thing */
}

/* 30 pairs of 1 to 10 words. */
static void put_pairs(void)
{
    FILE *f = fopen("pairs.tsv", "w");
    assert_non_null(f);
    for (int i = 0; i < 30; i++) {
        for (int j = 0; j <= i / 3; j++)
            fprintf(f, "w%d ", (i + j) % 7);
        fprintf(f, "\t");
        for (int j = 0; j <= i / 3; j++)
            fprintf(f, "v%d ", (i * 3 + j) % 5);
        fprintf(f, "\n");
    }
    fclose(f);
}

static void train_pairs(const char *changes, const char *out)
{
    rapt_recipe r;
    rapt_error err = {0};
    rapt_recipe_defaults(&r);
    set_all(&r, "data.pairs=pairs.tsv model.layers=1 model.d_model=16 model.heads=2 model.ffn=24 model.dropout=0 "
                "train.steps=3 train.lr=1 train.eps=1 train.clip=0 train.report_every=1 tokenizer.type=words "
                "data.validation_fraction=0 "
                "train.label_smoothing=0 train.schedule=constant train.warmup=0");
    set_all(&r, changes);
    run(&r, (rapt_train_options){.out = out}, &err);
    assert_string_equal(err.message, "");
    rapt_recipe_free(&r);
}

/* Each step of these runs sees all pairs; sentences of like length share a batch, so that the batches which are gathered
 * have very different numbers of tokens: a mean of their means would be another gradient. */
static void each_token_weighs_the_same(void **state)
{
    (void)state;
    put_pairs();
    train_pairs("train.batch=30", "one");
    train_pairs("train.batch=10 train.accumulate=3", "three");
    train_pairs("train.batch=20 train.accumulate=2", "uneven");
    train_pairs("train.batch=10", "parts"); /* a third of the tokens a step */
    assert_true(fabs(last_figure("one", "loss") - last_figure("three", "loss")) < 1e-5);
    assert_true(fabs(last_figure("one", "grad_norm") - last_figure("three", "grad_norm")) < 1e-5);
    assert_true(distance("one", "three") < 1e-5 && distance("one", "uneven") < 1e-5);
    assert_true(distance("one", "parts") > 0.01);
}

/* ---- samples ---------------------------------------------------------------------------------------------------- */

typedef struct samples {
    uint64_t steps[8];
    char texts[8][512];
    size_t count;
} samples;

static void keep_sample(void *context, uint64_t step, const char *text)
{
    samples *s = context;
    assert_true(s->count < 8);
    s->steps[s->count] = step;
    snprintf(s->texts[s->count++], sizeof s->texts[0], "%s", text);
}

/* The prompt, and what the saved model says after it. */
static void assert_generated(const char *folder, const char *prompt, size_t tokens, const char *text)
{
    rapt_error err = {0};
    rapt_model *m = load_task(folder, RAPT_TASK_LANGUAGE_MODEL, &err);
    rapt_generate_options o = {GENERATE_DEFAULTS, .sample = {SAMPLE_DEFAULTS, .temperature = 0.8, .top_k = 200, .seed = 7},
                               .max_tokens = tokens,
                               .compute.threads = 1};
    rapt_generated wanted;
    rapt_generate(m, prompt, &o, &wanted, &err);
    assert_string_equal(err.message, "");
    assert_memory_equal(text, prompt, strlen(prompt));
    assert_string_equal(text + strlen(prompt), wanted.text);
    rapt_generated_free(&wanted);
    rapt_model_free(m);
}

static samples train_and_listen(const char *changes, const char *out, int threads, uint64_t max_steps)
{
    samples s = {0};
    train(changes, (rapt_train_options){.out = out, .threads = threads, .max_steps = max_steps, .on_sample = keep_sample,
                                        .context = &s});
    return s;
}

/* The rate is high, so that rows which are behind would be noticed. */
static void samples_come(void **state)
{
    (void)state;
    static const char changes[] = "data.text=kinds.txt train.lr=0.05 train.weight_decay=0.5 train.sample_every=8 "
                                  "train.sample_tokens=12 train.sample_prompt=\xE4\xB8\x80";
    put_texts();
    samples first = train_and_listen(changes, "first", 1, 0), again = train_and_listen(changes, "again", 3, 0);
    assert_int_equal(first.count, 3);
    assert_true(first.steps[0] == 8 && first.steps[1] == 16 && first.steps[2] == 24);
    assert_int_equal(strlen(first.texts[0]), 3 * (1 + 12));
    assert_string_not_equal(first.texts[0], first.texts[2]); /* the model has learned since */
    assert_memory_equal(&first, &again, sizeof first);
    again = train_and_listen(changes, "stopped", 0, 16); /* a step without a report */
    assert_int_equal(again.count, 2);
    assert_string_equal(again.texts[1], first.texts[1]);
    assert_generated("stopped", "\xE4\xB8\x80", 12, first.texts[1]);
    assert_generated("first", "\xE4\xB8\x80", 12, first.texts[2]);
    train("data.text=kinds.txt train.lr=0.05 train.weight_decay=0.5", (rapt_train_options){.out = "silent"});
    assert_true(same_parameters("first", "silent")); /* looking at a model doesn't change it */
    first = train_and_listen("train.sample_every=24 train.sample_tokens=5", "line", 0, 0);
    assert_generated("line", "\n", 5, first.texts[0]);
}

/* ---- the validation loss ------------------------------------------------------------------------------------------- */

/* -log p of the token after `count` ones, in double, by a pass over those alone. */
static double surprise(rapt_tape *t, const rapt_lm *m, const int32_t *ids, size_t count)
{
    rapt_tape_begin(t, (rapt_pass){0});
    const rapt_tensor *logits = rapt_lm_forward(t, m, (rapt_tokens){ids, 1, count});
    const rapt_real *x = logits->data + (count - 1) * m->config.vocab;
    double sum = 0;
    assert_int_equal(rapt_tape_error(t)->code, RAPT_OK);
    for (size_t i = 0; i < m->config.vocab; i++)
        sum += exp((double)x[i]);
    return log(sum) - (double)x[ids[count]];
}

/* Windows one after the other over tokens begin .. end - 1; each but the first of them is foretold once. */
static double loss_by_hand(const char *folder, const char *path, double held_out, size_t eval_tokens)
{
    rapt_error err = {0};
    rapt_model *m = load_task(folder, RAPT_TASK_LANGUAGE_MODEL, &err);
    rapt_tape *t = rapt_tape_new(&(rapt_compute){.threads = 1}, &err);
    size_t size, count, context = rapt_model_language(m)->net->config.context;
    char *text = get(".", path, &size);
    int32_t *ids;
    rapt_tokenizer_encode_bytes(rapt_model_language(m)->tokenizer, text, size, NULL, &ids, &count, &err);
    assert_string_equal(err.message, "");
    size_t begin = (size_t)floor((double)count * (1 - held_out)), end = count;
    if (eval_tokens > 0)
        end = begin + eval_tokens + 1;
    double nll = 0;
    for (size_t i = begin + 1; i < end; i++) {
        size_t start = begin + (i - 1 - begin) / context * context;
        nll += surprise(t, rapt_model_language(m)->net, ids + start, i - start);
    }
    free(ids);
    free(text);
    rapt_tape_free(t);
    rapt_model_free(m);
    return nll / (double)(end - begin - 1);
}

static void assert_held_out(const char *changes, const char *path, double held_out, size_t eval_tokens)
{
    train(changes, (rapt_train_options){.out = "m"});
    double said = last_figure("m", "val_loss"), is = loss_by_hand("m", path, held_out, eval_tokens);
    if (!(fabs(said - is) < 1e-6))
        fail_msg("%s: the log says %.9f, the model %.9f", changes, said, is);
    assert_int_equal(system("rm -rf m"), 0);
}

static void held_out_loss_is_the_model_s(void **state)
{
    (void)state;
    put_texts();
    assert_held_out("", "text.txt", 0.1, 0);
    assert_held_out("model.dropout=0.3 train.label_smoothing=0.2 data.validation_fraction=0.25", "text.txt", 0.25, 0);
    assert_held_out("data.validation_tokens=37 data.validation_fraction=0.3 train.batch=4", "text.txt", 0.3, 37);
    assert_held_out("data.text=kinds.txt train.weight_decay=0.1", "kinds.txt", 0.1, 0);
    assert_held_out("tokenizer.type=bpe tokenizer.vocab_size=280 model.positions=rotary", "text.txt", 0.1, 0);
}

/* ---- from another model ------------------------------------------------------------------------------------------------- */

/* But for the run that they name. */
static void assert_same_config(const char *a, const char *b)
{
    size_t size;
    char *x = get(a, "config.json", &size), *y = get(b, "config.json", &size);
    json_t *one = json_loads(x, 0, NULL), *other = json_loads(y, 0, NULL);
    assert_false(json_equal(one, other));
    assert_true(json_object_del(one, "run") == 0 && json_object_del(other, "run") == 0);
    assert_true(json_equal(one, other));
    json_decref(one);
    json_decref(other);
    free(x);
    free(y);
}

/* A rate so small that no parameter moves: what was loaded is what is saved. */
static void init_takes_the_model_whole(void **state)
{
    (void)state;
    static const char still[] = "train.lr=1e-30 train.steps=2 train.report_every=2";
    put_texts();
    train("", (rapt_train_options){.out = "base"});
    train(still, (rapt_train_options){.out = "still", .init = "base"});
    assert_same_bytes("base", "still", "tokenizer.json", 0, 0);
    assert_same_config("base", "still");
    assert_true(same_parameters("base", "still"));
    assert_true(last_figure("base", "val_loss") == last_figure("still", "val_loss"));
    train("model.context=4 model.dropout=0.2", (rapt_train_options){.out = "shorter", .init = "base"}); /* fits */
    assert_false(same_parameters("base", "shorter"));
    train("train.steps=40", (rapt_train_options){.out = "more", .init = "base"});
    train("train.steps=40", (rapt_train_options){.out = "parts", .init = "base", .max_steps = 11});
    train("train.steps=40", (rapt_train_options){.out = "parts", .init = "base", .resume = true});
    assert_same_model("more", "parts");
    assert_true(last_figure("more", "val_loss") < last_figure("base", "val_loss"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(resumed_is_never_stopped),
        IN_FOLDER(few_rows_are_used),
        IN_FOLDER(rows_that_are_rarely_used),
        IN_FOLDER(a_folder_s_recipe_trains_it_again),
        IN_FOLDER(the_same_bytes_with_any_threads),
        IN_FOLDER(gathered_windows_are_one_batch),
        IN_FOLDER(each_token_weighs_the_same),
        IN_FOLDER(samples_come),
        IN_FOLDER(held_out_loss_is_the_model_s),
        IN_FOLDER(init_takes_the_model_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
