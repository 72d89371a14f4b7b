/* base/file_regular.c: reads files in rapt's own formats: configurations, tokenizers, recipes. For readers of folders that
 * somebody else may have made. Not for texts, which may come through a pipe (file_read). */
#define _GNU_SOURCE
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whether `fd` is a regular file; other kinds may never end, or never begin. */
static rapt_code check_regular(int fd, const char *path, rapt_error *err)
{
    struct stat info;
    if (fstat(fd, &info) != 0)
        return rapt_fail(err, RAPT_ERR_IO, "cannot read %.380s: %s", path, strerror(errno));
    if (!S_ISREG(info.st_mode))
        return rapt_fail(err, RAPT_ERR_IO, "cannot read %.380s: %s", path,
                         S_ISDIR(info.st_mode) ? strerror(EISDIR) : "not a regular file");
    return RAPT_OK;
}

rapt_code file_read_regular(const char *path, size_t max_bytes, char **data, size_t *size, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* without O_NONBLOCK, a pipe without a writer would hang */
    *data = NULL;
    *size = 0;
    if (fd >= 0)
        code = check_regular(fd, path, err);
    if (!code)
        code = file_read_open(fd, path, max_bytes, data, size, err); /* its message says why the file cannot be opened */
    if (fd >= 0)
        close(fd);
    return code;
}
