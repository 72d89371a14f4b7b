/* base/windows/windows_text.h: UTF-8 and what Windows takes: UTF-16, paths and error numbers. For the files of this folder. */
#ifndef BASE_WINDOWS_TEXT_H
#define BASE_WINDOWS_TEXT_H

#include <stdbool.h>
#include <wchar.h>

#include <windows.h>

/* The caller frees the result. NULL with errno set: out of memory, or not UTF-8 (EINVAL). A half of a character of UTF-16 becomes
 * U+FFFD. */
wchar_t *windows_wide(const char *text);
char *windows_utf8(const wchar_t *text);
/* windows_wide for a path; a long one is made absolute, and begins with \\?\, which takes the limit of 260 characters away. */
wchar_t *windows_path(const char *path);

/* Sets errno to what POSIX has for an error of Windows. Returns false. */
bool windows_fail(DWORD error);

#endif
