/* base/file_regular.c: reads files in rapt's own formats: configurations, tokenizers, recipes. For readers of folders that
 * somebody else may have made. Not for texts, which may come through a pipe (file_read). */
#include "base/file.h"

#include "base/disk.h"

#include <errno.h>
#include <string.h>

/* Whether `fd` is a regular file; other kinds may never end, or never begin. */
static rapt_code check_regular(int fd, const char *path, rapt_error *err)
{
    disk_entry info;
    if (!disk_look_open(fd, &info))
        return rapt_fail(err, RAPT_ERR_IO, "cannot read %.380s: %s", path, strerror(errno));
    if (info.kind != DISK_FILE)
        return rapt_fail(err, RAPT_ERR_IO, "cannot read %.380s: %s", path,
                         info.kind == DISK_FOLDER ? strerror(EISDIR) : "not a regular file");
    return RAPT_OK;
}

rapt_code file_read_regular(const char *path, size_t max_bytes, char **data, size_t *size, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    int fd = disk_open(path, DISK_READ_NOW);
    *data = NULL;
    *size = 0;
    if (fd >= 0)
        code = check_regular(fd, path, err);
    if (!code)
        code = file_read_open(fd, path, max_bytes, data, size, err); /* its message says why the file cannot be opened */
    if (fd >= 0)
        disk_close(fd);
    return code;
}
