/* tests/fuzz/fuzz_hub_folder.c: any bytes as one of the smaller files of a Hugging Face folder: the first byte chooses a
 * golden folder and the file, the others are the file. Weights, config.json and tokenizer.json have fuzzers of their own.
 * For libFuzzer: tests/fuzz/run.sh.
 * Not a unit test: it asserts only what holds for every input. */
#define _GNU_SOURCE
#include "fuzz/fuzz.h"

#include "loading.h"
#include "rapt/io.h"

#define GOLDEN RAPT_SOURCE_DIR "/tests/golden/"

typedef struct place {
    const char *golden, *file;
    const char *base; /* of a folder of adapters */
} place;

static const place PLACES[] = {
    {"hub_encoder/bert_4", "vocab.txt", NULL},
    {"hub_encoder/bert_4", "tokenizer_config.json", NULL},
    {"hub_encoder/bert_sentence", "modules.json", NULL},
    {"hub_encoder/bert_sentence", "1_Pooling/config.json", NULL},
    {"hub_encoder/bert_sentence", "sentence_bert_config.json", NULL},
    {"hub_encoder/bert_sentence", "config_sentence_transformers.json", NULL},
    {"hub_translation/marian", "vocab.json", NULL},
    {"hub_translation/marian_4", "target_vocab.json", NULL},
    {"adapters/gpt2", "adapter_config.json", "hub/gpt2"},
    {"adapters/qwen2", "adapter_model.safetensors", "hub/qwen2"},
    {"adapters/saved", "adapter_config.json", "hub/llama3"},
    {"adapters/dora", "adapter_model.safetensors", "hub/qwen2"},
};
enum { PLACE_COUNT = sizeof PLACES / sizeof *PLACES };

/* NUMBER/ for each place: a copy of its golden folder. */
static void make_folders(void)
{
    fuzz_folder_make();
    for (size_t i = 0; i < PLACE_COUNT; i++) {
        char command[1024];
        snprintf(command, sizeof command, "cp -r '" GOLDEN "%s' '%s/%zu' && chmod -R u+w '%s'", PLACES[i].golden, fuzz_folder,
                 i, fuzz_folder);
        fuzz_run(command);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
    rapt_error err = {0};
    char name[128], path[128], base[1024];
    if (!fuzz_folder[0])
        make_folders();
    if (size == 0)
        return 0;
    const size_t number = input[0] % PLACE_COUNT;
    const place *p = &PLACES[number];
    snprintf(name, sizeof name, "%zu/%s", number, p->file);
    fuzz_put(name, input + 1, size - 1);
    snprintf(path, sizeof path, "%s/%zu", fuzz_folder, number);
    snprintf(base, sizeof base, GOLDEN "%s", p->base ? p->base : "");
    rapt_model *m = load_adapted(p->base ? base : path, p->base ? path : NULL, &err);
    require_outcome(m != NULL, &err);
    rapt_model_free(m);
    return 0;
}
