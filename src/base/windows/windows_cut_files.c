/* base/windows/windows_cut_files.c: Windows lets nobody cut off a file that is mapped, so there is nothing to watch. */
#include "base/cut_files.h"

void cut_files_watch(void)
{
}
