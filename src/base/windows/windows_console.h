/* base/windows/windows_console.h: the console that outlives the program. For whoever in this folder ends the program. */
#ifndef BASE_WINDOWS_CONSOLE_H
#define BASE_WINDOWS_CONSOLE_H

/* Gives the console the code page that it had before terminal_start, if that has changed it. exit() does so by itself. */
void windows_console_restore(void);

#endif
