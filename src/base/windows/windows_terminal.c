/* base/windows/windows_terminal.c: consoles of Windows. What is written to one is UTF-8 by its code page; what is read comes as
 * UTF-16, because a console loses other characters than ASCII when it converts what was typed to that code page. */
#include "base/terminal.h"

#include "base/min.h"
#include "base/windows/windows_console.h"

#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#include <shellapi.h>

#define END_OF_INPUT 0x1a /* Ctrl-Z */

/* ---- the start ---------------------------------------------------------------------------------------------------- */

static UINT code_page_before; /* 0: it has not been changed */
static bool escapes_refused;

void windows_console_restore(void)
{
    if (code_page_before != 0)
        SetConsoleOutputCP(code_page_before);
}

/* The last handler, for events that nobody has caught: Ctrl-C ends the program with the status that it has on other systems. */
static BOOL WINAPI end_by_key(DWORD event)
{
    if (event != CTRL_C_EVENT && event != CTRL_BREAK_EVENT)
        return FALSE;
    windows_console_restore();
    ExitProcess(128 + SIGINT);
}

/* A program that is killed or crashes leaves its code page to the console: Windows tells nobody in time. */
static void show_utf8(void)
{
    const UINT before = GetConsoleOutputCP();
    if (before != 0 && before != CP_UTF8 && SetConsoleOutputCP(CP_UTF8)) {
        code_page_before = before;
        atexit(windows_console_restore);
    }
}

/* Escapes move the cursor and set colors, which old consoles do only if they are asked to, and older ones never. */
static void understand_escapes(FILE *stream)
{
    const HANDLE handle = (HANDLE)_get_osfhandle(_fileno(stream));
    DWORD mode;
    if (GetConsoleMode(handle, &mode) &&
        !SetConsoleMode(handle, mode | ENABLE_PROCESSED_OUTPUT | ENABLE_VIRTUAL_TERMINAL_PROCESSING))
        escapes_refused = true;
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
    SetConsoleCtrlHandler(end_by_key, TRUE);
    understand_escapes(stdout);
    understand_escapes(stderr);
    if (!is_command_line(*argc, *argv)) /* another program calls main() */
        return;
    int count = 0;
    char **list = utf8_arguments(&count);
    if (!list)
        terminal_exit(1);
    *argc = count;
    *argv = list;
}

void terminal_exit(int status)
{
    windows_console_restore();
    _Exit(status);
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
    return escapes_refused ? "dumb" : kind ? kind : "windows";
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

enum { MOST = 4096 }; /* characters of UTF-16 that are read at once */

/* What was typed, as UTF-8, at most 3 * MOST bytes: a character of UTF-16 becomes at most three, and a pair of halves four.
 * Returns their count, 0 at the end, or -1. */
static int read_console(HANDLE console, char *to)
{
    static wchar_t kept; /* the last character of the call before, which wants the next one */
    wchar_t text[MOST];
    size_t count = 0;
    while (count == 0) {
        const size_t held = kept != 0;
        DWORD got = 0;
        text[0] = kept;
        SetLastError(ERROR_SUCCESS);
        if (!ReadConsoleW(console, text + held, (DWORD)(MOST - held), &got, NULL)) {
            errno = EIO;
            return -1;
        }
        if (got == 0 && GetLastError() == ERROR_OPERATION_ABORTED)
            continue; /* Ctrl-C: its handler runs in another thread, which ends the program or not; POSIX reads on, too */
        count = held + got;
        if (got == 0 || text[0] == END_OF_INPUT)
            return 0;
        kept = wants_next(text[count - 1]) ? text[--count] : 0;
    }
    count = join_lines(text, count);
    return WideCharToMultiByte(CP_UTF8, 0, text, (int)count, to, 3 * MOST, NULL, NULL);
}

ptrdiff_t terminal_read(int descriptor, void *to, size_t size)
{
    static char typed[3 * MOST]; /* of it, [used, count) has not been handed out */
    static size_t used, count;
    if (used == count) {
        const int got = read_console((HANDLE)_get_osfhandle(descriptor), typed);
        if (got <= 0)
            return got;
        used = 0;
        count = (size_t)got;
    }
    const size_t part = MIN(size, count - used);
    memcpy(to, typed + used, part);
    used += part;
    return (ptrdiff_t)part;
}
