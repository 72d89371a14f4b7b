/* base/windows/windows_random.c: random numbers from Windows. */
#include "base/system_random.h"

#include <windows.h>

#include <ntsecapi.h>

bool system_random(uint64_t *number)
{
    uint64_t bytes;
    if (!RtlGenRandom(&bytes, sizeof bytes))
        return false;
    *number = bytes;
    return true;
}
