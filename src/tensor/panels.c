/* tensor/panels.c: the loops around the micro-kernel. For GEMM and attention. No threads, no allocation: callers split the
 * work and own the memory. */
#include "tensor/panels.h"

#include "base/min.h"

/* A tile reads whole cache lines of a row-major A, so its rows may be further apart than rows of B or of a transposed A. */
#define ROWS_FAR 513

static size_t padded(const kernels_gemm *kn, size_t n)
{
    size_t nr = (size_t)kn->nr; /* a power of two */
    return (n + nr - 1) & ~(nr - 1);
}

size_t panels_size(const kernels_gemm *kn, size_t k, size_t n)
{
    return kernels_packed_count(kn, k) * padded(kn, n);
}

/* All blocks except the last have KERNELS_K_BLOCK rows, and therefore the same number of elements. */
size_t panels_at(const kernels_gemm *kn, size_t n, size_t k0, size_t kc, size_t j)
{
    return kernels_packed_count(kn, k0) * padded(kn, n) + kernels_packed_count(kn, kc) * j;
}

/* n columns of the rows k0 .. k0 + kc - 1. */
static void pack_block(const kernels_gemm *kn, size_t kc, size_t n, const matrix *b, size_t k0, rapt_real *dst)
{
    const size_t nr = (size_t)kn->nr;
    const rapt_real *data = b->data + (ptrdiff_t)k0 * b->row;
    for (size_t j = 0; j < n; j += nr, dst += kernels_packed_count(kn, kc) * nr)
        kn->pack_b(kc, (int)MIN(nr, n - j), data + (ptrdiff_t)j * b->col, b->row, b->col, dst);
}

void panels_pack_columns(const kernels_gemm *kn, size_t k, size_t n, size_t first, size_t count, const matrix *b,
                         rapt_real *dst)
{
    for (size_t k0 = 0; k0 < k; k0 += KERNELS_K_BLOCK) {
        size_t kc = MIN(KERNELS_K_BLOCK, k - k0);
        pack_block(kn, kc, count, b, k0, dst + panels_at(kn, n, k0, kc, first));
    }
}

void panels_pack_depth(const kernels_gemm *kn, size_t k, size_t n, size_t first, size_t count, const matrix *b, rapt_real *dst)
{
    const size_t k0 = first / KERNELS_K_BLOCK * KERNELS_K_BLOCK, kc = MIN(KERNELS_K_BLOCK, k - k0), nr = (size_t)kn->nr;
    dst += kernels_packed_count(kn, first - k0) * nr; /* in each panel */
    for (size_t j = 0; j < n; j += nr)
        kn->pack_b(count, (int)MIN(nr, n - j), b->data + j, b->row, b->col, dst + panels_at(kn, n, k0, kc, j));
}

void panels_pack_stored(const kernels_gemm *kn, size_t k, size_t n, size_t first, size_t count, int format,
                        const uint8_t *const *blocks, rapt_real *dst)
{
    const size_t nr = (size_t)kn->nr;
    for (size_t k0 = 0; k0 < k; k0 += KERNELS_K_BLOCK)
        for (size_t j = 0, kc = MIN(KERNELS_K_BLOCK, k - k0); j < count; j += nr)
            kn->pack_stored(format, k0, kc, (int)MIN(nr, count - j), blocks + j, dst + panels_at(kn, n, k0, kc, first + j));
}

void panels_pack(const kernels_gemm *kn, size_t k, size_t n, const matrix *b, rapt_real *dst)
{
    panels_pack_columns(kn, k, n, 0, n, b, dst);
}

/* Pairs must be converted, so they are packed. Packing a row tile of fp32 elements pays off if several panels read it and its
 * rows are far apart in memory: rows of A, or of a transposed A. */
static bool should_pack(const kernels_gemm *kn, size_t n, const matrix *a)
{
    const bool far = a->row >= ROWS_FAR || a->col >= kn->far;
    return !a->packed && (kernels_converts_a(kn) || (far && n > 2 * (size_t)kn->nr));
}

panel_block panels_packed(const kernels_gemm *kn, size_t kc, const rapt_real *data)
{
    return (panel_block){data, kn->nr, kernels_packed_count(kn, kc) * (size_t)kn->nr};
}

panel_block panels_in_place(const kernels_gemm *kn, matrix b)
{
    return (panel_block){b.data, b.row, (size_t)kn->nr};
}

bool panels_can_stay(const kernels_gemm *kn, matrix b, size_t n)
{
    return kn->pair == 1 && b.col == 1 && (n < KERNELS_LANES || n % KERNELS_LANES == 0);
}

/* One row times the full panels of a packed block; returns the number of columns. */
static size_t multiply_row(const kernels_gemm *kn, size_t n, size_t depth, const rapt_real *row, ptrdiff_t col,
                           const panel_block *b, rapt_real *c, const kernels_epilogue *epilogue)
{
    size_t panels = kn->gemm_row && b->row == kn->nr ? n / (size_t)kn->nr : 0;
    if (panels > 0)
        kn->gemm_row(panels, depth, row, col, b->data, b->panel, c, epilogue);
    return panels * (size_t)kn->nr;
}

/* Max tiles, and max rows together, of the row tiles that read a panel one after the other while it is in the L1 cache; the rows
 * stay in the L2 cache. */
enum { GROUP_TILES = 8, GROUP_ROWS = 64 };

/* A row tile of A, in place or packed. */
typedef struct row_tile {
    const rapt_real *data;
    kernels_strides at;
    size_t row;
    int rows;
} row_tile;

typedef struct row_group {
    row_tile tiles[GROUP_TILES];
    size_t count;
} row_group;

/* The row tiles of A are of nearly equal sizes: one of few rows would take nearly as long as a full one. */
typedef struct row_tiles {
    size_t count, rows, longer; /* the first `longer` have a row more */
} row_tiles;

/* Without divisions for small matrices (panels.h). */
static row_tiles row_tiles_of(const kernels_gemm *kn, size_t m)
{
    const size_t mr = (size_t)kn->mr;
    if (m <= mr)
        return (row_tiles){m > 0, m, 0};
    const size_t count = (m + mr - 1) / mr;
    return (row_tiles){count, m / count, m % count};
}

/* Takes tiles from `first` on; returns the row after them. */
static size_t group_take(row_group *g, const row_tiles *all, size_t first, size_t row, const matrix *a)
{
    for (size_t i = 0; i < g->count; i++) {
        const size_t rows = all->rows + (first + i < all->longer);
        g->tiles[i] = (row_tile){matrix_at(*a, row, 0).data, {a->row, a->col}, row, (int)rows};
        row += rows;
    }
    return row;
}

static void group_pack(const kernels_gemm *kn, size_t kc, row_group *g, rapt_real *packed)
{
    for (size_t i = 0; i < g->count; i++, packed += KERNELS_MAX_A) {
        row_tile *t = &g->tiles[i];
        t->at = kn->pack_a(t->rows, kc, t->data, t->at.row, t->at.col, packed);
        t->data = packed;
    }
}

/* The rows of a group times the columns from j on. */
static void group_multiply(const kernels_gemm *kn, const row_group *g, size_t j, size_t n, size_t depth, const panel_block *b,
                           rapt_real *c, size_t ldc, const kernels_epilogue *epilogue)
{
    const size_t nr = (size_t)kn->nr;
    const rapt_real *panel = b->data + j / nr * b->panel;
    for (; j < n; j += nr, panel += b->panel) {
        const kernels_epilogue part = {epilogue->accumulate, epilogue->bias ? epilogue->bias + j : NULL, epilogue->relu};
        for (size_t i = 0; i < g->count; i++) {
            const row_tile *t = &g->tiles[i];
            kn->gemm_tile(t->rows, (int)MIN(nr, n - j), depth, t->data, t->at.row, t->at.col, panel, b->row,
                          c + t->row * ldc + j, (ptrdiff_t)ldc, &part);
        }
    }
}

void panels_multiply_block(const kernels_gemm *kn, size_t m, size_t n, size_t kc, const matrix *a, const panel_block *b,
                           rapt_real *c, size_t ldc, const kernels_epilogue *epilogue)
{
    _Alignas(KERNELS_ALIGN) rapt_real packed[GROUP_TILES * KERNELS_MAX_A];
    const size_t most = MIN(GROUP_TILES, GROUP_ROWS / (size_t)kn->mr), depth = kernels_packed_count(kn, kc);
    const row_tiles all = row_tiles_of(kn, m);
    const bool pack = should_pack(kn, n, a);
    row_group g;
    if (kn->begin)
        kn->begin();
    for (size_t first = 0, row = 0; first < all.count; first += most) {
        g.count = MIN(most, all.count - first);
        row = group_take(&g, &all, first, row, a);
        if (pack)
            group_pack(kn, kc, &g, packed);
        const size_t j = m > 1 ? 0 : multiply_row(kn, n, depth, g.tiles[0].data, g.tiles[0].at.col, b, c, epilogue);
        group_multiply(kn, &g, j, n, depth, b, c, ldc, epilogue);
    }
    if (kn->end)
        kn->end();
}

kernels_epilogue panels_block_epilogue(const kernels_epilogue *epilogue, size_t k0, size_t k)
{
    bool last = k0 + KERNELS_K_BLOCK >= k;
    return (kernels_epilogue){epilogue->accumulate || k0 > 0, last ? epilogue->bias : NULL, last && epilogue->relu};
}

/* The block that begins at row k0. The panels of a packed block have all rows that were packed, however few the product uses. */
static panel_block panels_block_at(const kernels_gemm *kn, const panel_matrix *b, size_t k0, size_t k, size_t n)
{
    if (!b->packed)
        return panels_in_place(kn, matrix_at(b->in_place, k0, 0));
    size_t kc = MIN(KERNELS_K_BLOCK, (b->rows ? b->rows : k) - k0);
    return panels_packed(kn, kc, b->packed + panels_at(kn, b->columns ? b->columns : n, k0, kc, 0));
}

void panels_multiply(const kernels_gemm *kn, size_t m, size_t n, size_t k, const matrix *a, const panel_matrix *b,
                     rapt_real *c, size_t ldc, const kernels_epilogue *epilogue)
{
    for (size_t k0 = 0; k0 < k; k0 += KERNELS_K_BLOCK) {
        size_t kc = MIN(KERNELS_K_BLOCK, k - k0);
        kernels_epilogue part = panels_block_epilogue(epilogue, k0, k);
        matrix left = matrix_at(*a, 0, k0);
        panel_block block = panels_block_at(kn, b, k0, k, n);
        panels_multiply_block(kn, m, n, kc, &left, &block, c, ldc, &part);
    }
}
