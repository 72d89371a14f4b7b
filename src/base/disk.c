/* base/disk.c: what follows from the system's answers. */
#include "base/disk.h"

bool disk_is_file(const char *path, disk_entry *e)
{
    return disk_look(path, e) && e->kind == DISK_FILE;
}

bool disk_is_same(const disk_entry *a, const disk_entry *b)
{
    return a->device == b->device && a->number == b->number;
}
