/* kernels/arm/vec_neon_words.h: the NEON versions of the primitives for 32-bit words (w_...) that stored formats need. Included
 * by arm/vec_neon.h. */
#ifndef KERNELS_ARM_VEC_NEON_WORDS_H
#define KERNELS_ARM_VEC_NEON_WORDS_H

VEC w16 w_of_v(v16 a)
{
    w16 r;
    EACH_PART(i) r.part[i] = vreinterpretq_u32_f32(a.part[i]);
    return r;
}

VEC v16 v_of_w(w16 a)
{
    v16 r;
    EACH_PART(i) r.part[i] = vreinterpretq_f32_u32(a.part[i]);
    return r;
}

VEC w16 w_set1(uint32_t x)
{
    const uint32x4_t v = vdupq_n_u32(x);
    return (w16){{v, v, v, v}};
}

VEC w16 w_load(const uint32_t *p)
{
    return (w16){{vld1q_u32(p), vld1q_u32(p + 4), vld1q_u32(p + 8), vld1q_u32(p + 12)}};
}

#define WORDWISE(name, word)                                 \
    VEC w16 name(w16 a, w16 b)                               \
    {                                                        \
        EACH_PART(i) a.part[i] = word(a.part[i], b.part[i]); \
        return a;                                            \
    }
WORDWISE(w_add, vaddq_u32)
WORDWISE(w_sub, vsubq_u32)
WORDWISE(w_mul, vmulq_u32)
WORDWISE(w_xor, veorq_u32)
WORDWISE(w_and, vandq_u32)
WORDWISE(w_or, vorrq_u32)
WORDWISE(w_min, vminq_u32)
WORDWISE(w_max, vmaxq_u32)
#undef WORDWISE

VEC w16 w_where(w16 a, w16 b)
{
    EACH_PART(i) b.part[i] = vandq_u32(vtstq_u32(a.part[i], a.part[i]), b.part[i]);
    return b;
}

VEC w16 w_left(w16 a, const int bits)
{
    EACH_PART(i) a.part[i] = vshlq_u32(a.part[i], vdupq_n_s32(bits));
    return a;
}

VEC w16 w_right(w16 a, const int bits)
{
    EACH_PART(i) a.part[i] = vshlq_u32(a.part[i], vdupq_n_s32(-bits));
    return a;
}

VEC uint32_t w_hmax(w16 a)
{
    return vmaxvq_u32(vmaxq_u32(vmaxq_u32(a.part[0], a.part[1]), vmaxq_u32(a.part[2], a.part[3])));
}

VEC w16 w_load_bytes(const uint8_t *p, size_t n)
{
    const uint8x16_t bytes = n == 16 ? vld1q_u8(p) : bytes_load_n(p, n);
    const uint16x8_t low = vmovl_u8(vget_low_u8(bytes)), high = vmovl_high_u8(bytes);
    return (w16){{vmovl_u16(vget_low_u16(low)), vmovl_high_u16(low), vmovl_u16(vget_low_u16(high)), vmovl_high_u16(high)}};
}

VEC uint16x8_t w_eight_halves(w16 a, const int first)
{
    return vcombine_u16(vmovn_u32(a.part[first]), vmovn_u32(a.part[first + 1]));
}

VEC void w_store_bytes(uint8_t *p, w16 a, size_t n)
{
    uint8_t all[16];
    vst1q_u8(n == 16 ? p : all, vcombine_u8(vmovn_u16(w_eight_halves(a, 0)), vmovn_u16(w_eight_halves(a, 2))));
    if (n < 16)
        memcpy(p, all, n);
}

VEC w16 w_load_halves(const uint16_t *p, size_t n)
{
    uint16_t all[16] = {0};
    if (n < 16)
        p = memcpy(all, p, n * sizeof *p);
    const uint16x8_t low = vld1q_u16(p), high = vld1q_u16(p + 8);
    return (w16){{vmovl_u16(vget_low_u16(low)), vmovl_high_u16(low), vmovl_u16(vget_low_u16(high)), vmovl_high_u16(high)}};
}

VEC void w_store_halves(uint16_t *p, w16 a, size_t n)
{
    uint16_t all[16], *to = n == 16 ? p : all;
    vst1q_u16(to, w_eight_halves(a, 0));
    vst1q_u16(to + 8, w_eight_halves(a, 2));
    if (n < 16)
        memcpy(p, all, n * sizeof *p);
}

#endif
