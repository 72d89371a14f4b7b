/* text/gguf/gguf_types.c: the types of tensors in GGUF files, by their ids, and values as numbers. */
#include "text/gguf/gguf_file.h"

#include <stdlib.h>
#include <string.h>

/* ggml_type of ggml.h; ids that are missing were given up. */
static const char *const TENSOR_TYPES[] = {
    [0] = "F32",      [1] = "F16",      [2] = "Q4_0",     [3] = "Q4_1",   [6] = "Q5_0",    [7] = "Q5_1",     [8] = "Q8_0",
    [9] = "Q8_1",     [10] = "Q2_K",    [11] = "Q3_K",    [12] = "Q4_K",  [13] = "Q5_K",   [14] = "Q6_K",    [15] = "Q8_K",
    [16] = "IQ2_XXS", [17] = "IQ2_XS",  [18] = "IQ3_XXS", [19] = "IQ1_S", [20] = "IQ4_NL", [21] = "IQ3_S",   [22] = "IQ2_S",
    [23] = "IQ4_XS",  [24] = "I8",      [25] = "I16",     [26] = "I32",   [27] = "I64",    [28] = "F64",     [29] = "IQ1_M",
    [30] = "BF16",    [34] = "TQ1_0",   [35] = "TQ2_0",   [39] = "MXFP4", [40] = "NVFP4",  [41] = "Q1_0"};
enum { TENSOR_TYPE_COUNT = sizeof TENSOR_TYPES / sizeof *TENSOR_TYPES };

const char *gguf_type_name(int type)
{
    return type >= 0 && type < TENSOR_TYPE_COUNT ? TENSOR_TYPES[type] : NULL;
}

size_t gguf_plain_bytes(int type)
{
    switch (type) {
    case GGUF_PLAIN_I8: return 1;
    case GGUF_PLAIN_F16:
    case GGUF_PLAIN_BF16:
    case GGUF_PLAIN_I16: return 2;
    case GGUF_PLAIN_F32:
    case GGUF_PLAIN_I32: return 4;
    case GGUF_PLAIN_I64:
    case GGUF_PLAIN_F64: return 8;
    default: return 0;
    }
}

/* ---- values as numbers ------------------------------------------------------------------------------------------ */

#define WHOLE_OF(TYPE)                                \
    {                                                 \
        TYPE x;                                       \
        memcpy(&x, v->data + i * sizeof x, sizeof x); \
        *to = (int64_t)x;                             \
        return true;                                  \
    }

bool gguf_whole(const gguf_value *v, size_t i, int64_t *to)
{
    if (i >= v->count)
        return false;
    switch (v->type) {
    case GGUF_U8:
    case GGUF_BOOL: WHOLE_OF(uint8_t)
    case GGUF_I8: WHOLE_OF(int8_t)
    case GGUF_U16: WHOLE_OF(uint16_t)
    case GGUF_I16: WHOLE_OF(int16_t)
    case GGUF_U32: WHOLE_OF(uint32_t)
    case GGUF_I32: WHOLE_OF(int32_t)
    case GGUF_I64: WHOLE_OF(int64_t)
    case GGUF_U64:
        memcpy(to, v->data + i * sizeof *to, sizeof *to);
        return *to >= 0; /* negative: the number is beyond int64_t */
    default: return false;
    }
}

bool gguf_real(const gguf_value *v, size_t i, double *to)
{
    int64_t whole;
    float single;
    if (i >= v->count)
        return false;
    if (v->type == GGUF_F32) {
        memcpy(&single, v->data + i * sizeof single, sizeof single);
        *to = (double)single;
    } else if (v->type == GGUF_F64) {
        memcpy(to, v->data + i * sizeof *to, sizeof *to);
    } else if (gguf_whole(v, i, &whole)) {
        *to = (double)whole;
    } else {
        return false;
    }
    return true;
}

/* ---- texts ------------------------------------------------------------------------------------------------------ */

/* The text whose length is at `at`; it was checked when the file was opened. */
static gguf_text gguf_text_at(const char *at)
{
    uint64_t size;
    memcpy(&size, at, sizeof size);
    return (gguf_text){at + sizeof size, (size_t)size};
}

gguf_text gguf_text_first(const gguf_value *v)
{
    return gguf_text_at(v->data);
}

gguf_text gguf_text_next(const gguf_text *before)
{
    return gguf_text_at(before->data + before->size);
}

char *gguf_text_copy(const gguf_text *text)
{
    char *copy = malloc(text->size + 1);
    if (copy) {
        memcpy(copy, text->data, text->size);
        copy[text->size] = '\0';
    }
    return copy;
}
