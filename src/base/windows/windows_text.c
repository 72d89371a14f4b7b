/* base/windows/windows_text.c: conversions. Windows' own functions for bytes take the code page of the user, which has few
 * characters. */
#include "base/windows/windows_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { LONG_PATH = 240 }; /* room for a name of a folder's file as old programs have it; with 248 a folder can't be made */

bool windows_fail(DWORD error)
{
    static const struct {
        DWORD error;
        int reason;
    } table[] = {
        {ERROR_FILE_NOT_FOUND, ENOENT},     {ERROR_PATH_NOT_FOUND, ENOENT},     {ERROR_INVALID_NAME, ENOENT},
        {ERROR_BAD_NETPATH, ENOENT},        {ERROR_BAD_PATHNAME, ENOENT},       {ERROR_DELETE_PENDING, ENOENT},
        {ERROR_INVALID_DRIVE, ENOENT},      {ERROR_ACCESS_DENIED, EACCES},      {ERROR_SHARING_VIOLATION, EBUSY},
        {ERROR_USER_MAPPED_FILE, EBUSY},    {ERROR_LOCK_VIOLATION, EWOULDBLOCK}, {ERROR_IO_PENDING, EWOULDBLOCK},
        {ERROR_FILE_EXISTS, EEXIST},        {ERROR_ALREADY_EXISTS, EEXIST},     {ERROR_DIR_NOT_EMPTY, ENOTEMPTY},
        {ERROR_DIRECTORY, ENOTDIR},         {ERROR_DISK_FULL, ENOSPC},          {ERROR_HANDLE_DISK_FULL, ENOSPC},
        {ERROR_NOT_ENOUGH_MEMORY, ENOMEM},  {ERROR_OUTOFMEMORY, ENOMEM},        {ERROR_COMMITMENT_LIMIT, ENOMEM},
        {ERROR_NO_SYSTEM_RESOURCES, ENOMEM}, {ERROR_FILENAME_EXCED_RANGE, ENAMETOOLONG}, {ERROR_TOO_MANY_OPEN_FILES, EMFILE},
        {ERROR_BROKEN_PIPE, EPIPE},         {ERROR_NO_DATA, EPIPE},             {ERROR_INVALID_HANDLE, EBADF},
        {ERROR_WRITE_PROTECT, EROFS},       {ERROR_NOT_SUPPORTED, EOPNOTSUPP},  {ERROR_INVALID_FUNCTION, EOPNOTSUPP},
        {ERROR_NO_UNICODE_TRANSLATION, EINVAL}, {ERROR_INVALID_PARAMETER, EINVAL}};
    errno = EIO;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].error == error)
            errno = table[i].reason;
    return false;
}

wchar_t *windows_wide(const char *text)
{
    const int size = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, -1, NULL, 0);
    if (size <= 0) {
        windows_fail(GetLastError());
        return NULL;
    }
    wchar_t *wide = malloc((size_t)size * sizeof *wide);
    if (wide)
        MultiByteToWideChar(CP_UTF8, 0, text, -1, wide, size);
    return wide;
}

char *windows_utf8(const wchar_t *text)
{
    const int size = WideCharToMultiByte(CP_UTF8, 0, text, -1, NULL, 0, NULL, NULL);
    char *utf8 = size > 0 ? malloc((size_t)size) : NULL;
    if (utf8)
        WideCharToMultiByte(CP_UTF8, 0, text, -1, utf8, size, NULL, NULL);
    return utf8;
}

static bool is_share(const wchar_t *path)
{
    return (path[0] == L'\\' || path[0] == L'/') && (path[1] == L'\\' || path[1] == L'/');
}

/* The absolute path with the prefix; frees `path`. */
static wchar_t *windows_long_path(wchar_t *path)
{
    static const wchar_t plain[] = L"\\\\?\\", share[] = L"\\\\?\\UNC\\";
    const DWORD size = GetFullPathNameW(path, 0, NULL, NULL);
    wchar_t *whole = size ? malloc((size + wcslen(share)) * sizeof *whole) : NULL;
    wchar_t *absolute = size ? malloc(size * sizeof *absolute) : NULL;
    if (whole && absolute && GetFullPathNameW(path, size, absolute, NULL) < size) {
        wcscpy(whole, is_share(absolute) ? share : plain);
        wcscat(whole, absolute + (is_share(absolute) ? 2 : 0));
    } else {
        free(whole);
        whole = NULL;
        errno = size ? ENOMEM : EINVAL;
    }
    free(absolute);
    free(path);
    return whole;
}

wchar_t *windows_path(const char *path)
{
    if (!*path) {
        errno = ENOENT;
        return NULL;
    }
    wchar_t *wide = windows_wide(path);
    const bool prefixed = wide && wcsncmp(wide, L"\\\\?\\", 4) == 0;
    return wide && !prefixed && GetFullPathNameW(wide, 0, NULL, NULL) >= LONG_PATH ? windows_long_path(wide) : wide;
}
