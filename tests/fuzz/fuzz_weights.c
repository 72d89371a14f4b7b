/* tests/fuzz/fuzz_weights.c: any text as the index of two shards, and any bytes as a shard. The input is the index, a NUL, and
 * the first shard; the second one has tensors "c" and "d".
 * For libFuzzer: tests/fuzz/run.sh.
 * Not a unit test: it asserts only what holds for every input. */
#define _GNU_SOURCE
#include "fuzz/fuzz.h"

#include "io/weights/weights.h"


static void make_folder(void)
{
    static const float numbers[2] = {1, 2};
    static const safetensors_entry entries[2] = {{"c", SAFETENSORS_F32, 1, {2}, numbers, 8},
                                                 {"d", SAFETENSORS_F16, 2, {2, 2}, numbers, 8}};
    char path[128];
    fuzz_folder_make();
    snprintf(path, sizeof path, "%s/b", fuzz_folder);
    require(safetensors_write(path, entries, 2, NULL, NULL) == RAPT_OK);
}

/* Every number of every tensor is read. */
static void read_tensors(const weights *w)
{
    for (size_t i = 0; i < weights_count(w); i++) {
        const weights_tensor *t = weights_at(w, i);
        rapt_error err = {0};
        float *values = malloc((t->elements + 1) * sizeof *values);
        require(values && weights_find(w, t->name) == t && t->file < weights_file_count(w));
        require_outcome(weights_read(w, t, values, &err) == RAPT_OK, &err);
        rapt_error bad = {0};
        require_outcome(weights_check_finite(w, t, NULL, &bad) == RAPT_OK, &bad);
        free(values);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
    rapt_error err = {0};
    weights *w;
    const size_t index = size > 0 ? strnlen((const char *)input, size) : 0;
    if (!fuzz_folder[0])
        make_folder();
    fuzz_put("model.safetensors.index.json", input, index);
    fuzz_put("a", input + index + (index < size), size - index - (index < size));
    rapt_code code = weights_open(fuzz_folder, &w, &err);
    require_outcome(code == RAPT_OK, &err);
    require((code == RAPT_OK) == (w != NULL));
    if (w) {
        read_tensors(w);
        require(weights_parameters(w) < size + 100);
    }
    weights_close(w);
    return 0;
}
