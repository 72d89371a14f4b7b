/* train/folder/leftovers.c: removes files that a killed run had no time to name or to remove. If the file system has files
 * without names, there are hardly any (base/file.c). */
#include "train/folder/leftovers.h"

#include "base/disk.h"
#include "base/process.h"
#include "base/unfinished.h"

#include <stdbool.h>
#include <string.h>

/* This process's own may still be written. */
static bool is_temporary(const char *name)
{
    long process;
    size_t size;
    return unfinished_is_file(name, &process, &size) && process != process_id();
}

/* The other names come from language models of version 0.1; outside of a run's folder they may be the user's. */
static bool is_leftover(const char *name, bool of_run)
{
    return is_temporary(name) || (of_run && (strcmp(name, "text.tokens.before") == 0 || strcmp(name, "text.txt.before") == 0));
}

/* Closes the folder, which may be NULL. */
static void remove_in(disk_folder *f, bool of_run)
{
    disk_entry info;
    for (const char *name; f && (name = disk_folder_next(f));)
        if (is_leftover(name, of_run) && disk_look_in(f, name, &info) && info.kind == DISK_FILE)
            disk_remove_in(f, name);
    disk_folder_close(f);
}

void leftovers_remove(const char *folder, bool of_run)
{
    disk_folder *f = disk_folder_open(folder);
    if (!f)
        return;
    remove_in(disk_folder_open_in(f, "checkpoints"), of_run);
    remove_in(disk_folder_open_in(f, "best"), of_run);
    remove_in(disk_folder_open_in(f, "untrained"), of_run);
    remove_in(f, of_run);
}
