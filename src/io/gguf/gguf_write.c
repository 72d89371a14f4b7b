/* io/gguf/gguf_write.c: writes keys and tensors. */
#include "io/gguf/gguf_write.h"

#include "base/file.h"
#include "tensor/blocks_write.h"
#include "text/gguf/gguf_file.h"

#include <stdlib.h>
#include <string.h>

enum { VERSION = 3, ALIGNMENT = 32, PORTION = 1 << 20 }; /* PORTION: numbers that are read at once, but at least one row */

const block_format GGUF_WRITE_F32 = {"F32", 0, 1, 4, NULL, blocks_write_f32};
const block_format GGUF_WRITE_F16 = {"F16", 1, 1, 2, NULL, blocks_write_f16};
const block_format GGUF_WRITE_BF16 = {"BF16", 30, 1, 2, NULL, blocks_write_bf16};

/* ---- keys ----------------------------------------------------------------------------------------------------- */

static void gguf_keys_put_type(gguf_keys *k, gguf_type type)
{
    const uint32_t number = type;
    buffer_put(&k->out, &number, sizeof number);
}

static void gguf_keys_begin(gguf_keys *k, const char *key, gguf_type type)
{
    gguf_keys_add_text(k, key, strlen(key));
    gguf_keys_put_type(k, type);
    k->count++;
}

static void gguf_keys_begin_array(gguf_keys *k, const char *key, gguf_type type, uint64_t count)
{
    gguf_keys_begin(k, key, GGUF_ARRAY);
    gguf_keys_put_type(k, type);
    buffer_put(&k->out, &count, sizeof count);
}

void gguf_keys_free(gguf_keys *k)
{
    buffer_free(&k->out.bytes);
}

void gguf_keys_u32(gguf_keys *k, const char *key, uint32_t value)
{
    gguf_keys_begin(k, key, GGUF_U32);
    buffer_put(&k->out, &value, sizeof value);
}

void gguf_keys_f32(gguf_keys *k, const char *key, float value)
{
    gguf_keys_begin(k, key, GGUF_F32);
    gguf_keys_add_f32(k, value);
}

void gguf_keys_bool(gguf_keys *k, const char *key, bool value)
{
    gguf_keys_begin(k, key, GGUF_BOOL);
    gguf_keys_add_bool(k, value);
}

void gguf_keys_text(gguf_keys *k, const char *key, const char *value)
{
    gguf_keys_begin(k, key, GGUF_TEXT);
    gguf_keys_add_text(k, value, strlen(value));
}

void gguf_keys_begin_i32s(gguf_keys *k, const char *key, size_t count)
{
    gguf_keys_begin_array(k, key, GGUF_I32, count);
}

void gguf_keys_begin_f32s(gguf_keys *k, const char *key, size_t count)
{
    gguf_keys_begin_array(k, key, GGUF_F32, count);
}

void gguf_keys_begin_bools(gguf_keys *k, const char *key, size_t count)
{
    gguf_keys_begin_array(k, key, GGUF_BOOL, count);
}

void gguf_keys_begin_texts(gguf_keys *k, const char *key, size_t count)
{
    gguf_keys_begin_array(k, key, GGUF_TEXT, count);
}

void gguf_keys_add_i32(gguf_keys *k, int32_t value)
{
    buffer_put(&k->out, &value, sizeof value);
}

void gguf_keys_add_f32(gguf_keys *k, float value)
{
    buffer_put(&k->out, &value, sizeof value);
}

void gguf_keys_add_bool(gguf_keys *k, bool value)
{
    const uint8_t byte = value;
    buffer_put(&k->out, &byte, sizeof byte);
}

void gguf_keys_add_text(gguf_keys *k, const char *value, size_t size)
{
    const uint64_t length = size;
    buffer_put(&k->out, &length, sizeof length);
    buffer_put(&k->out, value, size);
}

/* ---- tensors -------------------------------------------------------------------------------------------------- */

static size_t gguf_written_bytes(const gguf_written *t)
{
    return t->rows * (t->columns / t->format->elements) * t->format->bytes;
}

static size_t gguf_aligned(size_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static rapt_code gguf_write_check(const char *path, const gguf_written *tensors, size_t count, rapt_error *err)
{
    for (const gguf_written *t = tensors; t < tensors + count; t++) {
        if (strlen(t->name) >= GGUF_WRITE_NAME)
            return rapt_fail(err, RAPT_ERR_VALUE, "%s: the name of tensor \"%s\" is too long for GGUF", path, t->name);
        if (t->columns % t->format->elements)
            return rapt_fail(err, RAPT_ERR_VALUE, "%s: tensor \"%s\" has rows of %zu numbers; %s takes multiples of %zu", path,
                             t->name, t->columns, t->format->name, t->format->elements);
    }
    return RAPT_OK;
}

/* Writes the part before the data to `head`: the keys' count and bytes, and the tensors. */
static void gguf_put_head(gguf_keys *head, const gguf_keys *keys, const gguf_written *tensors, uint64_t count)
{
    const uint32_t version = VERSION;
    uint64_t offset = 0;
    buffer_put(&head->out, "GGUF", 4);
    buffer_put(&head->out, &version, sizeof version);
    buffer_put(&head->out, &count, sizeof count);
    buffer_put(&head->out, &keys->count, sizeof keys->count);
    buffer_put(&head->out, keys->out.bytes.data, keys->out.bytes.size);
    for (const gguf_written *t = tensors; t < tensors + count; t++) {
        const uint64_t columns = t->columns, rows = t->rows;
        const uint32_t ndim = (uint32_t)t->ndim, format = (uint32_t)t->format->id;
        gguf_keys_add_text(head, t->name, strlen(t->name));
        buffer_put(&head->out, &ndim, sizeof ndim);
        if (t->ndim == 2)
            buffer_put(&head->out, &columns, sizeof columns);
        buffer_put(&head->out, &rows, sizeof rows);
        buffer_put(&head->out, &format, sizeof format);
        buffer_put(&head->out, &offset, sizeof offset);
        offset += gguf_aligned(gguf_written_bytes(t));
    }
}

/* ---- the file ------------------------------------------------------------------------------------------------- */

typedef struct gguf_writing {
    file_writer out;
    const gguf_source *source;
    float *numbers; /* numbers of a portion, and their blocks */
    void *blocks;
    rapt_error *err;
} gguf_writing;

static size_t gguf_portion_rows(const gguf_written *t)
{
    const size_t rows = PORTION / (t->columns ? t->columns : 1);
    return rows == 0 ? 1 : rows < t->rows ? rows : t->rows;
}

static rapt_code gguf_write_padding(gguf_writing *w, size_t bytes)
{
    static const char zeros[ALIGNMENT];
    return file_writer_put(&w->out, zeros, gguf_aligned(bytes) - bytes, w->err);
}

static rapt_code gguf_write_tensor(gguf_writing *w, const gguf_written *t, size_t index)
{
    const size_t portion = gguf_portion_rows(t), row_blocks = t->columns / t->format->elements;
    rapt_code code = RAPT_OK;
    for (size_t first = 0, count; first < t->rows && !code; first += count) {
        count = t->rows - first < portion ? t->rows - first : portion;
        code = w->source->rows(w->source->context, index, first, count, w->numbers, w->err);
        if (code)
            return code;
        t->format->write(count * row_blocks, w->numbers, w->blocks);
        code = file_writer_put(&w->out, w->blocks, count * row_blocks * t->format->bytes, w->err);
    }
    return code ? code : gguf_write_padding(w, gguf_written_bytes(t));
}

/* Blocks are never larger than the numbers they are made of. */
static bool gguf_writing_reserve(gguf_writing *w, const gguf_written *tensors, size_t count)
{
    size_t most = 1;
    for (const gguf_written *t = tensors; t < tensors + count; t++)
        most = gguf_portion_rows(t) * t->columns > most ? gguf_portion_rows(t) * t->columns : most;
    w->numbers = malloc(most * sizeof *w->numbers);
    w->blocks = malloc(most * sizeof *w->numbers);
    return w->numbers && w->blocks;
}

static rapt_code gguf_write_all(gguf_writing *w, const buffer *head, const gguf_written *tensors, size_t count)
{
    rapt_code code = file_writer_put(&w->out, head->data, head->size, w->err);
    if (!code)
        code = gguf_write_padding(w, head->size);
    for (size_t i = 0; i < count && !code; i++)
        code = gguf_write_tensor(w, &tensors[i], i);
    return code;
}

rapt_code gguf_write(const char *path, const gguf_keys *keys, const gguf_written *tensors, size_t count,
                     const gguf_source *source, rapt_error *err)
{
    gguf_writing w = {.source = source, .err = err};
    gguf_keys head = {.out.failed = keys->out.failed};
    rapt_code code = gguf_write_check(path, tensors, count, err);
    if (!code)
        gguf_put_head(&head, keys, tensors, count);
    if (!code && (!gguf_writing_reserve(&w, tensors, count) || head.out.failed))
        code = rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for writing", path);
    if (!code && !(code = file_writer_open(&w.out, path, err))) {
        code = gguf_write_all(&w, &head.out.bytes, tensors, count);
        if (code)
            file_writer_discard(&w.out);
        else
            code = file_writer_finish_new(&w.out, err);
    }
    free(w.numbers);
    free(w.blocks);
    gguf_keys_free(&head);
    return code;
}
