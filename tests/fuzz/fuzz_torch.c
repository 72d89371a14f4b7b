/* tests/fuzz/fuzz_torch.c: any bytes as a file of torch.save, and as the pickle within one of either format.
 * For libFuzzer: tests/fuzz/run.sh.
 * Not a unit test: it asserts only what holds for every input. */
#define _GNU_SOURCE
#include "fuzz/fuzz.h"

#include "io/torch_image.h"
#include "io/weights/torch_file.h"

typedef struct touched {
    size_t width; /* of an element */
    unsigned sum;
} touched;

/* Reads the first and the last byte of a row, so that the sanitizer sees a wrong pointer. */
static bool touch_row(void *context, const weights_row *row)
{
    touched *t = context;
    t->sum += (unsigned char)row->data[0];
    t->sum += (unsigned char)row->data[((row->count - 1) * row->stride + 1) * t->width - 1];
    return true;
}

static void try_torch(const char *bytes, size_t size)
{
    rapt_error err = {0};
    torch_file f;
    volatile unsigned sum = 0;
    rapt_code code = torch_file_read(&f, "fuzz", bytes, size, &err);
    require_outcome(code == RAPT_OK, &err);
    require((code == RAPT_OK) == (f.tensors != NULL));
    for (size_t i = 0; i < f.count; i++) {
        const weights_tensor *t = &f.tensors[i];
        require(t->bytes == t->elements * safetensors_dtype_bytes(t->dtype) && t->bytes <= size);
        require(!t->row_major || t->bytes == 0 || (t->data >= bytes && t->data + t->bytes <= bytes + size));
        touched seen = {safetensors_dtype_bytes(t->dtype), 0};
        require(weights_tensor_rows(t, touch_row, &seen));
        sum += seen.sum + (unsigned)strlen(t->name);
    }
    (void)sum;
    torch_file_free(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
    static const char storage[64] = {1, 2, 3};
    image pickle = {NULL, 0};
    try_torch((const char *)input, size);
    image_put(&pickle, input, size);
    image file = torch_image(&pickle, storage, sizeof storage);
    try_torch(file.bytes, file.size);
    image_free(&file);
    older_head(&file); /* and as the dict, the list and the data of an older file */
    image_put(&file, input, size);
    try_torch(file.bytes, file.size);
    image_free(&file);
    return 0;
}
