/* tensor/panels.h: matrix products on panels, for one thread. Operand B [k x n] is packed once, or, in fp32, read in place.
 * Packed, it is in blocks of KERNELS_K_BLOCK rows; a block holds ceil(n / nr) panels [kc][nr], zero-padded, of elements or of
 * pairs (see kernels_gemm). GEMM, attention and cached weights all multiply with these. */
#ifndef TENSOR_PANELS_H
#define TENSOR_PANELS_H

#include "kernels/kernels.h"

/* A matrix in memory: element (i, j) is data[i * row + j * col]; one of the strides is 1. */
typedef struct matrix {
    const rapt_real *data;
    ptrdiff_t row, col;
    bool packed; /* for quantized weights: operand A of one K block, as pack_a packs it */
} matrix;

/* The submatrix that begins at (i, j). */
static inline matrix matrix_at(matrix a, size_t i, size_t j)
{
    return (matrix){a.data + (ptrdiff_t)i * a.row + (ptrdiff_t)j * a.col, a.row, a.col, a.packed};
}

/* The size of a packed [k x n] matrix in elements. */
size_t panels_size(const kernels_gemm *kn, size_t k, size_t n);

/* The offset, in a packed [k x n] matrix, of the panel that has column j, in the block of kc rows that begins at row k0. */
size_t panels_at(const kernels_gemm *kn, size_t n, size_t k0, size_t kc, size_t j);

/* Packs all of B [k x n]. dst is aligned to KERNELS_ALIGN. B comes by address for the sake of small attention heads, as below. */
void panels_pack(const kernels_gemm *kn, size_t k, size_t n, const matrix *b, rapt_real *dst);
/* Packs `count` columns of B [k x n] from column `first` on, a multiple of nr, to their place in dst; b has only these
 * columns. */
void panels_pack_columns(const kernels_gemm *kn, size_t k, size_t n, size_t first, size_t count, const matrix *b,
                         rapt_real *dst);

/* Packs `count` rows of B [k x n] from row `first` on, at a multiple of whole steps of every kernel (32), to their place in dst;
 * the rows are of one K block, and b has only these. */
void panels_pack_depth(const kernels_gemm *kn, size_t k, size_t n, size_t first, size_t count, const matrix *b, rapt_real *dst);

/* panels_pack_columns for columns that are stored as blocks of a format that the kernels take (kernels_gemm.stored). blocks[j] is
 * the first block of column j; k is a multiple of the block. */
void panels_pack_stored(const kernels_gemm *kn, size_t k, size_t n, size_t first, size_t count, int format,
                        const uint8_t *const *blocks, rapt_real *dst);

/* A block of B: kc <= KERNELS_K_BLOCK rows, n columns. Panel p begins at data + p * panel, its rows are `row` apart. */
typedef struct panel_block {
    const rapt_real *data;
    ptrdiff_t row;
    size_t panel;
} panel_block;

panel_block panels_packed(const kernels_gemm *kn, size_t kc, const rapt_real *data);
/* A row-major block of B, read in place: see panels_can_stay. */
panel_block panels_in_place(const kernels_gemm *kn, matrix b);
/* Whether the kernels can read n columns of B in place. */
bool panels_can_stay(const kernels_gemm *kn, matrix b, size_t n);

/* C [m x n] (+)= A [m x kc] times one block of kc <= KERNELS_K_BLOCK rows and n columns. Operands come by address:
 * small attention heads make a call every 100 ns, and copying their structs would stall for a tenth of that. */
void panels_multiply_block(const kernels_gemm *kn, size_t m, size_t n, size_t kc, const matrix *a, const panel_block *b,
                           rapt_real *c, size_t ldc, const kernels_epilogue *epilogue);

/* Operand B as a whole: packed, or in place. */
typedef struct panel_matrix {
    const rapt_real *packed; /* or NULL */
    size_t columns;          /* that were packed, if a product uses only the first of them; 0: n of the product */
    size_t rows;             /* rows of the packed panels; 0: k of the product */
    matrix in_place;
} panel_matrix;

/* C [m x n] (+)= A [m x k] B, all blocks in order; bias and activation of `epilogue` after the last one. */
void panels_multiply(const kernels_gemm *kn, size_t m, size_t n, size_t k, const matrix *a, const panel_matrix *b,
                     rapt_real *c, size_t ldc, const kernels_epilogue *epilogue);

/* The epilogue of the K block that starts at row `k0` of `k`: the first one may overwrite, the last one finishes. */
kernels_epilogue panels_block_epilogue(const kernels_epilogue *epilogue, size_t k0, size_t k);

#endif
