/* base/posix/posix_random.c: on Linux by the system call itself, because glibc has a function for it only since 2.25. */
#define _GNU_SOURCE
#include "base/system_random.h"

#include <unistd.h>
#ifdef __linux__
#include <sys/syscall.h>

enum { WITHOUT_WAITING = 1 }; /* GRND_NONBLOCK of <sys/random.h>, which came with the function */

static bool posix_random_bytes(void *to, size_t size)
{
    return syscall(SYS_getrandom, to, size, WITHOUT_WAITING) == (long)size;
}
#else
#include <sys/random.h>

static bool posix_random_bytes(void *to, size_t size)
{
    return getentropy(to, size) == 0;
}
#endif

bool system_random(uint64_t *number)
{
    uint64_t bytes;
    if (!posix_random_bytes(&bytes, sizeof bytes))
        return false;
    *number = bytes;
    return true;
}
