/* base/windows/windows_disk.c: open files. Every file is opened so that others may read, write, rename and remove it meanwhile,
 * as on POSIX; descriptors of the C library are kept for messages and callers only, whose text mode nothing here sees. */
#include "base/disk.h"

#include "base/chars.h"
#include "base/terminal.h"
#include "base/windows/windows_disk.h"
#include "base/windows/windows_text.h"

#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <stdlib.h>

#define MOST ((size_t)1 << 30) /* bytes of one call */
#define LOCK_AT 0x40000000     /* upper half of the place of a lock: behind all contents, which a lock would keep from readers */

static HANDLE handle_of(int file)
{
    return (HANDLE)_get_osfhandle(file);
}

/* ---- opening ---------------------------------------------------------------------------------------------------- */

typedef struct windows_way {
    DWORD access, disposition, flags;
    int mode; /* of the descriptor */
} windows_way;

static windows_way way_of(disk_way way)
{
    static const windows_way ways[] = {
        [DISK_READ] = {GENERIC_READ, OPEN_EXISTING, 0, _O_RDONLY},
        [DISK_READ_NOW] = {GENERIC_READ, OPEN_EXISTING, 0, _O_RDONLY},
        [DISK_NEW] = {GENERIC_WRITE, CREATE_NEW, 0, _O_WRONLY},
        [DISK_APPEND] = {FILE_APPEND_DATA | FILE_READ_ATTRIBUTES | SYNCHRONIZE, OPEN_ALWAYS, 0, _O_WRONLY | _O_APPEND},
        [DISK_LOCK] = {GENERIC_READ | GENERIC_WRITE, OPEN_ALWAYS, FILE_FLAG_OPEN_REPARSE_POINT, _O_RDWR},
        [DISK_LEFT] = {GENERIC_READ | GENERIC_WRITE, OPEN_EXISTING, FILE_FLAG_OPEN_REPARSE_POINT, _O_RDWR},
    };
    return ways[way];
}

/* Says of a folder that it is one, and of a file that is being removed that it is not there: Windows denies access to both. */
static DWORD why_denied(const wchar_t *path)
{
    typedef LONG status_fn(void);
    const LONG pending = (LONG)0xC0000056; /* STATUS_DELETE_PENDING */
    status_fn *status = (status_fn *)(void *)GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "RtlGetLastNtStatus");
    if (status && status() == pending)
        return ERROR_DELETE_PENDING;
    const DWORD attributes = GetFileAttributesW(path);
    return attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY) ? ERROR_DIRECTORY_NOT_SUPPORTED
                                                                                            : ERROR_ACCESS_DENIED;
}

static int windows_open(const wchar_t *path, windows_way w)
{
    HANDLE h = CreateFileW(path, w.access, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL, w.disposition,
                           FILE_ATTRIBUTE_NORMAL | w.flags, NULL);
    if (h == INVALID_HANDLE_VALUE) {
        const DWORD error = GetLastError(), why = error == ERROR_ACCESS_DENIED ? why_denied(path) : error;
        windows_fail(why);
        errno = why == ERROR_DIRECTORY_NOT_SUPPORTED ? EISDIR : errno;
        return -1;
    }
    const int file = _open_osfhandle((intptr_t)h, w.mode | _O_BINARY | _O_NOINHERIT);
    if (file < 0)
        CloseHandle(h);
    return file;
}

int disk_open(const char *path, disk_way way)
{
    wchar_t *wide = windows_path(path);
    const int file = wide ? windows_open(wide, way_of(way)) : -1;
    const int reason = errno;
    free(wide);
    errno = reason;
    return file;
}

void disk_close(int file)
{
    _close(file);
}

bool disk_close_written(int file)
{
    return _close(file) == 0;
}

/* ---- bytes ------------------------------------------------------------------------------------------------------ */

static ptrdiff_t windows_read(int file, void *to, size_t size, OVERLAPPED *at)
{
    DWORD got = 0;
    if (ReadFile(handle_of(file), to, (DWORD)(size < MOST ? size : MOST), &got, at))
        return got;
    const DWORD error = GetLastError();
    if (error == ERROR_BROKEN_PIPE || error == ERROR_HANDLE_EOF) /* the writer has ended; a place behind the end */
        return 0;
    windows_fail(error);
    return -1;
}

ptrdiff_t disk_read(int file, void *to, size_t size)
{
    return terminal_is(file) ? terminal_read(file, to, size) : windows_read(file, to, size, NULL);
}

ptrdiff_t disk_read_first(int file, void *to, size_t size)
{
    OVERLAPPED at = {0};
    return windows_read(file, to, size, &at);
}

ptrdiff_t disk_write(int file, const void *from, size_t size)
{
    DWORD put = 0;
    if (WriteFile(handle_of(file), from, (DWORD)(size < MOST ? size : MOST), &put, NULL))
        return put;
    windows_fail(GetLastError());
    return -1;
}

int64_t disk_position(int file)
{
    LARGE_INTEGER none = {0}, at;
    if (GetFileType(handle_of(file)) != FILE_TYPE_DISK || !SetFilePointerEx(handle_of(file), none, &at, FILE_CURRENT))
        return -1;
    return at.QuadPart;
}

bool disk_seek(int file, int64_t to)
{
    const LARGE_INTEGER at = {.QuadPart = to};
    return SetFilePointerEx(handle_of(file), at, NULL, FILE_BEGIN) || windows_fail(GetLastError());
}

bool disk_cut(int file, int64_t size)
{
    FILE_END_OF_FILE_INFO end = {.EndOfFile.QuadPart = size};
    return SetFileInformationByHandle(handle_of(file), FileEndOfFileInfo, &end, sizeof end) || windows_fail(GetLastError());
}

bool disk_sync(int file)
{
    return FlushFileBuffers(handle_of(file)) || windows_fail(GetLastError());
}

bool disk_sync_folder(const char *folder)
{
    (void)folder;
    return true;
}

bool disk_lock(int file)
{
    OVERLAPPED at = {.OffsetHigh = LOCK_AT};
    return LockFileEx(handle_of(file), LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at) ||
           windows_fail(GetLastError());
}

/* A console's lines come one by one. */
bool disk_has_arrived(int file)
{
    DWORD bytes = 0;
    if (GetFileType(handle_of(file)) == FILE_TYPE_PIPE)
        return !PeekNamedPipe(handle_of(file), NULL, 0, NULL, &bytes, NULL) || bytes > 0;
    return !terminal_is(file);
}

/* ---- what a file is --------------------------------------------------------------------------------------------- */

static bool windows_look(HANDLE h, disk_entry *e)
{
    BY_HANDLE_FILE_INFORMATION info;
    FILE_STANDARD_INFO standard = {0};
    FILE_ATTRIBUTE_TAG_INFO tag = {0};
    const DWORD type = GetFileType(h);
    *e = (disk_entry){.kind = type == FILE_TYPE_CHAR ? DISK_DEVICE : DISK_OTHER, .own = true, .named = true};
    if (type != FILE_TYPE_DISK)
        return type != FILE_TYPE_UNKNOWN || windows_fail(ERROR_INVALID_HANDLE);
    if (!GetFileInformationByHandle(h, &info)) { /* a standard stream that was redirected may tell its size only */
        LARGE_INTEGER size;
        const DWORD error = GetLastError();
        if (!GetFileSizeEx(h, &size))
            return windows_fail(error);
        e->kind = DISK_FILE;
        e->size = (uint64_t)size.QuadPart;
        return true;
    }
    GetFileInformationByHandleEx(h, FileStandardInfo, &standard, sizeof standard);
    GetFileInformationByHandleEx(h, FileAttributeTagInfo, &tag, sizeof tag); /* files of a cloud have tags, and are files */
    const bool link = tag.ReparseTag == IO_REPARSE_TAG_SYMLINK || tag.ReparseTag == IO_REPARSE_TAG_MOUNT_POINT;
    e->kind = link ? DISK_LINK : info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY ? DISK_FOLDER : DISK_FILE;
    e->named = info.nNumberOfLinks > 0 && !standard.DeletePending;
    e->size = (uint64_t)info.nFileSizeHigh << 32 | info.nFileSizeLow;
    e->device = info.dwVolumeSerialNumber;
    e->number = (uint64_t)info.nFileIndexHigh << 32 | info.nFileIndexLow;
    return true;
}

static bool windows_look_at(const char *path, DWORD flags, disk_entry *e)
{
    wchar_t *wide = windows_path(path);
    if (!wide)
        return false;
    HANDLE h = CreateFileW(wide, FILE_READ_ATTRIBUTES, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                           OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS | flags, NULL);
    const DWORD error = GetLastError();
    const bool seen = h != INVALID_HANDLE_VALUE ? windows_look(h, e)
                                                : windows_fail(error == ERROR_ACCESS_DENIED ? why_denied(wide) : error);
    const int reason = errno;
    if (h != INVALID_HANDLE_VALUE)
        CloseHandle(h);
    free(wide);
    errno = reason;
    return seen;
}

bool disk_look(const char *path, disk_entry *e)
{
    return windows_look_at(path, 0, e);
}

bool disk_look_link(const char *path, disk_entry *e)
{
    return windows_look_at(path, FILE_FLAG_OPEN_REPARSE_POINT, e);
}

bool disk_look_open(int file, disk_entry *e)
{
    return windows_look(handle_of(file), e);
}

/* ---- files without a name --------------------------------------------------------------------------------------- */

int disk_open_nameless(const char *folder)
{
    (void)folder;
    errno = EOPNOTSUPP;
    return -1;
}

bool disk_give_name(int file, const char *name)
{
    (void)file;
    (void)name;
    errno = EOPNOTSUPP;
    return false;
}

char *disk_open_path(int file)
{
    return windows_final_path(handle_of(file));
}

char *disk_path_for_others(const char *path)
{
    return chars_copy(path);
}

/* The file is removed when it is closed, however that happens. */
int disk_open_temporary(char *path)
{
    const windows_way way = {GENERIC_READ | GENERIC_WRITE | DELETE, CREATE_NEW, FILE_FLAG_DELETE_ON_CLOSE, _O_RDWR};
    int file = -1;
    do {
        if (!windows_make_name(path))
            return -1;
        wchar_t *wide = windows_path(path);
        file = wide ? windows_open(wide, way) : -1;
        const int reason = errno;
        free(wide);
        errno = reason;
    } while (file < 0 && errno == EEXIST);
    return file;
}
