/* base/windows/windows_process.c: the process and its machine on Windows, which has no quotas of time that a process could ask
 * for. */
#include "base/process.h"

#include <string.h>
#include <windows.h>

long process_id(void)
{
    return (long)GetCurrentProcessId();
}

void process_program(char path[PROCESS_PATH])
{
    wchar_t wide[PROCESS_PATH];
    const DWORD length = GetModuleFileNameW(NULL, wide, PROCESS_PATH);
    if (length == 0 || length == PROCESS_PATH || !WideCharToMultiByte(CP_UTF8, 0, wide, -1, path, PROCESS_PATH, NULL, NULL))
        *path = '\0';
    for (char *at = path; (at = strchr(at, '\\')) != NULL;)
        *at = '/';
}

/* Only launchers of other systems give a descriptor. */
void process_tell(int descriptor, const char *text)
{
    (void)descriptor;
    (void)text;
}

void process_host(char *name, size_t size)
{
    char whole[MAX_COMPUTERNAME_LENGTH + 1] = "";
    DWORD length = sizeof whole;
    if (!GetComputerNameA(whole, &length))
        *whole = '\0';
    strncpy(name, whole, size);
    name[size - 1] = '\0';
}

void process_machine(char *id, size_t size)
{
    process_host(id, size);
}

/* The CPUs of this process's group of processors, of at most 64. */
static DWORD_PTR windows_cpus(void)
{
    DWORD_PTR own = 0, all = 0;
    return GetProcessAffinityMask(GetCurrentProcess(), &own, &all) && own ? own : 1;
}

int process_cpus(void)
{
    return __builtin_popcountll(windows_cpus());
}

void process_affinity(bool of_parent, uint8_t *bits, size_t size)
{
    const DWORD_PTR cpus = of_parent ? 0 : windows_cpus();
    for (size_t i = 0; i < size && i < sizeof cpus; i++)
        bits[i] |= (uint8_t)(cpus >> 8 * i);
}

int process_quota(const char *root)
{
    (void)root;
    return 0;
}

uint64_t process_group(void)
{
    return 0;
}
