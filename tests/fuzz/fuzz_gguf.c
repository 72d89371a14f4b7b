/* tests/fuzz/fuzz_gguf.c: any bytes as a GGUF file: its values and tensors, the configuration and the tokenizer in it, a model.
 * For libFuzzer: tests/fuzz/run.sh.
 * Not a unit test: it asserts only what holds for every input. */
#define _GNU_SOURCE
#include "fuzz/fuzz.h"

#include "io/gguf/gguf_folder.h"
#include "io/weights/weights.h"
#include "rapt/io.h"

/* Reads every number of every tensor, so that the sanitizer sees a wrong pointer. */
static void walk_tensors(const char *path)
{
    weights *w;
    if (weights_open(path, &w, NULL))
        return;
    for (size_t i = 0; i < weights_count(w); i++) {
        const weights_tensor *t = weights_at(w, i);
        float *numbers = malloc(t->elements * sizeof *numbers + 1);
        require(numbers && weights_find(w, t->name) == t);
        weights_read(w, t, numbers, NULL);
        weights_check_finite(w, t, NULL, NULL);
        free(numbers);
    }
    weights_close(w);
}

/* Reads every value. */
static double walk_values(const gguf_file *f)
{
    double sum = 0;
    for (size_t i = 0; i < f->value_count; i++) {
        const gguf_value *v = &f->values[i];
        double x;
        gguf_text text = {"", 0};
        for (size_t k = 0; k < v->count; k++) {
            sum += gguf_real(v, k, &x) ? x : 0;
            if (v->type == GGUF_TEXT)
                text = k ? gguf_text_next(&text) : gguf_text_first(v);
            for (size_t j = 0; j < text.size; j++)
                sum += text.data[j];
        }
    }
    return sum;
}

/* A model, and its tokenizer alone. */
static void load_model(const char *path)
{
    rapt_error err = {0}, why = {0};
    rapt_model *m = rapt_model_load(path, NULL, &err);
    require_outcome(m != NULL, &err);
    rapt_tokenizer *k = rapt_tokenizer_load(path, &why);
    require_outcome(k != NULL, &why);
    rapt_tokenizer_free(k);
    rapt_model_free(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
    char path[64];
    gguf_file *f;
    rapt_error err = {0};
    const int fd = fuzz_file(input, size, path);
    gguf_open(path, &f, &err);
    require_outcome(f != NULL, &err);
    if (f) {
        volatile double sum = walk_values(f);
        (void)sum;
        walk_tensors(path);
        load_model(path);
    }
    gguf_close(f);
    close(fd);
    return 0;
}
