/* wasm/fmaf.c: fmaf as the C standard has it, for programs that call it. emscripten 3.1.6's rounds twice, because it counts on
 * fesetround, which WebAssembly lacks. The library does not call it: its kernels make fused multiply-adds themselves. */
#include <math.h>

#include "kernels/fused.h"

float fmaf(float a, float b, float c)
{
    return fused_by_odd(a, b, c);
}
