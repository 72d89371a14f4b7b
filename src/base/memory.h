/* base/memory.h: how much memory this process may still take, and which limit decides. For checks before it is allocated. Also
 * gives back what malloc holds unused. */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

typedef struct memory_limit {
    const char *says;   /* "this machine can give": what comes before "4.2 GB available" in a message */
    bool address_space; /* counts all that is mapped; else what is touched */
    size_t available;   /* bytes beyond those in use; SIZE_MAX: no limit */
} memory_limit;

enum { MEMORY_RAM, MEMORY_CGROUP, MEMORY_ADDRESS_SPACE, MEMORY_DATA, MEMORY_LIMITS };

/* All of them. `root` is put before /proc and /sys: "", or a folder that looks like them, in tests. */
void memory_limits(const char *root, memory_limit limits[MEMORY_LIMITS]);

/* Gives the system back what malloc keeps of memory that was freed: behind work that took a lot of it once, as reading the JSON
 * of a large vocabulary. Nothing where the C library has no such function. */
void memory_trim(void);

#endif
