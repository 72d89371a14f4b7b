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

void *pages_map_file(int file, size_t size)
{
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
    (void)size;
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
void pages_advise(void *pages, size_t size, bool huge)
{
    (void)pages;
    (void)size;
    (void)huge;
}
