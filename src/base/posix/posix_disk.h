/* base/posix/posix_disk.h: what the files of this folder share. */
#ifndef BASE_POSIX_DISK_H
#define BASE_POSIX_DISK_H

#include <sys/stat.h>

#include "base/disk.h"

/* The flags of open(). */
int posix_flags(disk_way way);
disk_entry posix_entry(const struct stat *info);

#endif
