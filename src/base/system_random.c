/* base/system_random.c: by the system call itself, because glibc has a function for it only since 2.25. */
#define _GNU_SOURCE
#include "base/system_random.h"

#include <sys/syscall.h>
#include <unistd.h>

enum { WITHOUT_WAITING = 1 }; /* GRND_NONBLOCK of <sys/random.h>, which came with the function */

bool system_random(uint64_t *number)
{
    uint64_t bytes;
    if (syscall(SYS_getrandom, &bytes, sizeof bytes, WITHOUT_WAITING) != (long)sizeof bytes)
        return false;
    *number = bytes;
    return true;
}
