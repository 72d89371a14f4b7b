/* kernels/x86/amx.c: products of bf16 values by the tiles of AMX (Intel SDM volume 1, chapter 18). Compiled with the flags of
 * avx512_bf16.c and -mamx-tile -mamx-bf16. Four tiles of sums, 32 x 32 elements; two of A and two of B feed them 16 pairs at a
 * time. An A panel has its rows side by side, and a B panel has the layout of avx512_bf16.c, so tiles are read in place.
 * kernels.c asks Linux for the permission to use AMX. */
#include "kernels/x86/vec_avx512.h"

#include "kernels/body/bf16_pairs.h"

#ifdef AMX_IN_C /* a test emulates tiles for processors that have none */
#include AMX_IN_C
#endif

#define TILE 16 /* rows of a tile, and 32-bit columns */
#define AMX_NR 32
#define ROW_BYTES(numbers) ((size_t)(numbers) * sizeof(float))

/* Macros, because gcc writes them into the name of a register. */
#define SUM00 0
#define SUM01 1
#define SUM10 2
#define SUM11 3
#define LEFT0 4
#define LEFT1 5
#define RIGHT0 6
#define RIGHT1 7
#define TILES 8

/* The operand of ldtilecfg: palette 1, every tile with 16 rows of 64 bytes. */
typedef struct tile_configuration {
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
} tile_configuration;

static void amx_begin(void)
{
    tile_configuration c = {.palette = 1};
    for (int i = 0; i < TILES; i++) {
        c.row_bytes[i] = (uint16_t)ROW_BYTES(TILE);
        c.rows[i] = TILE;
    }
    __asm__ volatile("" ::: "memory"); /* gcc 12 takes the instruction to read 8 bytes only */
    _tile_loadconfig(&c);
}

static void amx_end(void) { _tile_release(); }

/* Up to 16 rows, or 16 columns, take one tile of a side. */
static void sums(bool tall, bool wide, size_t kc, const float *a, size_t a_row, const float *b, size_t b_row)
{
    _tile_zero(SUM00);
    _tile_zero(SUM01);
    _tile_zero(SUM10);
    _tile_zero(SUM11);
    for (size_t k = 0; k < kc; k += TILE, a += TILE, b += TILE * b_row) {
        _tile_loadd(RIGHT0, b, ROW_BYTES(b_row));
        _tile_loadd(LEFT0, a, ROW_BYTES(a_row));
        _tile_dpbf16ps(SUM00, LEFT0, RIGHT0);
        if (wide) {
            _tile_loadd(RIGHT1, b + TILE, ROW_BYTES(b_row));
            _tile_dpbf16ps(SUM01, LEFT0, RIGHT1);
        }
        if (tall) {
            _tile_loadd(LEFT1, a + TILE * a_row, ROW_BYTES(a_row));
            _tile_dpbf16ps(SUM10, LEFT1, RIGHT0);
        }
        if (tall && wide)
            _tile_dpbf16ps(SUM11, LEFT1, RIGHT1);
    }
}

/* A row of sums and its epilogue, up to 16 columns. */
VEC void finish_row(size_t n, const float *sum, float *c, const kernels_epilogue *epilogue, size_t column)
{
    v16 x = v_load(sum);
    if (epilogue->accumulate)
        x = v_add(v_load_n(c, n), x);
    if (epilogue->bias)
        x = v_add(x, v_load_n(epilogue->bias + column, n));
    if (epilogue->relu)
        x = v_max(v_zero(), x);
    v_store_n(c, x, n);
}

static void amx_tile(int m, int n, size_t kc, const float *a, ptrdiff_t a_row, ptrdiff_t a_col, const float *b,
                     ptrdiff_t b_row, float *c, ptrdiff_t ldc, const kernels_epilogue *epilogue)
{
    _Alignas(KERNELS_ALIGN) float sum[2 * TILE][AMX_NR];
    (void)a_col;
    sums(m > TILE, n > TILE, kc, a, (size_t)a_row, b, (size_t)b_row);
    _tile_stored(SUM00, sum[0], ROW_BYTES(AMX_NR));
    _tile_stored(SUM01, sum[0] + TILE, ROW_BYTES(AMX_NR));
    _tile_stored(SUM10, sum[TILE], ROW_BYTES(AMX_NR));
    _tile_stored(SUM11, sum[TILE] + TILE, ROW_BYTES(AMX_NR));
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j += TILE)
            finish_row((size_t)(n - j < TILE ? n - j : TILE), sum[i] + j, c + i * ldc + j, epilogue, (size_t)j);
}

/* Zeroes rows of A after the last one: they are read too, into sums that nobody uses, and denormals in them would be slow. */
static void clear_rows(int from, int to, size_t numbers, float *dst)
{
    for (int i = from; i < to; i++)
        memset(dst + (size_t)i * PAIRS_ROW, 0, numbers * sizeof *dst);
}

/* A transposed A: its rows of pairs, 16 at a time, turn into columns. */
static void turn_a(int m, size_t kc, const float *a, ptrdiff_t a_col, float *dst)
{
    for (int i = 0; i < m; i += TILE)
        for (size_t k = 0; k < kc; k += 2 * TILE) {
            const float *from = a + i + (ptrdiff_t)k * a_col;
            size_t lanes = pairs_min((size_t)(m - i), TILE), left = kc - k;
            v16 r[16];
            UNROLL
            for (size_t q = 0; q < 16; q++) {
                v16 even = 2 * q < left ? v_load_n(from + (ptrdiff_t)(2 * q) * a_col, lanes) : v_zero();
                v16 odd = 2 * q + 1 < left ? v_load_n(from + (ptrdiff_t)(2 * q + 1) * a_col, lanes) : v_zero();
                r[q] = v_pair(even, odd);
            }
            v_transpose(r);
            UNROLL
            for (size_t q = 0; q < 16; q++)
                v_store(dst + ((size_t)i + q) * PAIRS_ROW + k / 2, r[q]);
        }
}

static kernels_strides amx_pack_a(int m, size_t kc, const float *a, ptrdiff_t a_row, ptrdiff_t a_col, float *dst)
{
    if (a_col == 1) {
        pairs_rows((size_t)m, kc, a, a_row, dst);
        clear_rows(m, (m + TILE - 1) / TILE * TILE, kernels_packed_count(&kernels_gemm_amx, kc), dst);
    } else {
        turn_a(m, kc, a, a_col, dst);
    }
    return (kernels_strides){PAIRS_ROW, 1};
}

static void amx_pack_b(size_t kc, int n, const float *b, ptrdiff_t b_row, ptrdiff_t b_col, float *dst)
{
    size_t filled = (kc + 1) / 2, numbers = kernels_packed_count(&kernels_gemm_amx, kc);
    if (b_col == 1)
        pairs_straight((size_t)n, kc, b, b_row, AMX_NR, dst);
    else
        pairs_turned((size_t)n, kc, b, b_col, AMX_NR, dst);
    memset(dst + filled * AMX_NR, 0, (numbers - filled) * AMX_NR * sizeof *dst);
}

const kernels_gemm kernels_gemm_amx = {
    .name = "amx",
    .mr = 2 * TILE,
    .nr = AMX_NR,
    .a_stride = 2 * TILE,
    .pair = 2,
    .step = TILE,
    .gemm_tile = amx_tile,
    .pack_a = amx_pack_a,
    .pack_b = amx_pack_b,
    .begin = amx_begin,
    .end = amx_end,
};
