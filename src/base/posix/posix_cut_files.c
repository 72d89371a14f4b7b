/* base/posix/posix_cut_files.c: the system answers a read behind the end of a mapped file with SIGBUS. The handler looks up the
 * file in /proc/self/maps, so that the program keeps no list of mapped files. For a program only: a library must not handle
 * signals. All that it calls is safe in a signal handler; quote_clean only computes. */
#define _GNU_SOURCE
#include "base/cut_files.h"

#include "base/quote.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

enum { PORTION = 512 };

typedef struct map_reader {
    int fd;
    size_t size, at;
    char portion[PORTION];
} map_reader;

/* The next byte of the map; -1 at the end. */
static int next_byte(map_reader *r)
{
    if (r->at == r->size) {
        ssize_t got = read(r->fd, r->portion, sizeof r->portion);
        r->size = got > 0 ? (size_t)got : 0;
        r->at = 0;
    }
    return r->at < r->size ? (unsigned char)r->portion[r->at++] : -1;
}

/* Reads hexadecimal digits and the byte after them. */
static uintptr_t take_hex(map_reader *r)
{
    static const char digits[] = "0123456789abcdef";
    uintptr_t number = 0;
    const char *digit;
    for (int c; (c = next_byte(r)) > 0 && (digit = memchr(digits, c, 16)) != NULL;)
        number = number * 16 + (uintptr_t)(digit - digits);
    return number;
}

/* "BEGIN-END rw-p OFFSET DEVICE INODE PATH": takes the path from its slash on, truncated to fit; "" if the line has none. False
 * at the end. */
static bool take_map_line(map_reader *r, uintptr_t *begin, uintptr_t *end, char path[PATH_MAX])
{
    size_t length = 0;
    int c;
    *begin = take_hex(r);
    *end = take_hex(r);
    while ((c = next_byte(r)) >= 0 && c != '\n')
        if ((c == '/' || length > 0) && length < PATH_MAX - 1)
            path[length++] = (char)c;
    path[length] = '\0';
    return c == '\n';
}

static bool find_file(uintptr_t address, char path[PATH_MAX])
{
    uintptr_t begin = 1, end = 0;
    map_reader r = {.fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC)};
    bool found = false;
    while (r.fd >= 0 && !found && take_map_line(&r, &begin, &end, path))
        found = address >= begin && address < end;
    if (r.fd >= 0)
        close(r.fd);
    return found && *path == '/';
}

static void cut_files_say(const char *text)
{
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        _exit(1);
}

/* A file that was written without a name and linked afterwards may still have no name here: "FOLDER/#INODE (deleted)". */
static void say_file(char *path)
{
    char *nameless = strstr(path, "/#");
    if (nameless && strstr(nameless, " (deleted)")) {
        *nameless = '\0';
        cut_files_say("a file in ");
    }
    cut_files_say(path);
}

static void on_cut(int number, siginfo_t *info, void *context)
{
    char path[PATH_MAX];
    (void)context;
    if (!find_file((uintptr_t)info->si_addr, path)) { /* the cause is something else: act as without a handler */
        signal(number, SIG_DFL);
        return;
    }
    quote_clean(path);
    cut_files_say("rapt: ");
    say_file(path);
    cut_files_say(" was cut off while it was read\n");
    _exit(1);
}

void cut_files_watch(void)
{
    struct sigaction action = {.sa_sigaction = on_cut, .sa_flags = SA_SIGINFO};
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, NULL);
}
