/* base/windows/windows_memory.c: the limits of memory of Windows: RAM, the page file, and the job that the process is in. */
#include "base/memory.h"

#include <malloc.h>
#include <windows.h>

#include <psapi.h>

static PROCESS_MEMORY_COUNTERS windows_memory_now(void)
{
    PROCESS_MEMORY_COUNTERS counts = {.cb = sizeof counts};
    K32GetProcessMemoryInfo(GetCurrentProcess(), &counts, sizeof counts);
    return counts;
}

/* Bytes that the limits of a job leave, which count committed memory. */
static size_t windows_job_leaves(void)
{
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION job = {0};
    if (!QueryInformationJobObject(NULL, JobObjectExtendedLimitInformation, &job, sizeof job, NULL) ||
        !(job.BasicLimitInformation.LimitFlags & JOB_OBJECT_LIMIT_PROCESS_MEMORY))
        return SIZE_MAX;
    const size_t used = windows_memory_now().PagefileUsage;
    return job.ProcessMemoryLimit > used ? job.ProcessMemoryLimit - used : 0;
}

void memory_limits(const char *root, memory_limit limits[MEMORY_LIMITS])
{
    MEMORYSTATUSEX machine = {.dwLength = sizeof machine};
    const bool known = GlobalMemoryStatusEx(&machine);
    (void)root;
    limits[MEMORY_RAM] = (memory_limit){"this machine can give", false, known ? memory_bytes(machine.ullAvailPhys) : SIZE_MAX};
    limits[MEMORY_CGROUP] = (memory_limit){"the limit of the job object leaves", true, windows_job_leaves()};
    limits[MEMORY_ADDRESS_SPACE] = (memory_limit){"the address space leaves", true,
                                                  known ? memory_bytes(machine.ullAvailVirtual) : SIZE_MAX};
    limits[MEMORY_DATA] = (memory_limit){"RAM and page file leave", true,
                                         known ? memory_bytes(machine.ullAvailPageFile) : SIZE_MAX};
}

void memory_trim(void)
{
    _heapmin();
}

size_t memory_peak(void)
{
    return windows_memory_now().PeakWorkingSetSize;
}

void *memory_aligned(size_t alignment, size_t size)
{
    return _aligned_malloc(size, alignment);
}

void memory_aligned_free(void *memory)
{
    _aligned_free(memory);
}
