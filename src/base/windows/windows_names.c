/* base/windows/windows_names.c: names of files and folders. */
#include "base/windows/windows_disk.h"

#include "base/disk.h"
#include "base/system_random.h"
#include "base/windows/windows_text.h"

#include <ctype.h>
#include <errno.h>
#include <io.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

/* A scanner or an indexer opens new files for a moment, without letting others rename them; and a reader that has mapped a file
 * keeps it from being replaced. */
enum { BUSY_TRIES = 200, BUSY_PAUSE = 10 /* ms */ };

typedef bool windows_call(const wchar_t *path, const void *more);

/* A call with a path. */
static bool with_path(const char *path, windows_call *call, const void *more)
{
    wchar_t *wide = windows_path(path);
    bool done = false;
    for (int i = 0; wide && !done && i < BUSY_TRIES; i++) {
        done = call(wide, more) || windows_fail(GetLastError());
        if (done || errno != EBUSY)
            break;
        Sleep(BUSY_PAUSE);
    }
    const int reason = errno;
    free(wide);
    errno = reason;
    return done;
}

/* ---- renaming --------------------------------------------------------------------------------------------------- */

/* Windows 10 replaces a file that somebody has open or mapped if it is asked in this way (since 1709, on NTFS). */
static bool rename_as_posix(const wchar_t *from, const wchar_t *to)
{
    const DWORD replace = 1, posix = 2; /* FILE_RENAME_FLAG_... */
    const FILE_INFO_BY_HANDLE_CLASS rename_ex = (FILE_INFO_BY_HANDLE_CLASS)22; /* FileRenameInfoEx */
    const size_t bytes = wcslen(to) * sizeof *to;
    FILE_RENAME_INFO *info = calloc(1, sizeof *info + bytes);
    HANDLE h = info ? CreateFileW(from, DELETE | SYNCHRONIZE, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                                  OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL)
                    : INVALID_HANDLE_VALUE;
    bool done = false;
    if (h != INVALID_HANDLE_VALUE) {
        *(DWORD *)(void *)info = replace | posix;
        info->FileNameLength = (DWORD)bytes;
        memcpy(info->FileName, to, bytes);
        done = SetFileInformationByHandle(h, rename_ex, info, (DWORD)(sizeof *info + bytes));
        CloseHandle(h);
    }
    free(info);
    return done;
}

/* A name in the folder of `path` that unfinished.h removes, and file.c does not take; the caller frees it. */
static wchar_t *name_aside(const wchar_t *path)
{
    const size_t capacity = wcslen(path) + 48;
    wchar_t *aside = malloc(capacity * sizeof *aside);
    size_t folder = wcslen(path);
    while (folder > 0 && path[folder - 1] != L'/' && path[folder - 1] != L'\\')
        folder--;
    if (aside)
        swprintf(aside, capacity, L"%.*ls.%ls.%lu.1000.tmp", (int)folder, path, path + folder, GetCurrentProcessId());
    return aside;
}

/* A file that somebody has mapped can be renamed but not replaced. Between the two steps the name leads nowhere. */
static bool rename_in_two_steps(const wchar_t *from, const wchar_t *to)
{
    wchar_t *aside = name_aside(to);
    bool done = aside && MoveFileExW(to, aside, MOVEFILE_WRITE_THROUGH);
    if (done && !MoveFileExW(from, to, MOVEFILE_WRITE_THROUGH)) {
        const DWORD why = GetLastError();
        MoveFileExW(aside, to, MOVEFILE_WRITE_THROUGH);
        SetLastError(why);
        done = false;
    } else if (done)
        DeleteFileW(aside); /* or who writes the file next does, once nobody has it mapped */
    free(aside);
    return done;
}

static bool rename_replacing(const wchar_t *from, const void *to)
{
    if (rename_as_posix(from, to) || MoveFileExW(from, to, MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH))
        return true;
    const DWORD why = GetLastError(), there = GetFileAttributesW(to);
    const bool in_use = (why == ERROR_ACCESS_DENIED || why == ERROR_USER_MAPPED_FILE) && there != INVALID_FILE_ATTRIBUTES &&
                        !(there & (FILE_ATTRIBUTE_DIRECTORY | FILE_ATTRIBUTE_READONLY));
    if (in_use && rename_in_two_steps(from, to))
        return true;
    SetLastError(in_use ? ERROR_SHARING_VIOLATION : why);
    return false;
}

static bool rename_to_new(const wchar_t *from, const void *to)
{
    return MoveFileExW(from, to, MOVEFILE_WRITE_THROUGH);
}

static bool windows_rename(const char *from, const char *to, windows_call *call)
{
    wchar_t *wide = windows_path(to);
    const bool done = wide && with_path(from, call, wide);
    const int reason = errno;
    free(wide);
    errno = reason;
    return done;
}

bool disk_rename(const char *from, const char *to)
{
    return windows_rename(from, to, rename_replacing);
}

bool disk_rename_new(const char *from, const char *to)
{
    return windows_rename(from, to, rename_to_new);
}

/* ---- making and removing ---------------------------------------------------------------------------------------- */

static bool make_one(const wchar_t *path, const void *more)
{
    (void)more;
    return CreateDirectoryW(path, NULL);
}

static bool delete_file(const wchar_t *path, const void *more)
{
    (void)more;
    return DeleteFileW(path);
}

static bool remove_empty(const wchar_t *path, const void *more)
{
    (void)more;
    return RemoveDirectoryW(path);
}

bool disk_make_folder(const char *path)
{
    return with_path(path, make_one, NULL);
}

bool disk_remove(const char *path)
{
    return with_path(path, delete_file, NULL);
}

bool disk_remove_folder(const char *path)
{
    return with_path(path, remove_empty, NULL);
}

static bool may(const char *path, int how)
{
    wchar_t *wide = windows_path(path);
    const bool may = wide && _waccess(wide, how) == 0;
    const int reason = errno;
    free(wide);
    errno = reason;
    return may;
}

bool disk_may_read(const char *path)
{
    return may(path, 4);
}

bool disk_may_write(const char *path)
{
    return may(path, 2);
}

/* ---- paths ------------------------------------------------------------------------------------------------------ */

bool disk_is_slash(char c)
{
    return c == '/' || c == '\\';
}

char *disk_last_slash(const char *path)
{
    const char *last = NULL;
    for (; *path; path++)
        if (disk_is_slash(*path))
            last = path;
    return (char *)last;
}

static bool has_drive(const char *path)
{
    return isalpha((unsigned char)path[0]) && path[1] == ':';
}

/* "C:/", "C:", "/", or "//machine/share/". */
size_t disk_root(const char *path)
{
    if (has_drive(path))
        return disk_is_slash(path[2]) ? 3 : 2;
    if (!disk_is_slash(path[0]))
        return 0;
    size_t size = 1;
    if (disk_is_slash(path[1]))
        for (int slashes = 0; path[size] && slashes < 3; size++)
            slashes += disk_is_slash(path[size]);
    return size;
}

bool disk_is_absolute(const char *path)
{
    return disk_root(path) > 0;
}

size_t disk_list_part(const char *list, const char *between)
{
    size_t size = strcspn(list, between);
    if (size == 1 && list[1] == ':' && has_drive(list) && disk_is_slash(list[2]))
        size = 2 + strcspn(list + 2, between);
    return size;
}

char *windows_final_path(HANDLE file)
{
    const DWORD size = GetFinalPathNameByHandleW(file, NULL, 0, FILE_NAME_NORMALIZED);
    wchar_t *wide = size ? malloc((size + 1) * sizeof *wide) : NULL;
    if (!wide || !GetFinalPathNameByHandleW(file, wide, size + 1, FILE_NAME_NORMALIZED)) {
        windows_fail(size && !wide ? ERROR_NOT_ENOUGH_MEMORY : GetLastError());
        free(wide);
        return NULL;
    }
    const bool share = wcsncmp(wide, L"\\\\?\\UNC\\", 8) == 0, prefixed = wcsncmp(wide, L"\\\\?\\", 4) == 0;
    wchar_t *begin = wide + (share ? 6 : prefixed ? 4 : 0); /* the C of UNC becomes the second slash of a share */
    *begin = share ? L'\\' : *begin;
    char *path = windows_utf8(begin);
    for (char *c = path; c && *c; c++)
        *c = *c == '\\' ? '/' : *c;
    free(wide);
    return path;
}

char *disk_real_path(const char *path)
{
    wchar_t *wide = windows_path(path);
    HANDLE h = wide ? CreateFileW(wide, 0, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL, OPEN_EXISTING,
                                  FILE_FLAG_BACKUP_SEMANTICS, NULL)
                    : INVALID_HANDLE_VALUE;
    if (wide && h == INVALID_HANDLE_VALUE)
        windows_fail(GetLastError());
    char *real = h != INVALID_HANDLE_VALUE ? windows_final_path(h) : NULL;
    const int reason = errno;
    if (h != INVALID_HANDLE_VALUE)
        CloseHandle(h);
    free(wide);
    errno = reason;
    return real;
}

/* ---- temporary names -------------------------------------------------------------------------------------------- */

bool windows_make_name(char *path)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    uint64_t random;
    if (!system_random(&random))
        return windows_fail(ERROR_NOT_SUPPORTED);
    for (size_t i = 0, end = strlen(path); i < 6; i++, random /= sizeof letters - 1)
        path[end - 1 - i] = letters[random % (sizeof letters - 1)];
    return true;
}

bool disk_make_temporary_folder(char *path)
{
    do {
        if (!windows_make_name(path))
            return false;
        if (disk_make_folder(path))
            return true;
    } while (errno == EEXIST);
    return false;
}

const char *disk_temporary_folder(void)
{
    static char folder[3 * MAX_PATH + 1]; /* the same text, whoever writes it */
    wchar_t wide[MAX_PATH + 1];
    const char *chosen = getenv("TMPDIR");
    if (chosen && *chosen)
        return chosen;
    if (!GetTempPathW(MAX_PATH + 1, wide) || !WideCharToMultiByte(CP_UTF8, 0, wide, -1, folder, sizeof folder, NULL, NULL))
        return ".";
    return folder;
}
