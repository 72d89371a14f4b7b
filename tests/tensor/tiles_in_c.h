/* tests/tensor/tiles_in_c.h: the tiles of AMX in plain C, with the meaning that Intel's manual gives to the instructions
 * (SDM volume 2, TDPBF16PS and others), so that x86/amx.c is tested on processors without them. */
#ifndef TESTS_TENSOR_TILES_IN_C_H
#define TESTS_TENSOR_TILES_IN_C_H

#include <stdlib.h>

typedef struct tiles_in_c {
    bool configured;
    float tile[8][16][16];
} tiles_in_c;

static _Thread_local tiles_in_c tiles;

static float (*tile_in_c(int index))[16]
{
    if (!tiles.configured || index < 0 || index > 7)
        abort(); /* the processor would raise #UD */
    return tiles.tile[index];
}

/* Palette 1 with 8 tiles of 16 rows of 64 bytes. */
static void configure_in_c(const void *from)
{
    const uint8_t *c = from;
    for (int i = 0; i < 8; i++)
        if (c[0] != 1 || c[16 + 2 * i] != 64 || c[17 + 2 * i] != 0 || c[48 + i] != 16)
            abort();
    tiles.configured = true;
    memset(tiles.tile, 0, sizeof tiles.tile);
}

static void load_in_c(int index, const void *from, size_t stride)
{
    for (size_t i = 0; i < 16; i++)
        memcpy(tile_in_c(index)[i], (const char *)from + i * stride, 64);
}

static void store_in_c(int index, void *to, size_t stride)
{
    for (size_t i = 0; i < 16; i++)
        memcpy((char *)to + i * stride, tile_in_c(index)[i], 64);
}

static float number_in_c(float pair, int half)
{
    uint32_t bits;
    memcpy(&bits, &pair, sizeof bits);
    bits = half ? bits & 0xffff0000 : bits << 16;
    memcpy(&pair, &bits, sizeof pair);
    return pair;
}

static void multiply_in_c(int to, int left, int right)
{
    for (int m = 0; m < 16; m++)
        for (int n = 0; n < 16; n++) {
            float sum[2] = {0, 0};
            for (int k = 0; k < 16; k++)
                for (int half = 0; half < 2; half++)
                    sum[half] = fmaf(number_in_c(tile_in_c(left)[m][k], half), number_in_c(tile_in_c(right)[k][n], half),
                                     sum[half]);
            tile_in_c(to)[m][n] += sum[0] + sum[1];
        }
}

#undef _tile_loadd
#undef _tile_stored
#undef _tile_zero
#undef _tile_dpbf16ps
#define _tile_loadconfig(from) configure_in_c(from)
#define _tile_release() (void)(tiles.configured = false)
#define _tile_zero(index) memset(tile_in_c(index), 0, sizeof tiles.tile[0])
#define _tile_loadd(index, from, stride) load_in_c(index, from, stride)
#define _tile_stored(index, to, stride) store_in_c(index, to, stride)
#define _tile_dpbf16ps(to, left, right) multiply_in_c(to, left, right)

#endif
