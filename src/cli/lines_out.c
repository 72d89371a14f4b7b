/* cli/lines_out.c: writes without stdio, whose buffer may end in the middle of a line. stdio's buffer must be empty. */
#include "cli/lines_out.h"

#include "base/disk.h"

#include <errno.h>
#include <string.h>

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
    disk_entry info;
    if (part == 0 || !disk_look_open(DISK_OUT, &info) || info.kind != DISK_FILE || disk_position(DISK_OUT) != (int64_t)info.size)
        return;
    const int64_t whole = (int64_t)(info.size - part);
    if (disk_cut(DISK_OUT, whole))
        disk_seek(DISK_OUT, whole);
}

rapt_code lines_out(const char *text, size_t size, rapt_error *err)
{
    for (size_t done = 0; done < size;) {
        const ptrdiff_t put = disk_write(DISK_OUT, text + done, size - done);
        if (put >= 0) {
            done += (size_t)put;
            continue;
        }
        int reason = errno;
        lines_out_take_back(line_part(text, done));
        return rapt_fail(err, RAPT_ERR_IO, "%s", strerror(reason));
    }
    return RAPT_OK;
}
