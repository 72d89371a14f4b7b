/* base/windows/windows_terminal.c: consoles of Windows. What is written to one is UTF-8 by its code page; what is read comes as
 * UTF-16, because a console loses other characters than ASCII when it converts what was typed to that code page. */
#include "base/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#include <shellapi.h>

#define END_OF_INPUT 0x1a /* Ctrl-Z */

/* ---- the start ---------------------------------------------------------------------------------------------------- */

static UINT code_page_before; /* the console outlives the program */

static void restore_code_page(void)
{
    SetConsoleOutputCP(code_page_before);
}

static void show_utf8(void)
{
    code_page_before = GetConsoleOutputCP();
    if (code_page_before != 0 && code_page_before != CP_UTF8 && SetConsoleOutputCP(CP_UTF8))
        atexit(restore_code_page);
}

/* Escapes move the cursor and set colors, which old consoles do only if they are asked to. */
static void understand_escapes(FILE *stream)
{
    const HANDLE handle = (HANDLE)_get_osfhandle(_fileno(stream));
    DWORD mode;
    if (GetConsoleMode(handle, &mode))
        SetConsoleMode(handle, mode | ENABLE_PROCESSED_OUTPUT | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
}

/* The arguments, as UTF-8, in memory that stays until the end; NULL: out of memory. */
static char **utf8_arguments(int *count)
{
    wchar_t **wide = CommandLineToArgvW(GetCommandLineW(), count);
    char **list = wide ? calloc((size_t)*count + 1, sizeof *list) : NULL;
    for (int i = 0; list && i < *count; i++) {
        const int size = WideCharToMultiByte(CP_UTF8, 0, wide[i], -1, NULL, 0, NULL, NULL);
        list[i] = malloc((size_t)size + 1);
        if (!list[i])
            return NULL;
        WideCharToMultiByte(CP_UTF8, 0, wide[i], -1, list[i], size, NULL, NULL);
    }
    LocalFree(wide);
    return list;
}

/* The C library passes a copy of its list. */
static bool is_command_line(int argc, char **argv)
{
    bool same = argc == __argc;
    for (int i = 0; i < argc && same; i++)
        same = strcmp(argv[i], __argv[i]) == 0;
    return same;
}

void terminal_start(int *argc, char ***argv)
{
    for (int fd = 0; fd <= 2; fd++)
        _setmode(fd, _O_BINARY);
    show_utf8();
    understand_escapes(stdout);
    understand_escapes(stderr);
    if (!is_command_line(*argc, *argv)) /* another program calls main() */
        return;
    int count = 0;
    char **list = utf8_arguments(&count);
    if (!list)
        _Exit(1);
    *argc = count;
    *argv = list;
}

/* ---- the console -------------------------------------------------------------------------------------------------- */

bool terminal_is(int descriptor)
{
    DWORD mode;
    return GetConsoleMode((HANDLE)_get_osfhandle(descriptor), &mode);
}

size_t terminal_columns(FILE *stream)
{
    CONSOLE_SCREEN_BUFFER_INFO info;
    if (!GetConsoleScreenBufferInfo((HANDLE)_get_osfhandle(_fileno(stream)), &info))
        return 0;
    return (size_t)(info.srWindow.Right - info.srWindow.Left + 1);
}

const char *terminal_kind(void)
{
    const char *kind = getenv("TERM");
    return kind ? kind : "windows";
}

/* Whether a character means nothing without the next one: the first half of a pair, the first of the two that end a line. */
static bool wants_next(wchar_t c)
{
    return (c >= 0xd800 && c < 0xdc00) || c == L'\r';
}

/* Drops the carriage returns before line feeds, and returns the new count. */
static size_t join_lines(wchar_t *text, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (text[i] != L'\r' || i + 1 == count || text[i + 1] != L'\n')
            text[kept++] = text[i];
    return kept;
}

/* A character of UTF-16 becomes at most three bytes, and a pair of halves four. */
ptrdiff_t terminal_read(int descriptor, void *to, size_t size)
{
    enum { MOST = 4096 };
    static wchar_t kept; /* the last character of the call before, which wants the next one */
    wchar_t text[MOST];
    const HANDLE handle = (HANDLE)_get_osfhandle(descriptor);
    const size_t room = size / 3 < MOST ? size / 3 : MOST;
    size_t count;
    do {
        const size_t held = kept != 0;
        DWORD got = 0;
        text[0] = kept;
        SetLastError(ERROR_SUCCESS);
        const bool read = ReadConsoleW(handle, text + held, (DWORD)(room - held), &got, NULL);
        if (!read || (got == 0 && GetLastError() == ERROR_OPERATION_ABORTED)) { /* the latter: Ctrl-C */
            errno = read ? EINTR : EIO;
            return -1;
        }
        count = held + got;
        if (got == 0 || text[0] == END_OF_INPUT)
            return 0;
        kept = wants_next(text[count - 1]) ? text[--count] : 0;
    } while (count == 0);
    count = join_lines(text, count);
    return WideCharToMultiByte(CP_UTF8, 0, text, (int)count, to, (int)size, NULL, NULL);
}
