/* tests/fuzz/fuzz.h: what the fuzzers share: a requirement that aborts, and bytes as a file with a path.
 * For libFuzzer, and for replay.c.
 * Not for tests that expect something of a certain input. */
#ifndef FUZZ_FUZZ_H
#define FUZZ_FUZZ_H

#include "rapt/base.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

static inline void require(bool holds)
{
    if (!holds)
        abort();
}

/* A failure has a message of one line, a success has none. */
static inline void require_outcome(bool worked, const rapt_error *err)
{
    require(worked == (err->code == RAPT_OK));
    require(worked == (err->message[0] == '\0'));
    require(!strchr(err->message, '\n'));
}

/* A file in memory that has a path; close(fd) removes it. Needs _GNU_SOURCE. */
static inline int fuzz_file(const void *bytes, size_t size, char path[64])
{
    int fd = memfd_create("fuzz", 0);
    require(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
    snprintf(path, 64, "/proc/self/fd/%d", fd);
    return fd;
}

/* ---- a folder in memory, where there is one, until the process ends ---- */

static char fuzz_folder[64];

static inline void fuzz_run(const char *command)
{
    require(system(command) == 0);
}

static inline void fuzz_folder_remove(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", fuzz_folder);
    fuzz_run(command);
}

static inline void fuzz_folder_make(void)
{
    snprintf(fuzz_folder, sizeof fuzz_folder, "%s/rapt-fuzz-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    require(mkdtemp(fuzz_folder) != NULL);
    atexit(fuzz_folder_remove);
}

/* A file of it, written over. */
static inline void fuzz_put(const char *name, const void *bytes, size_t size)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", fuzz_folder, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    require(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
    close(fd);
}

#endif
