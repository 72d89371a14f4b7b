/* base/windows/windows_memory_stream.c: a temporary file, which the system keeps in its cache and removes when it is closed. */
#include "base/memory_stream.h"

#include <fcntl.h>
#include <io.h>
#include <stdlib.h>
#include <windows.h>

/* A file that nobody else has; INVALID_HANDLE_VALUE if there is no place for one. */
static HANDLE windows_temporary_file(void)
{
    wchar_t folder[MAX_PATH + 1], path[MAX_PATH + 1];
    if (!GetTempPathW(MAX_PATH, folder) || !GetTempFileNameW(folder, L"rap", 0, path))
        return INVALID_HANDLE_VALUE;
    return CreateFileW(path, GENERIC_READ | GENERIC_WRITE, 0, NULL, CREATE_ALWAYS,
                       FILE_ATTRIBUTE_TEMPORARY | FILE_FLAG_DELETE_ON_CLOSE, NULL);
}

FILE *memory_stream_open(memory_stream *m)
{
    *m = (memory_stream){0};
    const HANDLE file = windows_temporary_file();
    if (file == INVALID_HANDLE_VALUE)
        return NULL;
    const int fd = _open_osfhandle((intptr_t)file, _O_RDWR | _O_BINARY);
    if (fd < 0) {
        CloseHandle(file);
        return NULL;
    }
    m->to = _fdopen(fd, "w+b");
    if (!m->to)
        _close(fd);
    return m->to;
}

/* Reads the text back. */
static bool memory_stream_take(memory_stream *m)
{
    const bool ends = fflush(m->to) == 0 && !ferror(m->to) && _fseeki64(m->to, 0, SEEK_END) == 0;
    const long long size = ends ? _ftelli64(m->to) : -1;
    m->text = size >= 0 ? malloc((size_t)size + 1) : NULL;
    if (!m->text)
        return false;
    rewind(m->to);
    m->size = fread(m->text, 1, (size_t)size, m->to);
    m->text[m->size] = '\0';
    return m->size == (size_t)size;
}

bool memory_stream_close(memory_stream *m)
{
    const bool whole = m->to && memory_stream_take(m);
    if (m->to)
        fclose(m->to);
    m->to = NULL;
    if (!whole) {
        free(m->text);
        m->text = NULL;
        m->size = 0;
    }
    return whole;
}
