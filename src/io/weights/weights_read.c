/* io/weights/weights_read.c: the values of tensors in files. widen.c converts them. */
#include "io/weights/weights.h"

#include "base/quote.h"
#include "io/weights/widen.h"

#include <stdatomic.h>

typedef struct row_reader {
    safetensors_dtype dtype;
    float *to;
    size_t bad; /* the first element that is not finite */
} row_reader;

static bool read_row(void *context, const weights_row *row)
{
    const row_reader *r = context;
    widen_row(r->dtype, row, r->to);
    return true;
}

rapt_code weights_check_real(const weights *w, const weights_tensor *t, rapt_error *err)
{
    if (widen_is_real(t->dtype))
        return RAPT_OK;
    return rapt_fail(err, RAPT_ERR_FORMAT, "%s: tensor \"%s\" is of %s, not of floating-point numbers",
                     weights_file_path(w, t->file), quote(t->name).text, safetensors_dtype_name(t->dtype));
}

rapt_code weights_read(const weights *w, const weights_tensor *t, float *to, rapt_error *err)
{
    row_reader r = {.dtype = t->dtype, .to = to};
    rapt_code code = weights_check_real(w, t, err);
    if (!code && t->blocks)
        t->blocks->read(t->elements / t->blocks->elements, t->data, to); /* rows of blocks have no gaps */
    else if (!code)
        weights_tensor_rows(t, read_row, &r);
    return code;
}

static bool check_row(void *context, const weights_row *row)
{
    row_reader *r = context;
    size_t bad = widen_first_bad(r->dtype, row);
    r->bad = row->first + bad;
    return bad == row->count;
}

/* The first element of a row without gaps that is not finite, or whose block is not finite; `count`: all are finite. */
static size_t row_first_bad(const weights_tensor *t, size_t first, size_t count)
{
    const char *data = t->data + weights_tensor_bytes(t, first);
    const weights_row row = {data, 1, count, first};
    return t->blocks ? blocks_first_bad(t->blocks, count / t->blocks->elements, data) * t->blocks->elements
                     : widen_first_bad(t->dtype, &row);
}

/* Whether all elements are finite; *bad is the first that is not. */
static bool is_finite(const weights_tensor *t, size_t *bad)
{
    row_reader r = {.dtype = t->dtype};
    *bad = t->blocks ? row_first_bad(t, 0, t->elements) : t->elements;
    if (t->blocks || weights_tensor_rows(t, check_row, &r))
        return *bad == t->elements;
    *bad = r.bad;
    return false;
}

/* Elements of a tensor without gaps that one thread checks; whole blocks. */
#define CHUNK ((size_t)1 << 18)

typedef struct chunk_check {
    const weights_tensor *t;
    atomic_bool bad;
} chunk_check;

static void check_chunk(void *context, size_t chunk, int worker)
{
    chunk_check *c = context;
    const weights_tensor *t = c->t;
    const size_t first = chunk * CHUNK, count = t->elements - first < CHUNK ? t->elements - first : CHUNK;
    (void)worker;
    if (row_first_bad(t, first, count) < count)
        atomic_store_explicit(&c->bad, true, memory_order_relaxed);
}

/* Whether the threads find the tensor finite; also false if it has gaps. */
static bool all_chunks_finite(const weights_tensor *t, pool *threads)
{
    chunk_check c = {.t = t};
    if (!threads || !t->row_major)
        return false;
    pool_run(threads, (t->elements + CHUNK - 1) / CHUNK, t->elements, check_chunk, &c);
    return !c.bad;
}

rapt_code weights_check_finite(const weights *w, const weights_tensor *t, pool *threads, rapt_error *err)
{
    char text[WEIGHTS_SHAPE_TEXT];
    size_t place[SAFETENSORS_MAX_DIMS], bad;
    if (!widen_is_real(t->dtype) || all_chunks_finite(t, threads) || is_finite(t, &bad))
        return RAPT_OK;
    for (int i = t->ndim; i-- > 0; bad /= t->shape[i])
        place[i] = bad % t->shape[i];
    return rapt_fail(err, RAPT_ERR_NOT_FINITE, "%s: tensor \"%s\" is infinite or not a number at %s",
                     weights_file_path(w, t->file), quote(t->name).text, weights_shape_text(place, t->ndim, text));
}
