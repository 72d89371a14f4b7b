/* cli/lines_out.c: writes without stdio, whose buffer may end in the middle of a line. stdio's buffer must be empty. */
#define _GNU_SOURCE
#include "cli/lines_out.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static size_t line_part(const char *text, size_t size)
{
    size_t part = 0;
    while (part < size && text[size - part - 1] != '\n')
        part++;
    return part;
}

/* Takes back only at the end of a file: text that others have appended stays. */
static void lines_out_take_back(size_t part)
{
    struct stat info;
    if (part == 0 || fstat(STDOUT_FILENO, &info) != 0 || !S_ISREG(info.st_mode) ||
        lseek(STDOUT_FILENO, 0, SEEK_CUR) != info.st_size)
        return;
    if (ftruncate(STDOUT_FILENO, info.st_size - (off_t)part) == 0)
        lseek(STDOUT_FILENO, -(off_t)part, SEEK_CUR);
}

rapt_code lines_out(const char *text, size_t size, rapt_error *err)
{
    for (size_t done = 0; done < size;) {
        ssize_t put = write(STDOUT_FILENO, text + done, size - done);
        if (put > 0)
            done += (size_t)put;
        if (put >= 0 || errno == EINTR)
            continue;
        int reason = errno;
        lines_out_take_back(line_part(text, done));
        return rapt_fail(err, RAPT_ERR_IO, "%s", strerror(reason));
    }
    return RAPT_OK;
}
