/* base/cut_files.h: the message if a file is truncated while the program has it mapped: token files, parameters, texts. */
#ifndef BASE_CUT_FILES_H
#define BASE_CUT_FILES_H

/* From now on the program ends with a message that names the file, and status 1. */
void cut_files_watch(void);

#endif
