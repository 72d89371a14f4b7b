/* io/place/place_slice.c: reads and puts rows of a slice. */
#include "io/place/place_slice.h"

#include "base/min.h"
#include "io/stored_numbers.h"
#include "io/weights/weights.h"

/* Columns of a tile of a transpose: the elements of a cache line of the result. */
#define TILE_COLUMNS 16
#define TILE_ROWS 64

/* `count` indices of dimension `dim` from `first` on; a tensor of blocks has two dimensions and is sliced along the first. */
static weights_tensor slice_part(weights_tensor t, int dim, size_t first, size_t count)
{
    t.data += weights_tensor_bytes(&t, first * t.stride[dim]);
    t.elements = t.elements / t.shape[dim] * count;
    t.shape[dim] = count;
    t.row_major = weights_tensor_is_row_major(&t);
    return t;
}

/* Rows of the tensor in the order of their elements, into columns of `to`. */
static void slice_read_tile(const place_slice *s, weights_tensor rows, size_t column, float *to)
{
    float tile[TILE_COLUMNS * TILE_ROWS];
    const size_t columns = MIN(TILE_COLUMNS, s->columns - column), count = rows.shape[1];
    const weights_tensor part = slice_part(rows, 0, column, columns);
    weights_read(s->w, &part, tile, NULL);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < columns; j++)
            to[i * s->columns + column + j] = tile[j * count + i];
}

/* The place of feature j of a head of d features. rapt rotates pairs (j, j + d/2) with j < turned / 2; the file rotates pairs (j,
 * j + turned/2) of the first `turned` features. Products are the same if queries and keys have the same order. */
static size_t slice_feature(size_t j, size_t d, size_t turned)
{
    const size_t half = turned / 2, second = j >= d / 2, at = j - second * (d / 2);
    return at < half ? second * half + at : turned + second * (d / 2 - half) + at - half;
}

/* The row of the tensor that is row i of the parameter; in a transpose, the column. */
static size_t slice_row(const place_slice *s, size_t i)
{
    if (!s->head)
        return s->first + i;
    const size_t j = i % s->head, half = s->head / 2;
    const size_t at = s->interleaved ? j % half * 2 + j / half : s->turned ? slice_feature(j, s->head, s->turned) : j;
    return s->first + i / s->head * s->step + at;
}

static void slice_read_heads(const place_slice *s, size_t first, size_t count, float *to)
{
    for (size_t i = first; i < first + count; i++) {
        const weights_tensor row = slice_part(*s->t, 0, slice_row(s, i), 1);
        weights_read(s->w, &row, to + (i - first) * s->columns, NULL);
    }
}

static void slice_read_rows(const place_slice *s, size_t first, size_t count, float *to)
{
    if (s->head) {
        slice_read_heads(s, first, count, to);
        return;
    }
    if (!s->transposed) {
        const weights_tensor part = slice_part(*s->t, 0, s->first + first, count);
        weights_read(s->w, &part, to, NULL);
        for (size_t i = 0; s->plus_one && i < count * s->columns; i++)
            to[i] += 1;
        return;
    }
    for (size_t i = 0; i < count; i += TILE_ROWS) {
        const weights_tensor rows = slice_part(*s->t, 1, s->first + first + i, MIN(TILE_ROWS, count - i));
        for (size_t j = 0; j < s->columns; j += TILE_COLUMNS)
            slice_read_tile(s, rows, j, to + i * s->columns);
    }
}

void place_slice_read(const void *slice, size_t first, size_t count, float *to)
{
    const place_slice *s = slice;
    slice_read_rows(s, first, count, to);
    for (size_t i = 0; s->adapter && i < count; i++)
        adapter_change_rows(s->adapter, slice_row(s, first + i), 1, to + i * s->columns);
}

const void *place_slice_blocks(const place_slice *s, size_t row, const block_format **format)
{
    *format = s->t->blocks;
    if (!s->t->blocks || s->t->ndim != 2 || s->transposed || s->plus_one || s->adapter)
        return NULL;
    return s->t->data + weights_tensor_bytes(s->t, slice_row(s, row) * s->t->stride[0]);
}

int place_slice_16_bits(const place_slice *s)
{
    return s->t->blocks || s->plus_one || s->adapter ? 0 : stored_numbers_type(s->t->dtype);
}

/* Puts a row of the parameter at row `at` of the tensor, or at a column if it is transposed. */
static void slice_put_row(const place_slice *s, const float *row, size_t at, size_t width, size_t first, size_t count, float *to)
{
    const size_t begin = s->transposed ? first : 0, end = s->transposed ? MIN(first + count, s->columns) : s->columns;
    float *place = s->transposed ? to + at : to + (at - first) * width;
    const size_t step = s->transposed ? width : 1;
    for (size_t j = begin; j < end; j++)
        place[(j - begin) * step] = row[s->column_order ? s->column_order[j] : j] - (s->plus_one ? 1 : 0);
}

void place_slice_put(const place_slice *s, size_t rows, const float *from, size_t width, size_t first, size_t count, float *to)
{
    for (size_t i = 0; i < rows; i++) {
        const size_t at = slice_row(s, i), source = s->row_order ? s->row_order[i] : i;
        if (s->transposed || (at >= first && at - first < count))
            slice_put_row(s, from + source * s->columns, at, width, first, count, to);
    }
}

void place_slice_leave(const void *slice)
{
    const place_slice *s = slice;
    weights_forget(s->w, s->t);
}
