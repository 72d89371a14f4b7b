/* base/cgroup.h: the memory and processor time that Linux control groups (cgroup v1 or v2) leave to a process: the limits of a
 * container, a systemd unit, a batch system. For the thread pool and the memory check. A group's limits hold for all groups below
 * it, so all groups up to the root are read. A file that cannot be read counts as no limit. */
#ifndef BASE_CGROUP_H
#define BASE_CGROUP_H

#include <stddef.h>

/* `root` is put before /proc and /sys: "", or a folder that looks like them, in tests. */

/* Bytes that may still be taken: the limit minus what is in use, where cached files do not count as used. SIZE_MAX: no limit. */
size_t cgroup_memory(const char *root);

/* The number of CPUs that the quotas allow, rounded up; 0: no quota. */
int cgroup_cpus(const char *root);

#endif
