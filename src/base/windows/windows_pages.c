/* base/windows/windows_pages.c: sections and virtual memory. */
#include "base/pages.h"

#include "base/windows/windows_text.h"

#include <io.h>

size_t pages_size(void)
{
    SYSTEM_INFO info;
    GetSystemInfo(&info);
    return info.dwPageSize;
}

/* Windows keeps a file that is mapped from being replaced, in this process as in others, so only files that are too large to be
 * read are mapped: downloaded models, and the tokens of long texts. */
#define READ_WHOLE ((size_t)256 << 20) /* bytes */

static void *windows_read_whole(int file, size_t size)
{
    char *pages = pages_map(size);
    OVERLAPPED at = {0};
    DWORD got = 0;
    for (size_t done = 0; pages && done < size; done += got) {
        at.Offset = (DWORD)done;
        if (ReadFile((HANDLE)_get_osfhandle(file), pages + done, (DWORD)(size - done), &got, &at) && got > 0)
            continue;
        windows_fail(GetLastError());
        pages_unmap(pages, size);
        return NULL;
    }
    if (!pages)
        windows_fail(ERROR_NOT_ENOUGH_MEMORY);
    return pages;
}

void *pages_map_file(int file, size_t size)
{
    if (size <= READ_WHOLE)
        return windows_read_whole(file, size);
    HANDLE section = CreateFileMappingW((HANDLE)_get_osfhandle(file), NULL, PAGE_READONLY, 0, 0, NULL);
    void *pages = section ? MapViewOfFile(section, FILE_MAP_READ, 0, 0, size) : NULL;
    if (!pages)
        windows_fail(GetLastError());
    if (section)
        CloseHandle(section); /* the view keeps it */
    return pages;
}

void pages_unmap_file(void *pages, size_t size)
{
    if (size <= READ_WHOLE)
        pages_unmap(pages, size);
    else
        UnmapViewOfFile(pages);
}

/* Pages that are not locked leave the working set, and nothing else. */
void pages_forget(void *pages, size_t size)
{
    VirtualUnlock(pages, size);
}

void *pages_map(size_t size)
{
    return VirtualAlloc(NULL, size, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
}

void pages_unmap(void *pages, size_t size)
{
    (void)size;
    if (pages)
        VirtualFree(pages, 0, MEM_RELEASE);
}

void pages_drop(void *pages, size_t size)
{
    VirtualAlloc(pages, size, MEM_RESET, PAGE_READWRITE);
}

/* Windows gives large pages to privileged users only. */
void pages_want(void *pages, size_t size, bool huge)
{
    (void)pages;
    (void)size;
    (void)huge;
}
