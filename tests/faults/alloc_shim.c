/* tests/faults/alloc_shim.c: a library to be preloaded that makes one allocation fail which the code of another library asks
 * for: jansson, PCRE2, libyaml, zlib, libmicrohttpd, whose allocations no test of ours can replace. For
 * check_library_memory.sh. ALLOC_FROM is a part of the file name of that library, ALLOC_N the number of the allocation that
 * fails, from 1; the file ALLOC_HIT is made when it has failed. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What glibc's malloc is called besides: dlsym would allocate. */
extern void *__libc_malloc(size_t size), *__libc_calloc(size_t count, size_t size), *__libc_realloc(void *old, size_t size);

static atomic_long calls;
static _Thread_local bool asking; /* dladdr allocates, too */

static bool is_from(const char *library, void *caller)
{
    Dl_info info;
    asking = true;
    const bool from = dladdr(caller, &info) && info.dli_fname && strstr(info.dli_fname, library);
    asking = false;
    return from;
}

static bool fails(void *caller)
{
    const char *library = asking ? NULL : getenv("ALLOC_FROM"), *number = getenv("ALLOC_N"), *hit = getenv("ALLOC_HIT");
    if (!library || !number || !is_from(library, caller) || atomic_fetch_add(&calls, 1) + 1 != atol(number))
        return false;
    if (hit)
        close(open(hit, O_WRONLY | O_CREAT, 0666));
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(old, size);
}
