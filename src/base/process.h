/* base/process.h: this process and its machine as the system knows them. For the names of files, the number of threads, and
 * groups of processes. */
#ifndef BASE_PROCESS_H
#define BASE_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

long process_id(void);

#define PROCESS_PATH 4096
/* The path of the program's file, with slashes; "" if the system does not tell, or it is longer. */
void process_program(char path[PROCESS_PATH]);
/* Writes a text to an open descriptor whose number another program has told; failures have no consequences. */
void process_tell(int descriptor, const char *text);

/* The host's name, as much of it as fits; "" if the system does not tell. */
void process_host(char *name, size_t size);
/* An id of this start of the machine, or else the host's name: containers of one machine have different names, and copied
 * machines may have the same. */
void process_machine(char *id, size_t size);

/* The number of CPUs that this process may use by its affinity mask. */
int process_cpus(void);
/* Sets a bit for each CPU that this process may use, or the process that started it, as far as the `size` bytes go. The rest
 * stays as it was; so does everything if the system does not tell. */
void process_affinity(bool of_parent, uint8_t *bits, size_t size);
/* The number of CPUs that a quota of time allows, rounded up; 0: there is no quota. `root` is put before /proc and /sys: "", or
 * in tests a folder that looks like them. */
int process_quota(const char *root);
/* An id of the processes that share this process's quota. */
uint64_t process_group(void);

#endif
