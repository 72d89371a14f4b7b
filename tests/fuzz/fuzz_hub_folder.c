/* tests/fuzz/fuzz_hub_folder.c: any bytes as one of the smaller files of a Hugging Face folder: the first byte chooses a
 * golden folder and the file, the others are the file. Weights, config.json and tokenizer.json have fuzzers of their own.
 * For libFuzzer: tests/fuzz/run.sh.
 * Not a unit test: it asserts only what holds for every input. */
#define _GNU_SOURCE
#include "fuzz/fuzz.h"

#include "rapt/io.h"

#include <fcntl.h>

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
};
enum { PLACE_COUNT = sizeof PLACES / sizeof *PLACES };

static char folder[64];

static void run(const char *command)
{
    require(system(command) == 0);
}

static void remove_folder(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    run(command);
}

/* folder/NUMBER for each place: a copy of its golden folder. */
static void make_folders(void)
{
    snprintf(folder, sizeof folder, "%s/rapt-fuzz-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    require(mkdtemp(folder) != NULL);
    atexit(remove_folder);
    for (size_t i = 0; i < PLACE_COUNT; i++) {
        char command[1024];
        snprintf(command, sizeof command, "cp -r '" GOLDEN "%s' '%s/%zu' && chmod -R u+w '%s'", PLACES[i].golden, folder, i,
                 folder);
        run(command);
    }
}

static void put_file(size_t number, const void *bytes, size_t size)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%zu/%s", folder, number, PLACES[number].file);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    require(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
    rapt_error err = {0};
    char path[128], base[1024];
    if (!folder[0])
        make_folders();
    if (size == 0)
        return 0;
    const size_t number = input[0] % PLACE_COUNT;
    const place *p = &PLACES[number];
    put_file(number, input + 1, size - 1);
    snprintf(path, sizeof path, "%s/%zu", folder, number);
    snprintf(base, sizeof base, GOLDEN "%s", p->base ? p->base : "");
    rapt_model *m = rapt_model_load_with(p->base ? base : path, &(rapt_load_options){.adapter = p->base ? path : NULL}, &err);
    require_outcome(m != NULL, &err);
    rapt_model_free(m);
    return 0;
}
