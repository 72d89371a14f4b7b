/* base/memory.h: how much memory this process may still take, and which limit decides. For checks before an allocation. Also
 * gives unused memory of malloc back to the system, and has memory at addresses that are multiples of a number. */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct memory_limit {
    const char *says;   /* what comes before "4.2 GB available" in a message: "this machine can give" */
    bool address_space; /* the limit counts mapped memory; if false, touched memory */
    size_t available;   /* bytes beyond those in use; SIZE_MAX: no limit */
} memory_limit;

enum { MEMORY_RAM, MEMORY_CGROUP, MEMORY_ADDRESS_SPACE, MEMORY_DATA, MEMORY_LIMITS };

/* All of them. `root` is put before /proc and /sys: "", or a folder that looks like them, in tests. */
void memory_limits(const char *root, memory_limit limits[MEMORY_LIMITS]);

/* For a system that counts bytes in 64 bits: a program of 32 bits cannot count more than SIZE_MAX. */
static inline size_t memory_bytes(uint64_t bytes)
{
    return bytes < SIZE_MAX ? (size_t)bytes : SIZE_MAX;
}

/* Gives memory that was freed but that malloc keeps back to the system, after work that took a lot of memory once, such as
 * reading the JSON of a large vocabulary. Does nothing if the C library has no such function. */
void memory_trim(void);

/* The most bytes that this process has had in RAM at once. */
size_t memory_peak(void);

/* Memory whose address is a multiple of `alignment`, a power of two of which `size` is a multiple; NULL: out of memory. */
void *memory_aligned(size_t alignment, size_t size);
/* Memory of memory_aligned, or NULL. */
void memory_aligned_free(void *memory);

#endif
