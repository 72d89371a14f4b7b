/* tests/train/tuned_llama.h: runs that tune the tiny Llama of tools/make_hub.py, to which a chat template is given, on the
 * conversations or preferences of a test. To be included after train_folder.h, in a folder of the test. */
#ifndef TESTS_TRAIN_TUNED_LLAMA_H
#define TESTS_TRAIN_TUNED_LLAMA_H

#define CHAT "{% for m in messages %}<|begin|>{{ m.role }}\n{{ m.content }}<|end|>{% endfor %}" \
             "{% if add_generation_prompt %}<|begin|>assistant\n{% endif %}"
#define TURN(role, content) "{\"role\": \"" role "\", \"content\": \"" content "\"}"

/* m: the model with its chat template; `file`: what it is tuned on. */
static inline void put_llama(const char *file, const char *lines)
{
    assert_int_equal(system("cp -r " RAPT_SOURCE_DIR "/tests/golden/hub/llama m && chmod -R u+w m"), 0);
    put("m/chat_template.jinja", CHAT);
    put("m/tokenizer_config.json", "{\"eos_token\": \"<|end|>\"}");
    put(file, lines);
}

/* One step on `data`, a key and a value, with these changes; free it. */
static inline rapt_recipe llama_recipe(const char *data, const char *changes)
{
    rapt_recipe r;
    rapt_recipe_defaults(&r);
    set_all(&r, "task=language_model data.validation_fraction=0 train.init=m model.dropout=0 train.batch=5 train.steps=1 "
                "train.lr=0.001 train.report_every=1 train.schedule=constant train.checkpoint_every=6");
    set_all(&r, data);
    set_all(&r, changes);
    return r;
}

static inline void tune_llama(const char *data, const char *changes, rapt_train_options o)
{
    rapt_error err = {0};
    rapt_recipe r = llama_recipe(data, changes);
    run(&r, o, &err);
    assert_string_equal(err.message, "");
    rapt_recipe_free(&r);
}

/* Runs of 14 steps, in several batches a step and shards, with dropout, that are validated by `lines` in v.jsonl: one that is
 * stopped and resumed, with other threads, is the one that is not, whose folder is left as `whole`. */
static inline void assert_llama_resumes(const char *data, const char *lines, const char *changes, const char *weights)
{
    char all[256], best[64];
    put("v.jsonl", lines);
    snprintf(all, sizeof all, "train.steps=14 train.batch=2 train.report_every=5 data.validation=v.jsonl model.dropout=0.1 "
             "train.accumulate=2 train.shards=2 %s", changes);
    snprintf(best, sizeof best, "best/%s", weights);
    tune_llama(data, all, (rapt_train_options){.out = "whole", .threads = 1});
    tune_llama(data, all, (rapt_train_options){.out = "parts", .max_steps = 7, .threads = 3});
    tune_llama(data, all, (rapt_train_options){.out = "parts", .resume = true, .threads = 2});
    assert_same_bytes("whole", "parts", weights, 0, 0);
    assert_same_bytes("whole", "parts", best, 0, 0);
    assert_same_checkpoint("whole", "parts", 14);
    assert_same_log("whole", "parts");
}

#endif
