/* base/cgroup.h: what a Linux control group (cgroup v1 or v2) leaves a process of memory and processor time: the limits of a
 * container, of a systemd unit, of a batch system. For the thread pool and the memory check. Limits of a group hold for all
 * groups below it, so all up to the root are asked. What cannot be read limits nothing. */
#ifndef BASE_CGROUP_H
#define BASE_CGROUP_H

#include <stddef.h>

/* `root` is put before /proc and /sys: "", or a folder that looks like them, in tests. */

/* Bytes that may still be taken, SIZE_MAX where there is no limit: the limit without what is in use, but for files that
 * are only cached. */
size_t cgroup_memory(const char *root);

/* CPUs that the quotas come to, rounded up; 0 where there is none. */
int cgroup_cpus(const char *root);

#endif
